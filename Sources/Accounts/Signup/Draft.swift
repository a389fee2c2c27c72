package import Foundation

/// One unfinished sign-up, at one revision.
package struct Draft: Sendable {
    package let id: ID<Draft>
    /// The flow with which it was started or last changed, such as `default@1`.
    package let flow: String
    package let language: Language
    /// The first incomplete step, or `review`, at the time of the last change.
    let step: String
    package let revision: Int
    package let values: Values
    package let proofs: [FieldName: Proof]
    /// The time when the draft expires without further activity.
    package internal(set) var expiresAt: Date
    var updatedAt: Date
    /// The time of the database when the draft was read.
    package internal(set) var now: Date
    /// The account that the draft has become; nil before the commit.
    package let account: ID<Account>?
    let tokenHash: [UInt8]
    /// The encrypted values as stored. Each encryption gives other bytes, so equal bytes come from the same write.
    let sealed: [UInt8]
    /// The progress, if it was computed for the write.
    var progress: SignupProgress?
    /// True if the draft has become an account that no longer exists.
    package var isAccountErased = false
}
