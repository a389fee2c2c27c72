package import Foundation

/// One unfinished sign-up, as it was at one revision.
package struct Draft: Sendable {
    package let id: ID<Draft>
    /// The flow that it began or was last changed with, such as `default@1`.
    package let flow: String
    package let language: Language
    /// The first step that is not met, or `review`, as it was found when the draft was last changed.
    let step: String
    package let revision: Int
    package let values: Values
    package let proofs: [FieldName: Proof]
    /// When it ends unless somebody goes on.
    package let expiresAt: Date
    let updatedAt: Date
    /// The database's clock when it was read.
    package let now: Date
    /// What it became, once it is committed.
    package let account: ID<Account>?
    let tokenHash: [UInt8]
    /// The values as they are stored. Each sealing is different, so equal bytes mean the same write.
    let sealed: [UInt8]
    /// Where it stands, if that was worked out when it was written.
    var progress: SignupProgress?
}
