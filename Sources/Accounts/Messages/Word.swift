/// A fixed text of the pages. Templates refer to it by name, such as `{{words.next}}`. The raw value is its place
/// in the array in which ``Messages`` keeps the words.
package enum Word: Int, CaseIterable, Sendable {
    // Between steps.
    case begin, next, back, cancel, skip, change, keep, optional, language, steps
    // Fields. In `readText`, `{what}` is the label of a consent.
    case showPassword, hidePassword, confirmed, isSet, accepted, chosen, notAccepted, nothing, required, fillIn,
        readText, choose
    // Pictures.
    case yourPicture, dropPicture, removePicture, badPicture, cropTitle, cropText, zoom, usePicture
    // Codes. `{left}` is a number of seconds, or a time such as 9:59.
    case codeSentTo, codeSentIfKnown, sendAgain, sendAgainIn, codeGoodFor, codeIsOver, codeSent, codeUnderWay,
        mailNotFound, mailMissing, addressIsOther
    // The authenticator. `{left}` is a number of seconds.
    case openApp, secretKey, nextCodeIn, recoveryTitle, recoveryText, copy, copied, download, print, keptThem,
        keptIt
    // The end of a sign-up.
    case review, reviewText, missing, commit, done, doneText
    case giveUp, giveUpText, giveUpNow, keepGoing, goOn, goToSignup, keepOther
    case handOff, mailLink, handOffCode, handOffCodeText, noLink, handOffReplaces, handOffText, handedOff,
        handedOffText, goOnHere
    // Signing in.
    case signIn, signUp, noAccount, haveAccount, identifier, password, authenticator, keepSignedIn, secondFactor,
        secondFactorText, code, authenticatorCode, enterCode, useRecoveryCode, recoveryCode,
        recoveryCodeText, mailCodeTitle,
        mailCodeText, mailCode, enterMailedCode,
        mailedCode, enterMailedCodeText, ticketTitle, ticketInvalid, ticketText
    case signInAgain, signInOver, signInByMail, deviceKnown, newRecoveryCode, newRecoveryCodeText
    // Recovering an account. In flows other than a sign-up, `Word.inFlow(of:)` replaces the words about a sign-up, such
    // as `giveUp`. The names of most replacements begin with `recover` in a recovery, with `emailChange` in a change of
    // the address, or with `other` in either.
    case forgotPassword, recoverTitle, recoverText, yourAddress, codeOrRecoveryCode, secondFactorHelp, recoverReview,
        recoverCommit
    // Changing the address.
    case newAddress, emailChangeTitle, emailChangeText, emailChangeReview, emailChangeCommit, addressChanged, undoTitle,
        undoText, undoDoneTitle, undoDoneText, undoOver, address
    // These replace `undoText`, `undoDoneText` and `undoOver` if people cannot sign in with a password.
    case undoTextWithoutPassword, undoDoneTextWithoutPassword, undoOverWithoutPassword
    case recoverGiveUp, recoverGiveUpText, recoverGiveUpNow, recoverGaveUp, otherGiveUp, otherGiveUpText,
        otherGiveUpNow, otherOverdue,
        otherGaveUp, otherMissing, otherSuperseded, otherElsewhere,
        otherReplaces
    // The account. `{what}` is the title of the step that is changed.
    case changeOf, save, saved, export, authenticatorHelp, authenticatorIsSet, authenticatorIsRequired,
        newRecoveryCodes, newRecoveryCodesText, removeAuthenticator, removeAuthenticatorText, authenticatorRemoved,
        replaceAuthenticator, setUpAuthenticator, manageAuthenticator
    case consents, changeConsents, photoRemoved, version, isOn, isOff
    case account, profile, security, sessions, thisDevice, lastActive, signOut, signOutThere, signedOutThere,
        signOutOthers,
        signedOutOthers, signedOut, sessionEnded,
        changePassword, newPassword, newPasswordAgain, changeEndsSessions, addingEndsSessions, replacingEndsSessions,
        passwordChanged, eraseAccount, eraseText,
        eraseNow, accountGone, accountGoneText, confirmTitle, confirmText
    // Applications.
    case chooseAccount, signInAnother, signUpAnother, signOutTitle, signOutText
    // Errors.
    case signInFailed, checkAnswers, tryAgain, tryLater, otherSiteText, tooLargeText, tooOften, codesUsedUp, useTicket,
        overdue, gaveUp, replacesSignup, goneElsewhere,
        committedElsewhere,
        accountErased, noSignup, offline, notFoundText
    case startAgain, startOver, notYou
    // The description that search engines show below the title.
    case description
    // The finished step of the authenticator.
    case setUpAgain, removeIt, changeApp, appStops
    // The state of a page, a step or a field. `{length}` and `{limit}` are numbers of characters, `{right}` and
    // `{down}` percentages.
    case pleaseWait, errorInTitle, completed, lengthOf, tooLongBy, goodPassword, cropPlace, cannotCopy
    case changeResets
    // Setting up the authenticator.
    case authenticatorMeaning, authenticatorIsOptional, qrCode, copyKey
    // The links of the service at the foot of every page.
    case helpLink, termsLink, privacyLink

    /// The name in templates and in files of texts.
    package var name: String { Self.names[rawValue] }

    private static let names = allCases.map { "\($0)" }
}
