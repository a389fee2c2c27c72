package import Foundation

/// Where the proof of one address stands: a code is on its way, or the address is proved.
package struct Proof: Sendable {
    /// Counts the codes of this draft and field; each new one ends those before.
    package let generation: Int
    package let attempts: Int
    /// Wrong codes over all generations, which no new code resets.
    package let failures: Int
    package let sentAt: Date
    package let expiresAt: Date
    package let provedAt: Date?
    /// False once the draft names another address.
    package private(set) var namesCurrentAddress: Bool

    func naming(currentAddress: Bool) -> Proof {
        var proof = self
        proof.namesCurrentAddress = currentAddress
        return proof
    }

    package var isProved: Bool { namesCurrentAddress && provedAt != nil }

    /// True while the code that is on its way can still be given.
    package func isUsable(by code: CodeField, at now: Date) -> Bool {
        namesCurrentAddress && now < expiresAt && attempts < code.attempts && failures < Self.mostFailures
    }

    /// Wrong codes after which the proof of a draft is exhausted for good (design §5).
    package static let mostFailures = 25
}
