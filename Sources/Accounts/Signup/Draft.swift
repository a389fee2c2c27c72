package import Foundation

/// One sign-up, or a draft of another flow such as a recovery, at one revision. The draft may already be committed.
package struct Draft: Sendable {
    package let id: ID<Draft>
    /// The id of the flow under which the draft was started or its answers last changed, such as `default@1`.
    package let flow: String
    package let language: Language
    /// The next step at the time of the latest change; `review` if every step is complete or skipped, `committed` after
    /// the commit.
    package let step: String
    package let revision: Int
    package let values: Values
    package let proofs: [FieldName: Proof]
    /// The time when the draft expires if it is not changed before.
    package internal(set) var expiresAt: Date
    /// The time when the draft expires at the latest. Only an operator can move it.
    var endsAt: Date
    var updatedAt: Date
    /// The time of the database when the draft was read or written.
    package internal(set) var now: Date
    /// The account that the draft has created or changed; nil before the commit.
    package let account: ID<Account>?
    let tokenHash: [UInt8]
    /// The encrypted values as the database stores them. Each encryption gives other bytes, so equal bytes come from
    /// the same write. Empty if the commit has deleted all values.
    let sealed: [UInt8]
    /// The progress at this revision, if it was kept when this revision was written; nil if it must be computed.
    var progress: SignupProgress?
    /// Whether the account of the committed draft no longer exists.
    package var isAccountErased = false
    /// Whether the values are not known, because a command without keys has read the draft. Then `values` is empty, and
    /// each proof counts as a proof of the present address.
    package var isSealed = false
}
