package import Foundation

/// Where the proof of one address stands: a code is on its way, or the address is proved.
package struct Proof: Sendable {
    /// Counts the codes of this draft and field; each new one ends those before.
    package let generation: Int
    /// The digest of the address that it names, under the key of its time.
    let address: [UInt8]
    package let attempts: Int
    /// Wrong codes over all generations, which no new code resets.
    package let failures: Int
    package let sentAt: Date
    package let expiresAt: Date
    package var provedAt: Date?
    /// False once the draft names another address.
    package let namesCurrentAddress: Bool

    /// True where no other code will do: the sign-up has to begin again.
    package var isExhausted: Bool { failures >= Self.maximumFailures }

    package var isProved: Bool { namesCurrentAddress && provedAt != nil }

    /// True while the code that is on its way can still be given.
    package func isUsable(by code: CodeField, at now: Date) -> Bool {
        namesCurrentAddress && now < expiresAt && attempts < code.attempts && !isExhausted
    }

    /// How long until another mail may go to the same address; zero if it may now.
    package func wait(by code: CodeField, at now: Date) -> Duration {
        .seconds(max(0, code.resendAfter.seconds - Int(now.timeIntervalSince(sentAt).rounded(.down))))
    }

    /// Wrong codes after which the proof of a draft is exhausted for good (a limit below the 100 of NIST SP 800-63B §3.2.2).
    package static let maximumFailures = 25
}
