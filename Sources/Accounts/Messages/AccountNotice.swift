/// A change of an account that its address is told of. The raw value is the template of the mail.
package enum AccountNotice: String, CaseIterable, Sendable {
    case passwordChanged = "password-changed"
    case addressChanged = "address-changed"
    case addressRestored = "address-restored"
    /// The account has gone back from this address to the previous one. The mail goes to this address.
    case addressWithdrawn = "address-withdrawn"
    case authenticatorAdded = "authenticator-added"
    case authenticatorRemoved = "authenticator-removed"
    case authenticatorRemovedByOperator = "authenticator-removed-by-operator"
    case recoveryCodesReplaced = "recovery-codes-replaced"
    case recoveryCodeUsed = "recovery-code-used"
    case usernameChanged = "username-changed"
    case applicationSignedOut = "application-signed-out"
    case accountErased = "account-erased"

    /// Whether the mail has its own text, because the reader cannot sign in to the account.
    var hasOwnText: Bool { self == .accountErased || self == .addressWithdrawn }
}
