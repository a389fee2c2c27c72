/// An event of an account about which the service mails a notice. The raw value is the template of the mail in the
/// outbox, and the key of its texts.
package enum AccountNotice: String, CaseIterable, Sendable {
    case passwordChanged = "password-changed"
    case addressChanged = "address-changed"
    case addressRestored = "address-restored"
    /// The previous address of the account was restored. The mail goes to the address that was removed.
    case addressWithdrawn = "address-withdrawn"
    case authenticatorAdded = "authenticator-added"
    case authenticatorReplaced = "authenticator-replaced"
    case authenticatorRemoved = "authenticator-removed"
    case authenticatorRemovedByOperator = "authenticator-removed-by-operator"
    case recoveryCodesReplaced = "recovery-codes-replaced"
    case recoveryCodeUsed = "recovery-code-used"
    case usernameChanged = "username-changed"
    case applicationSignedOut = "application-signed-out"
    case accountErased = "account-erased"

    /// Whether the mail has a text of its own. The other notices share the text in `mails.notice`, and differ in the
    /// subject and in what they say about the change.
    var hasOwnText: Bool {
        switch self {
        case .addressChanged, .addressRestored, .addressWithdrawn, .authenticatorRemovedByOperator,
            .applicationSignedOut, .accountErased:
            true
        default: false
        }
    }

    /// Whether the mail has two texts of its own: one mentions the password, and one is for a service in which
    /// people cannot sign in with a password, or cannot reset it.
    var namesPassword: Bool { self == .addressChanged || self == .addressRestored || self == .accountErased }

    /// Whether the account asks for a code of a new app after the change. If somebody else has made it, the owner cannot
    /// get into the account, not even by a recovery, and can only contact the service.
    var locksOut: Bool { self == .authenticatorAdded || self == .authenticatorReplaced }

    /// Whether a new password is not enough if somebody else has made the change. The mail then also says what to do
    /// about the change itself.
    var hasAdvice: Bool {
        switch self {
        case .authenticatorRemoved, .recoveryCodesReplaced, .recoveryCodeUsed, .usernameChanged: true
        default: false
        }
    }

    /// Whether the mail has a link to the recovery or, if that is of no help, to the page of the account.
    var hasLink: Bool { !hasOwnText && !locksOut || self == .addressChanged || self == .addressRestored }
}
