/// The texts in English.
struct English: Messages {
    func message(for refusal: Refusal) -> String {
        let min = refusal.number("min")
        let max = refusal.number("max")
        return switch refusal.code {
        case .required: "Fill this in."
        case .unknownField: "This step has no such field."
        case .wrongType: "This is not the kind of value that belongs here."
        case .tooShort: min.map { "Use at least \(counted($0, "character"))." } ?? "Use more characters."
        case .tooLong: max.map { "Use at most \(counted($0, "character"))." } ?? "Use fewer characters."
        case .badFormat: "Check how this is written."
        case .badCharacters: "Remove the characters that cannot be used here."
        case .common: "Many people use this password, or it has leaked, so it is easy to guess. Choose another."
        case .containsIdentifier: "Choose a password that is not your e-mail address, your username or our name."
        case .mismatch: "The two do not match."
        case .taken: "Somebody already uses this. Choose another."
        case .reserved: "This one is reserved. Choose another."
        case .notAccepted: "Accept this to continue."
        case .notAllowed:
            min.flatMap { min in max.map { "Use a whole number from \(min) to \($0)." } }
                ?? "This cannot be used here. Choose another."
        case .impossibleDate: "There is no such date."
        case .inFuture: "This date is in the future."
        case .tooYoung:
            min.map { "You need to be at least \(counted($0, "year")) old." } ?? "You are not old enough to sign up."
        case .tooOld: "This date is too long ago. Check the year."
        case .passwordWrong: "That password is not right."
        case .codeWrong: "That code is not right.\(attemptsLeft(refusal))"
        case .codeExpired: "This code has expired. Ask for a new one."
        case .codeExhausted where refusal.params["final"] == true:
            "There were too many wrong codes. Please begin the sign-up again."
        case .codeExhausted where refusal.params["new_secret"] == true:
            "There were too many wrong codes. Set the app up again with the new secret."
        case .codeExhausted: "That was one wrong code too many. Ask for a new one."
        case .tooLarge: "This picture is too large. Choose one of at most 5 MB and 40 megapixels."
        case .unsupportedImage: "This picture cannot be used. Choose a JPEG, PNG or WebP that does not move."
        }
    }

    func title(of problem: ProblemKind) -> String {
        switch problem {
        case .malformedRequest: "The request is malformed"
        case .noDraft: "There is no such sign-up"
        case .noSession: "You are not signed in"
        case .confirmationRequired: "Please confirm that it is you"
        case .factorRequired: "Every account needs this"
        case .signInFailed: "These details are not right"
        case .codeRequired: "A code from your mailbox is needed first"
        case .forbiddenOrigin: "The request comes from another site"
        case .unknownStep: "There is no such step"
        case .notFound: "There is nothing here"
        case .methodNotAllowed: "The method is not allowed here"
        case .notAcceptable: "No representation is acceptable"
        case .stepLocked: "An earlier step is missing"
        case .incomplete: "The sign-up is not complete"
        case .alreadyCommitted: "The sign-up is committed"
        case .identifierTaken: "The identifier belongs to another account"
        case .draftExpired: "The sign-up has ended"
        case .staleRevision: "The sign-up has changed"
        case .tooLarge: "The request is too large"
        case .uriTooLong: "The path is too long"
        case .headersTooLarge: "The header is too large"
        case .unsupportedMediaType: "The media type is not supported"
        case .validationFailed: "Some answers were refused"
        case .rateLimited: "Too many requests"
        case .busy: "The service is busy"
        case .unavailable: "The service is unavailable"
        case .internal: "Something went wrong"
        }
    }

    func text(of mail: CodeMail, _ code: String, minutes: Int, link: String?, serviceName: String) -> MailText {
        let (subject, request, assurance) =
            switch mail {
            case .signUp:
                (
                    "Your code for \(serviceName)", "To sign up for \(serviceName), enter this code:",
                    "Without the code nobody can sign up with your address."
                )
            case .signIn:
                (
                    "Your code to sign in to \(serviceName)", "To sign in to \(serviceName), enter this code:",
                    "Without the code nobody gets any further."
                )
            case .recovery:
                (
                    "Your code for a new password at \(serviceName)",
                    "To choose a new password for your account at \(serviceName), enter this code:",
                    "Without the code nobody can change your password."
                )
            case .emailChange:
                (
                    "Your code for your new address at \(serviceName)",
                    "To use this address for your account at \(serviceName), enter this code:",
                    "Without the code nobody can use your address."
                )
            }
        let ticket = link.map { "\n\nIf the code does not work, open this link to get a new one:\n\n\($0)" } ?? ""
        return MailText(
            subject: subject,
            text: """
                Hello,

                \(request)

                \(code)

                It expires in \(counted(minutes, "minute")). Please do not share it: we never ask for it.

                If you did not ask for it, there is nothing to do. \(assurance)\
                \(ticket)
                """
        )
    }

    func handoff(_ link: String, code: String, minutes: Int, serviceName: String) -> MailText {
        MailText(
            subject: "Continue your sign-up for \(serviceName)",
            text: """
                Hello,

                To go on with your sign-up for \(serviceName) on this device, open this link:

                \(link)

                It works once and expires in \(counted(minutes, "minute")). Please do not share it: the sign-up moves to the device that \
                opens it.

                If the page asks for a code, paste this one:

                \(code)

                If you did not request it, ignore this mail.
                """
        )
    }

    func signUp(serviceName: String) -> String { "Sign up for \(serviceName)" }

    func continueTo(_ application: String) -> String { "Continue to \(application)" }

    func text(_ date: CivilDate) -> String {
        let months = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November",
            "December",
        ]
        return "\(date.day) \(months[date.month - 1]) \(date.year)"
    }

    func text(_ word: Word) -> String {
        switch word {
        case .begin: "Begin"
        case .next: "Next"
        case .back: "Back"
        case .cancel: "Cancel"
        case .skip: "Skip this step"
        case .change: "Change"
        case .keep: "Keep it and go on"
        case .optional: "optional"
        case .language: "Language"
        case .steps: "Steps"
        case .showPassword: "Show the password"
        case .hidePassword: "Hide the password"
        case .confirmed: "Confirmed"
        case .isSet: "Set"
        case .accepted: "Accepted"
        case .notAccepted: "Not accepted"
        case .nothing: "Nothing"
        case .readText: "Read the text"
        case .choose: "Choose"
        case .yourPicture: "Your picture"
        case .dropPicture: "You can also drag a picture here, or paste one."
        case .removePicture: "Remove the picture"
        case .badPicture: message(for: Refusal("image", .unsupportedImage))
        case .cropTitle: "Choose a part"
        case .cropText:
            "Move the picture with the arrow keys, by dragging it, or by clicking its new centre."
        case .zoom: "Size"
        case .usePicture: "Use this"
        case .codeSentTo: "We have sent a code to"
        case .sendAgain: "Send a new code"
        case .sendAgainIn: "Send a new code in {left} s"
        case .codeGoodFor: "The code is good for {left}."
        case .codeIsOver: "The code has expired. Ask for a new one."
        case .openApp: "Open the app on this device"
        case .secretKey: "Secret key"
        case .nextCodeIn: "The app shows the next code in {left} s."
        case .recoveryTitle: "Recovery codes"
        case .recoveryText:
            "Without the app, each of these codes lets you in once. Keep them in a safe place: they are not shown again."
        case .copy: "Copy"
        case .copied: "Copied"
        case .download: "Download"
        case .print: "Print"
        case .keptThem: "I have kept them"
        case .review: "Check your answers"
        case .reviewText: "If everything is right, create your account."
        case .missing: "Something is still missing."
        case .commit: "Create account"
        case .done: "Your account is ready"
        case .doneText: "You have signed up, and can close this page."
        case .giveUp: "Give up this sign-up?"
        case .giveUpText: "Everything that you have typed will be erased."
        case .giveUpNow: "Give up"
        case .goOn: "Go on with it"
        case .handOff: "Continue on another device"
        case .handOffCode: "Code from the mail"
        case .handOffReplaces:
            "This browser has another unfinished sign-up. If you continue here, you cannot go back to it."
        case .handOffText: "We mail a link to your address. Open it on the other device to continue there."
        case .handedOff: "The link is on its way"
        case .handedOffText: "Open the mail on the other device. This one keeps the sign-up until you do."
        case .checkAnswers: "Please check what is marked."
        case .tryAgain: "It could not be done just now. Nothing that you saved is lost: please try again in a moment."
        case .tooOften: "This happened too often. Please try again later."
        case .useTicket:
            "Too many codes were sent or tried. Open the latest mail with a code: its link sends you another one."
        case .overdue: "The sign-up has expired and was erased. You can begin a new one."
        case .gaveUp: "The sign-up was given up, and all of it is erased."
        case .replacesSignup: "This browser has another sign-up. If you continue here, you cannot return to it."
        case .goneElsewhere: "The sign-up continues on another device."
        case .committedElsewhere: "An account with this address was created in another sign-up."
        case .accountErased: "The account of this sign-up was deleted."
        case .noSignup: "There is no sign-up in this browser. If you have just begun one, allow cookies for this site."
        case .offline: "There is no connection. What you have typed is still here: please try again."
        case .signIn: "Sign in"
        case .signUp: "Sign up"
        case .noAccount: "No account yet?"
        case .haveAccount: "Already have an account?"
        case .identifier: "E-mail address or username"
        case .password: "Password"
        case .authenticator: "Authenticator app"
        case .keepSignedIn: "Keep me signed in on this device"
        case .secondFactor: "One more step"
        case .secondFactorText: "Enter the six digits that your authenticator app shows."
        case .code: "Code"
        case .useRecoveryCode: "Use a recovery code"
        case .recoveryCode: "Recovery code"
        case .mailCodeTitle: "Is it really you?"
        case .mailCodeText:
            "At the moment, a password alone is not enough to sign in on this device. We mail you a code to make sure that it is you."
        case .mailCode: "Send me a code"
        case .enterMailedCode: "Check your mail"
        case .enterMailedCodeText:
            "If there is an account, a code is on its way to its address. If it does not work, use the link in the mail."
        case .ticketTitle: "Get a new code"
        case .ticketText: "We mail another code to the same address. It works even if too many codes were asked for."
        case .forgotPassword: "Forgot your password?"
        case .recoverTitle: "Choose a new password"
        case .recoverText: "We mail a code to the address of your account. With it you choose a new password."
        case .yourAddress: "Your e-mail address"
        case .codeOrRecoveryCode: "Code of the app, or a recovery code"
        case .secondFactorHelp: "Your account is protected by an authenticator app. Enter the six digits that it shows."
        case .recoverReview: "If everything is right, set the new password. All devices will be signed out."
        case .recoverCommit: "Set the new password"
        case .newAddress: "New e-mail address"
        case .emailChangeTitle: "Change your address"
        case .emailChangeText: "We mail a code to the new address. Once you have entered it, your account moves there."
        case .emailChangeReview:
            "If everything is right, change the address. All other devices will be signed out, and for a day you can neither change it again nor delete the account."
        case .emailChangeCommit: "Change the address"
        case .addressChanged: "Your address was changed. All other devices were signed out."
        case .undoTitle: "Bring your address back"
        case .undoText:
            "Your account gets its old address back. All devices are signed out, and you choose a new password."
        case .undoDoneTitle: "Your address is back"
        case .undoDoneText: "All devices are signed out. Choose a new password now."
        case .undoOver: "This link was used already, or is too old."
        case .address: "E-mail address"
        case .otherGiveUp: "Give up?"
        case .otherOverdue: "It took too long, and what you typed was erased. You can begin again."
        case .otherGaveUp: "You gave up. Nothing was changed."
        case .otherMissing: "Nothing is begun in this browser. If you have just begun, allow cookies for this site."
        case .otherSuperseded: "Your account has changed in the meantime. Begin again."
        case .otherElsewhere: "It goes on in another browser."
        case .otherReplaces: "This browser has begun before. If you continue here, you cannot return to that."
        case .save: "Save"
        case .saved: "Saved."
        case .export: "Download your data"
        case .authenticatorHelp:
            "Scan the code with the app, or type the secret into it. Then enter the six digits that it shows."
        case .authenticatorIsSet: "An authenticator app protects your account."
        case .authenticatorIsRequired: "Every account needs an authenticator app. Set one up to go on."
        case .newRecoveryCodes: "New recovery codes"
        case .removeAuthenticator: "Remove the app"
        case .replaceAuthenticator: "Replace the app"
        case .account: "Your account"
        case .profile: "Profile"
        case .consents: "What you agreed to"
        case .version: "version"
        case .security: "Security"
        case .sessions: "Where you are signed in"
        case .thisDevice: "this device"
        case .signOut: "Sign out"
        case .signOutThere: "Sign out there"
        case .chooseAccount: "Choose an account"
        case .signInAnother: "Sign in as someone else"
        case .signUpAnother: "Create another account"
        case .signOutTitle: "Do you want to sign out?"
        case .signOutText: "You will be signed out here and in the applications that you opened from this browser."
        case .signOutOthers: "Sign out everywhere else"
        case .signedOut: "You are signed out."
        case .changePassword: "Change your password"
        case .newPassword: "New password"
        case .newPasswordAgain: "New password again"
        case .changeEndsSessions: "All other devices will be signed out."
        case .passwordChanged: "Your password was changed. All other devices were signed out."
        case .eraseAccount: "Delete the account"
        case .eraseText: "Everything in your account will be deleted at once. Nobody can bring it back."
        case .accountGone: "Your account is deleted"
        case .accountGoneText:
            "Everything in it is gone, and all your devices are signed out. You can sign up again at any time."
        case .eraseNow: "Delete it now"
        case .confirmTitle: "Please confirm that it is you"
        case .confirmText: "Enter your password to go on."
        case .signInByMail: "Sign in with a code by mail"
        case .deviceKnown: "Thank you. Enter your password again to sign in."
        case .ticketUsed: "This link has expired, or was used already. Sign in again to get another code."
        case .newRecoveryCode: "Your new recovery code"
        case .newRecoveryCodeText:
            "It replaces the one that you have just used. Your other codes stay valid. Keep it in a safe place: it is not shown again."
        case .startAgain: "Begin again"
        case .setUpAgain: "Set up again"
        case .removeIt: "Remove the app"
        }
    }

    func resume(_ address: String, serviceName: String) -> PageText {
        PageText(
            title: "Continue your sign-up for \(serviceName)",
            text: """
                You can go on here with the sign-up of \(address). It then ends on the other device. Continue only if \
                this is your address and you began the sign-up yourself. If it has a password, you choose a new one.
                """,
            button: "Continue here"
        )
    }

    func linkExpired(serviceName: String) -> PageText {
        PageText(
            title: "Continue your sign-up for \(serviceName)",
            text: "This link was used already, or is too old. Ask for a new one on the device where you began.",
            button: nil
        )
    }

    func ticket(_ address: String, for purpose: FlowPurpose, serviceName: String) -> PageText {
        let use = purpose == .signup ? "begin a sign-up in this browser" : "choose a new password"
        return PageText(
            title: "Get a new code for \(serviceName)",
            text: "We mail a new code to \(address). With it you \(use).",
            button: "Send the code"
        )
    }

    func ticketExpired(serviceName: String) -> PageText {
        PageText(
            title: "Get a new code for \(serviceName)",
            text: "This link was used already, or is too old. Open the link in the last mail, or begin again.",
            button: nil
        )
    }

    func alreadyRegistered(serviceName: String, link: String) -> MailText {
        MailText(
            subject: "You already have an account at \(serviceName)",
            text: """
                Hello,

                Somebody tried to sign up for \(serviceName) with your e-mail address. It already has an account, so no \
                new one was made.

                If it was you, sign in with the account you have:

                \(link)

                If it was not you, there is nothing to do. Your account was neither seen nor changed.
                """
        )
    }

    func accountChanged(_ notice: AccountNotice, serviceName: String, link: String) -> MailText {
        let (subject, change) =
            switch notice {
            case .passwordChanged: ("Your password was changed", "The password of your account was changed.")
            case .addressChanged:
                ("Your new address", "The address of your account was changed. It is this one now.")
            case .addressRestored:
                ("Your old address is back", "The address of your account was changed back to the one before.")
            case .authenticatorAdded:
                ("An authenticator app was added", "An authenticator app was added to your account.")
            case .authenticatorRemoved:
                ("Your authenticator app was removed", "The authenticator app of your account was removed.")
            case .authenticatorRemovedByOperator:
                (
                    "Your app was removed at your request",
                    """
                    Somebody told \(serviceName) that you have lost your authenticator app and your recovery codes, so \
                    both were removed from your account. All devices were signed out. Sign in with a code that we \
                    mail you, and set up an app again.
                    """
                )
            case .recoveryCodesReplaced:
                ("Your recovery codes were replaced", "New recovery codes were made for your account.")
            case .recoveryCodeUsed:
                ("A recovery code was used", "A recovery code of your account was used in place of your app.")
            case .usernameChanged: ("Your username was changed", "The username of your account was changed.")
            case .applicationSignedOut:
                (
                    "An application was signed out",
                    """
                    A key that keeps you signed in at an application was used twice, so somebody may have copied it. \
                    That application was signed out.
                    """
                )
            case .accountErased: ("Your account was deleted", "Your account was deleted, with everything in it.")
            }
        let isErased = notice == .accountErased
        let others = notice.endsOtherSessions ? " All other devices were signed out." : ""
        let remedy =
            isErased
            ? "If it was not you, somebody else could sign in to it. Tell \(serviceName), and change the password wherever else you use it."
            : "If it was not you, somebody else can sign in to your account. Change your password now; if you cannot sign in any more, tell \(serviceName).\n\n\(link)"
        return MailText(
            subject: "\(subject): \(serviceName)",
            text: "Hello,\n\n\(change)\(others)\n\nIf it was you, there is nothing to do.\n\n\(remedy)"
        )
    }

    func addressLeft(serviceName: String, days: Int, link: String) -> MailText {
        MailText(
            subject: "Your address was changed: \(serviceName)",
            text: """
                Hello,

                Your account at \(serviceName) has another address now, so you get no more mail at this one.

                If it was you, there is nothing to do.

                If it was not you, somebody else has taken your account. Open this link to bring your address back. All \
                devices are then signed out, and you choose a new password. It works for \(counted(days, "day")):

                \(link)
                """
        )
    }

    func accountCreated(serviceName: String, address: String) -> MailText {
        MailText(
            subject: "Welcome to \(serviceName)",
            text: """
                Hello,

                Your account at \(serviceName) is ready. It belongs to this address:

                \(address)

                If it was not you who signed up, somebody else can read your mail. Change the password of your mailbox \
                now, then tell \(serviceName).
                """
        )
    }

    private func attemptsLeft(_ refusal: Refusal) -> String {
        refusal.number("attempts_left").map { " You have \(counted($0, "attempt")) left." } ?? ""
    }

    private func counted(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }
}
