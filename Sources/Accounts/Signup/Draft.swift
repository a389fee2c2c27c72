package import Foundation

/// One sign-up, or a draft of another flow such as a recovery, at one revision. The draft may already be committed.
///
/// A class, because a structure of this size would be copied into the frames of all functions that handle it.
package final class Draft: Sendable {
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
    package let expiresAt: Date
    /// The time when the draft expires at the latest. Only an operator can move it.
    let endsAt: Date
    let updatedAt: Date
    /// The time of the database when the draft was read or written.
    package let now: Date
    /// The account that the draft has created or changed; nil before the commit.
    package let account: ID<Account>?
    let tokenHash: [UInt8]
    /// The encrypted values as the database stores them. Each encryption gives other bytes, so equal bytes come from
    /// the same write. Empty if the commit has deleted all values.
    let sealed: [UInt8]
    /// The progress at this revision, if it was kept when this revision was written; nil if it must be computed.
    let progress: SignupProgress?
    /// Whether the account of the committed draft no longer exists.
    package let isAccountErased: Bool
    /// Whether the values are not known, because a command without keys has read the draft. Then `values` is empty, and
    /// each proof counts as a proof of the present address.
    package let isSealed: Bool

    init(
        id: ID<Draft>,
        flow: String,
        language: Language,
        step: String,
        revision: Int,
        values: Values,
        proofs: [FieldName: Proof],
        expiresAt: Date,
        endsAt: Date,
        updatedAt: Date,
        now: Date,
        account: ID<Account>?,
        tokenHash: [UInt8],
        sealed: [UInt8],
        progress: SignupProgress? = nil,
        isAccountErased: Bool = false,
        isSealed: Bool = false
    ) {
        self.id = id
        self.flow = flow
        self.language = language
        self.step = step
        self.revision = revision
        self.values = values
        self.proofs = proofs
        self.expiresAt = expiresAt
        self.endsAt = endsAt
        self.updatedAt = updatedAt
        self.now = now
        self.account = account
        self.tokenHash = tokenHash
        self.sealed = sealed
        self.progress = progress
        self.isAccountErased = isAccountErased
        self.isSealed = isSealed
    }

    /// Returns a new draft with the times that it has in the database.
    func stored(at now: Date, expiresAt: Date, endsAt: Date) -> Draft {
        Draft(
            id: id,
            flow: flow,
            language: language,
            step: step,
            revision: revision,
            values: values,
            proofs: proofs,
            expiresAt: expiresAt,
            endsAt: endsAt,
            updatedAt: now,
            now: now,
            account: account,
            tokenHash: tokenHash,
            sealed: sealed
        )
    }
}
