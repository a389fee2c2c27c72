/// The texts in English.
struct English: Messages {
    func title(of problem: ProblemKind) -> String {
        switch problem {
        case .malformedRequest: "The request is malformed"
        case .noDraft: "No sign-up in progress"
        case .noSession: "You're not signed in"
        case .confirmationRequired: "Confirm it's you"
        case .factorRequired: "This can't be removed"
        case .signInFailed: "Those sign-in details aren't right"
        case .codeRequired: "We need to check it's you"
        case .forbiddenOrigin: "This request came from another site"
        case .unknownStep: "This page doesn't exist"
        case .notFound: "Page not found"
        case .methodNotAllowed: "This can't be done here"
        case .notAcceptable: "This format isn't available"
        case .stepLocked: "Answer the earlier questions first"
        case .incomplete: "Some answers are missing"
        case .alreadyCommitted: "This is already complete"
        case .identifierTaken: "Another account already uses this"
        case .draftExpired: "This sign-up has ended"
        case .staleRevision: "This was changed in another window"
        case .tooLarge: "The request is too large"
        case .uriTooLong: "The address is too long"
        case .headersTooLarge: "The headers are too large"
        case .unsupportedMediaType: "This format isn't supported"
        case .validationFailed: "Some answers need another look"
        case .rateLimited: "Too many attempts"
        case .busy: "We're busy right now"
        case .unavailable: "We're temporarily unavailable"
        case .internal: "Something went wrong"
        }
    }

    func text(of mail: CodeMail, _ code: String, minutes: Int, link: String?, serviceName: String) -> MailText {
        let (subject, request, assurance) =
            switch mail {
            case .signUp:
                (
                    "Your \(serviceName) verification code", "Enter this code to sign up for \(serviceName):",
                    "No one can sign up with your address without this code."
                )
            case .signIn:
                (
                    "Your \(serviceName) sign-in code", "Enter this code to sign in to \(serviceName):",
                    "No one can sign in without this code."
                )
            case .recovery:
                (
                    "Reset your \(serviceName) password",
                    "Enter this code to choose a new password for your \(serviceName) account:",
                    "No one can change your password without this code."
                )
            case .emailChange:
                (
                    "Confirm your new email address for \(serviceName)",
                    "Enter this code to use this email address for your \(serviceName) account:",
                    "No one can use your address without this code."
                )
            }
        let ticket = link.map { "\n\nIf the code doesn't work, open this link to get a new one:\n\n\($0)" } ?? ""
        return MailText(
            subject: subject,
            text: """
                Hello,

                \(request)

                \(code)

                This code expires in \(counted(minutes, "minute")). Don't share it with anyone: we'll never ask you for it.

                If you didn't request this code, you can ignore this email. \(assurance)\
                \(ticket)
                """
        )
    }

    func handoff(_ link: String, code: String, minutes: Int, serviceName: String) -> MailText {
        MailText(
            subject: "Continue signing up for \(serviceName)",
            text: """
                Hello,

                Open this link to continue signing up for \(serviceName) on this device:

                \(link)

                The link works once and expires in \(counted(minutes, "minute")). Don't share it: your sign-up moves to the device \
                that opens it.

                If the page asks for a code, paste this one:

                \(code)

                If you didn't request this link, you can ignore this email.
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
        return "\(months[date.month - 1]) \(date.day), \(date.year)"
    }

    func text(_ word: Word) -> String {
        switch word {
        case .begin: "Get started"
        case .next: "Next"
        case .back: "Back"
        case .cancel: "Cancel"
        case .skip: "Skip for now"
        case .change: "Change"
        case .keep: "Keep current password"
        case .optional: "optional"
        case .language: "Language"
        case .steps: "Progress"
        case .showPassword: "Show password"
        case .hidePassword: "Hide password"
        case .confirmed: "Confirmed"
        case .isSet: "Added"
        case .accepted: "Accepted"
        case .notAccepted: "Not accepted"
        case .nothing: "Not provided"
        case .readText: "Read the details"
        case .choose: "Choose an option"
        case .yourPicture: "Your photo"
        case .dropPicture: "You can also drag or paste a photo here."
        case .removePicture: "Remove photo"
        case .badPicture: message(for: Refusal("image", .unsupportedImage))
        case .cropTitle: "Crop your photo"
        case .cropText: "Drag the photo, use the arrow keys, or click where the center should be."
        case .zoom: "Zoom"
        case .usePicture: "Use photo"
        case .codeSentTo: "We sent an email to"
        case .sendAgain: "Resend code"
        case .sendAgainIn: "Resend code in {left} s"
        case .codeGoodFor: "This code expires in {left}"
        case .codeIsOver: "This code has expired. Request a new one."
        case .codeSent: "We sent a new code."
        case .codeUnderWay: "An email is already on its way to this address. You can request another one in {left} s."
        case .addressIsOther:
            "The email address was changed in another window, so that code no longer works. This page is about the new address."
        case .openApp: "Open in authenticator app"
        case .secretKey: "Setup key"
        case .nextCodeIn: "A new code appears in {left} s"
        case .recoveryTitle: "Recovery codes"
        case .recoveryText:
            "If you lose your authenticator app, you can sign in with one of these codes. Each code works once. Save them somewhere safe: you won't see them again."
        case .copy: "Copy"
        case .copied: "Copied"
        case .download: "Download"
        case .print: "Print"
        case .keptThem: "I've saved these codes"
        case .review: "Check your answers"
        case .reviewText: "Does everything look right? Then create your account."
        case .missing: "Some answers are still missing."
        case .commit: "Create account"
        case .done: "Your account is ready"
        case .doneText: "Welcome! You can start right away, or close this page."
        case .giveUp: "Cancel sign-up?"
        case .giveUpText: "Everything you've entered will be deleted."
        case .giveUpNow: "Cancel sign-up"
        case .keepGoing: "Keep going"
        case .goOn: "Continue"
        case .goToSignup: "Go to sign-up"
        case .handOff: "Continue on another device"
        case .handOffCode: "Code from the email"
        case .handOffReplaces:
            "You have another unfinished sign-up in this browser. If you continue here, you can't go back to it."
        case .handOffText: "We'll email you a link. Open it on the other device to continue there."
        case .handedOff: "Check your email"
        case .handedOffText: "Open the link in the email on your other device. You can keep going here until then."
        case .checkAnswers: "Please check the highlighted answers."
        case .tryAgain: "Something went wrong. Your answers are saved; please try again."
        case .tooOften: "Too many attempts. Try again later."
        case .useTicket:
            "Too many codes were requested or tried. Open the latest email with a code: its link sends you a new one."
        case .overdue: "Your sign-up has expired and everything you entered was deleted. You can start a new one."
        case .gaveUp: "Sign-up cancelled. Everything you entered has been deleted."
        case .replacesSignup:
            "You have another sign-up in this browser. If you continue here, you can't go back to it."
        case .goneElsewhere: "You're continuing this sign-up on another device."
        case .committedElsewhere: "An account with this email address has been created in the meantime."
        case .accountErased: "The account from this sign-up has been deleted."
        case .noSignup:
            "We couldn't find your sign-up in this browser. If you just started one, allow cookies for this site."
        case .offline: "You're offline. Your answers are still here; try again once you're connected."
        case .signIn: "Sign in"
        case .signUp: "Sign up"
        case .noAccount: "Don't have an account?"
        case .haveAccount: "Already have an account?"
        case .identifier: "Email address or username"
        case .password: "Password"
        case .authenticator: "Authenticator app"
        case .keepSignedIn: "Keep me signed in on this device"
        case .secondFactor: "Enter your code"
        case .secondFactorText: "Enter the 6-digit code from your authenticator app."
        case .code: "Code"
        case .useRecoveryCode: "Use a recovery code"
        case .recoveryCode: "Recovery code"
        case .mailCodeTitle: "Is it really you?"
        case .mailCodeText:
            "To keep your account safe, we need more than your password on this device. We'll email you a code to make sure it's you."
        case .mailCode: "Email me a code"
        case .enterMailedCode: "Check your email"
        case .enterMailedCodeText:
            "If you have an account with us, we've sent a code to its email address. If the code doesn't work, use the link in the email."
        case .forgotPassword: "Forgot your password?"
        case .recoverTitle: "Reset your password"
        case .recoverText: "We'll email you a code, and then you can choose a new password."
        case .yourAddress: "What's your email address?"
        case .codeOrRecoveryCode: "Code from the app, or a recovery code"
        case .secondFactorHelp: "Your account is protected by an authenticator app. Enter the 6-digit code it shows."
        case .recoverReview: "Ready? Your password will change, and all your devices will be signed out."
        case .recoverCommit: "Reset password"
        case .newAddress: "New email address"
        case .emailChangeTitle: "Change your email address"
        case .emailChangeText: "We'll send a code to your new email address. Enter it to make the change."
        case .emailChangeReview:
            "Ready? All your other devices will be signed out. For one day, you can't change your email address again or delete your account."
        case .emailChangeCommit: "Change email address"
        case .addressChanged: "Your email address has been changed. All your other devices were signed out."
        case .undoTitle: "Restore your email address"
        case .undoText:
            "Your account will go back to its previous email address. All your devices will be signed out, and you'll choose a new password."
        case .undoDoneTitle: "Your email address is restored"
        case .undoDoneText: "All your devices have been signed out. Choose a new password now."
        case .undoOver: "This link has expired or was already used."
        case .address: "Email address"
        case .otherGiveUp: "Cancel this change?"
        case .otherGiveUpNow: "Cancel change"
        case .otherOverdue: "This took too long, so what you entered was deleted. You can start again."
        case .otherGaveUp: "Cancelled. Nothing has changed."
        case .otherMissing:
            "We couldn't find what you started in this browser. If you just started, allow cookies for this site."
        case .otherSuperseded: "Your account has changed in the meantime. Please start again."
        case .otherElsewhere: "You're continuing this in another browser."
        case .otherReplaces:
            "You've already started this in this browser. If you continue here, you can't go back to it."
        case .save: "Save"
        case .saved: "Your changes are saved."
        case .export: "Download your data"
        case .authenticatorHelp:
            "Scan the QR code with your authenticator app, or enter the setup key. Then enter the 6-digit code it shows."
        case .authenticatorIsSet: "Authenticator app is on"
        case .newRecoveryCodes: "Get new recovery codes"
        case .removeAuthenticator: "Remove app"
        case .replaceAuthenticator: "Replace app"
        case .authenticatorIsRequired: "Every account needs an authenticator app. Set one up to continue."
        case .account: "Your account"
        case .profile: "Profile"
        case .consents: "What you've agreed to"
        case .version: "version"
        case .security: "Security"
        case .isOn: "On"
        case .isOff: "Off"
        case .sessions: "Where you're signed in"
        case .thisDevice: "this device"
        case .signOut: "Sign out"
        case .signOutThere: "Sign out there"
        case .chooseAccount: "Choose an account"
        case .signInAnother: "Use another account"
        case .signUpAnother: "Create another account"
        case .signOutTitle: "Sign out?"
        case .signOutText: "You'll be signed out here and in the apps you opened from this browser."
        case .signOutOthers: "Sign out of all other devices"
        case .signedOut: "You're signed out."
        case .changePassword: "Change your password"
        case .newPassword: "New password"
        case .newPasswordAgain: "Confirm new password"
        case .changeEndsSessions: "All your other devices will be signed out."
        case .passwordChanged: "Your password has been changed. All your other devices were signed out."
        case .eraseAccount: "Delete account"
        case .eraseText: "Everything in your account will be deleted right away. This can't be undone."
        case .accountGone: "Your account has been deleted"
        case .accountGoneText:
            "All your data is gone, and all your devices are signed out. You can sign up again at any time."
        case .eraseNow: "Delete account"
        case .confirmTitle: "Confirm it's you"
        case .confirmText: "Enter your password to continue."
        case .signInByMail: "Sign in with an emailed code"
        case .deviceKnown: "Thanks! Enter your password again to sign in."
        case .ticketUsed: "This link has expired or was already used. Sign in again to get a new code."
        case .newRecoveryCode: "Your new recovery code"
        case .newRecoveryCodeText:
            "It replaces the one you just used; your other codes still work. Save it somewhere safe: you won't see it again."
        case .startAgain: "Create another account"
        case .notYou: "Not you?"
        case .startOver: "Start over"
        case .description: "Create your account in a few steps."
        case .ticketTitle: "Get a new code"
        case .ticketText: "We'll send a new code to the same email address. It works even after too many attempts."
        case .setUpAgain: "Set up again"
        case .removeIt: "Remove app"
        case .pleaseWait: "Please wait…"
        case .errorInTitle: "Error:"
        case .completed: "completed"
        case .lengthOf: "{length} / {limit} characters"
        case .goodPassword: "Good password"
        case .cropPlace: "Center: {right} % from the left, {down} % from the top"
        case .cannotCopy: "Copying isn't possible here. Select the codes and copy them."
        case .authenticatorMeaning:
            "An authenticator app on your phone or computer shows a new code every 30 seconds. Signing in then takes your password and a code."
        case .authenticatorIsOptional: "This is optional: you can also set it up later."
        case .qrCode: "QR code for your authenticator app"
        case .copyKey: "Copy setup key"
        case .helpLink: "Help"
        case .termsLink: "Terms of service"
        case .privacyLink: "Privacy policy"
        }
    }

    func resume(_ address: String, serviceName: String) -> PageText {
        PageText(
            title: "Continue signing up for \(serviceName)",
            text: """
                You can continue signing up with \(address) here. You won't be able to continue on the other device. Only \
                continue if this is your address and you started this sign-up yourself. If you've already chosen a \
                password, you'll choose a new one.
                """,
            button: "Continue here"
        )
    }

    func linkExpired(serviceName: String) -> PageText {
        PageText(
            title: "Continue signing up for \(serviceName)",
            text: "This link has expired or was already used. Request a new one on the device where you started.",
            button: nil
        )
    }

    func ticket(_ address: String, for purpose: FlowPurpose, serviceName: String) -> PageText {
        let use = purpose == .signup ? "sign up in this browser" : "choose a new password"
        return PageText(
            title: "Get a new code for \(serviceName)",
            text: "We'll email a new code to \(address), so you can \(use).",
            button: "Send code"
        )
    }

    func ticketExpired(serviceName: String) -> PageText {
        PageText(
            title: "Get a new code for \(serviceName)",
            text: "This link has expired or was already used. Open the link in the latest email, or start again.",
            button: nil
        )
    }

    func alreadyRegistered(serviceName: String, link: String) -> MailText {
        MailText(
            subject: "You already have an account at \(serviceName)",
            text: """
                Hello,

                Someone tried to sign up for \(serviceName) with your email address. You already have an account, so we \
                didn't create a new one.

                If this was you, sign in to your account:

                \(link)

                If this wasn't you, you can ignore this email. No one has seen or changed your account.
                """
        )
    }

    func accountChanged(_ notice: AccountNotice, serviceName: String, link: String) -> MailText {
        let (subject, change) =
            switch notice {
            case .passwordChanged: ("Your password was changed", "The password for your account was changed.")
            case .addressChanged:
                ("Your new email address", "The email address of your account was changed to this one.")
            case .addressRestored:
                ("Your email address was restored", "Your account has its previous email address again.")
            case .authenticatorAdded:
                ("An authenticator app was added", "An authenticator app was added to your account.")
            case .authenticatorRemoved:
                ("Your authenticator app was removed", "The authenticator app was removed from your account.")
            case .authenticatorRemovedByOperator:
                (
                    "Your authenticator app was removed on request",
                    """
                    Someone told \(serviceName) that you lost your authenticator app and your recovery codes, so we \
                    removed both from your account. All your devices were signed out. Sign in with a code that we \
                    email you, then set up an authenticator app again.
                    """
                )
            case .recoveryCodesReplaced:
                (
                    "You have new recovery codes",
                    "New recovery codes were created for your account. The old ones no longer work."
                )
            case .recoveryCodeUsed:
                ("A recovery code was used", "One of your recovery codes was used instead of your authenticator app.")
            case .usernameChanged: ("Your username was changed", "The username of your account was changed.")
            case .applicationSignedOut:
                (
                    "An app was signed out",
                    """
                    A key that keeps you signed in to an app was used twice, so someone may have copied it. We signed \
                    you out of that app.
                    """
                )
            case .accountErased:
                ("Your account was deleted", "Your account and everything in it were deleted.")
            }
        let isErased = notice == .accountErased
        let others = notice.endsOtherSessions ? " All your other devices were signed out." : ""
        let remedy =
            isErased
            ? "If this wasn't you, someone else was able to sign in. Contact \(serviceName), and change that password wherever else you use it."
            : "If this wasn't you, someone else may be able to sign in to your account. Change your password now. If you can't sign in, contact \(serviceName).\n\n\(link)"
        return MailText(
            subject: "\(subject): \(serviceName)",
            text: "Hello,\n\n\(change)\(others)\n\nIf this was you, there's nothing you need to do.\n\n\(remedy)"
        )
    }

    func addressLeft(serviceName: String, days: Int, link: String) -> MailText {
        MailText(
            subject: "Your email address was changed: \(serviceName)",
            text: """
                Hello,

                The email address of your \(serviceName) account was changed, so we won't send any more mail to this one.

                If this was you, there's nothing you need to do.

                If this wasn't you, someone else has taken over your account. Open this link to restore your email \
                address. All devices will be signed out, and you'll choose a new password. The link works for \
                \(counted(days, "day")):

                \(link)
                """
        )
    }

    func accountCreated(serviceName: String, address: String) -> MailText {
        MailText(
            subject: "Welcome to \(serviceName)",
            text: """
                Hello,

                Your \(serviceName) account is ready. It belongs to this email address:

                \(address)

                If you didn't sign up, someone else can read your email. Change the password of your email account now, \
                then contact \(serviceName).
                """
        )
    }

    func counted(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }
}
