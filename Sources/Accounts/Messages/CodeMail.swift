/// A mail with a code. The raw value is the template in the outbox.
package enum CodeMail: String, CaseIterable, Sendable {
    case signUp = "verification-code"
    case signIn = "sign-in-code"
    case recovery = "recovery-code"
    case emailChange = "address-code"

    /// The path of the page on which the ticket in the mail is exchanged for another code; nil if the mail has none.
    var ticketPath: String? {
        switch self {
        case .signUp: "\(FlowPurpose.signup.path)/ticket"
        case .signIn: "/session/ticket"
        case .recovery: "\(FlowPurpose.recovery.path)/ticket"
        // A ticket helps if strangers have used up the mails of the address. Only a signed-in person causes this mail.
        case .emailChange: nil
        }
    }
}

extension FlowPurpose {
    var codeMail: CodeMail {
        switch self {
        case .signup: .signUp
        case .recovery: .recovery
        case .emailChange: .emailChange
        }
    }

    /// The template of the mail that replaces the mail with the code if no code can be correct. For a sign-up and a
    /// change of the address, it is a notice to the owner of the account that has the address already. For a recovery,
    /// no account has the address, and the mail is never sent.
    var templateWithoutCode: String {
        switch self {
        case .signup: "already-registered"
        case .recovery: "withheld"
        case .emailChange: "address-in-use"
        }
    }
}
