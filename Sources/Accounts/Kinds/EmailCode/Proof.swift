package import Foundation

/// The state of the proof of one address: a code was sent, or the address is proved.
package struct Proof: Sendable {
    /// Counts the codes of this draft and field; each new code invalidates the earlier ones.
    package let generation: Int
    /// The digest of the address that the code was mailed to, with the key that was current then.
    let addressDigest: [UInt8]
    /// Guesses at the current code.
    package let attempts: Int
    /// Wrong codes over all generations; a new code does not reset them.
    package let failures: Int
    package let sentAt: Date
    package let expiresAt: Date
    package var provedAt: Date?
    /// The digest of the code that has proved the address, to recognise a repetition of it; nil until then.
    let acceptedCodeDigest: [UInt8]?
    /// False if the address in the draft has changed since the code was mailed.
    package let isForCurrentAddress: Bool

    /// True if no further code is possible and the sign-up must start again.
    package var isExhausted: Bool { failures >= Self.maximumFailures }

    package var isProved: Bool { isForCurrentAddress && provedAt != nil }

    /// True while the last code can still be submitted.
    package func isUsable(for code: CodeField, at now: Date) -> Bool {
        isForCurrentAddress && now < expiresAt && attempts < code.attempts && !isExhausted
    }

    /// The time until another mail may be sent to the same address; zero if it may be sent now.
    package func wait(for code: CodeField, at now: Date) -> Duration {
        .seconds(max(0, code.resendAfter.seconds - Int(now.timeIntervalSince(sentAt).rounded(.down))))
    }

    /// The number of wrong codes that permanently exhausts the proof of a draft (a limit below the 100 of NIST SP
    /// 800-63B §3.2.2).
    package static let maximumFailures = 25
}
