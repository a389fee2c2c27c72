package import Foundation

/// The state of the proof of one address: a code was sent, or the address is proved.
package struct Proof: Sendable {
    /// The number of codes that were made for this draft and field. Each new code invalidates the earlier ones.
    package let generation: Int
    /// The keyed digest of the address that the code was mailed to. Any key of the key ring (``KeyRing``) may have made
    /// the digest.
    let addressDigest: [UInt8]
    /// The number of guesses at the current code.
    package let attempts: Int
    /// The number of wrong guesses at all codes of this draft and field. A new code does not reset the number.
    package let failures: Int
    package let sentAt: Date
    package let expiresAt: Date
    package var provedAt: Date?
    /// The digest of the code that has proved the address, to recognise the code if it is submitted again. Nil until
    /// then, or if the row has no digest.
    let acceptedCodeDigest: [UInt8]?
    /// True if the draft has the address that the code was mailed to, or if a command without keys has read the draft
    /// and cannot decrypt its values.
    package let isForCurrentAddress: Bool

    /// True if the draft gets no further code, so that the person must start again.
    package var isExhausted: Bool { failures >= Self.maximumFailures }

    package var isProved: Bool { isForCurrentAddress && provedAt != nil }

    /// True while the latest code can still be submitted.
    package func isUsable(for code: CodeField, at now: Date) -> Bool {
        isForCurrentAddress && now < expiresAt && attempts < code.attempts && !isExhausted
    }

    /// The rest of ``CodeField/resendAfter``, in whole seconds, before another code may be mailed to the same address.
    /// Rate limits may forbid the mail even after that time.
    package func wait(for code: CodeField, at now: Date) -> Duration {
        .seconds(max(0, code.resendAfter.seconds - Int(now.timeIntervalSince(sentAt).rounded(.down))))
    }

    /// The number of wrong codes after which the draft gets no further code for the field (NIST SP 800-63B-4 §3.2.2
    /// permits up to 100).
    package static let maximumFailures = 25
}
