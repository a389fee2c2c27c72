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
        // Only a signed-in person causes this mail, so strangers cannot use up the mails of the address.
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

    /// The template of the mail in place of the code if no code can be correct: a notice to the owner of the account
    /// that has the address already. A recovery for an address without an account has mail that is never sent.
    var templateWithoutCode: String {
        switch self {
        case .signup: "already-registered"
        // A recovery needs an account with the address.
        case .recovery: "withheld"
        case .emailChange: "address-in-use"
        }
    }
}
