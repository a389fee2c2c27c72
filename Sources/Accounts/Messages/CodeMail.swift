/// A mail with a code of several digits. The raw value is the template of the mail in the outbox, and the key of its
/// texts.
package enum CodeMail: String, CaseIterable, Sendable {
    case signUp = "verification-code"
    case signIn = "sign-in-code"
    case recovery = "recovery-code"
    case emailChange = "address-code"

    /// The path of the page on which the ticket in the mail (``Ticket``) is exchanged for another code; nil if the mail
    /// has no ticket.
    var ticketPath: String? {
        switch self {
        case .signUp: "\(FlowPurpose.signup.path)/ticket"
        case .signIn: "/session/ticket"
        case .recovery: "\(FlowPurpose.recovery.path)/ticket"
        // A ticket helps if requests of strangers have used up the limit of mails to the address. Only a signed-in
        // person causes this mail.
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

    /// The template of the mail that replaces the mail with the code if no code can be correct. In a sign-up and in a
    /// change of the address, the address belongs to an account or is reserved for one, and the mail is a notice to its
    /// owner. In a recovery, no account or only a disabled one has the address, and the mail is never sent.
    var templateWithoutCode: String {
        switch self {
        case .signup: "already-registered"
        case .recovery: "withheld"
        case .emailChange: "address-in-use"
        }
    }
}
