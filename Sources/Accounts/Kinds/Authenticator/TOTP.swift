internal import Crypto
package import Foundation

/// Time-based one-time passwords (RFC 6238) with the parameters of common authenticator apps: SHA-1, six digits, steps
/// of 30 seconds since 1970.
package enum TOTP {
    package static let digits = 6
    /// The length of a time step in seconds.
    package static let period = 30
    /// The length of a secret in bytes: 160 bits, as RFC 4226 §4 recommends.
    static let secretLength = 20

    /// The number of the time step that contains the instant.
    package static func timeStep(at instant: Date) -> Int {
        Int((instant.timeIntervalSince1970 / Double(period)).rounded(.down))
    }

    /// The code of one time step (RFC 4226 §5.3).
    package static func code(_ secret: [UInt8], step: Int, digits: Int = digits) -> String {
        var counter = UInt64(step).bigEndian
        let hash = withUnsafeBytes(of: &counter) { counter in
            Array(HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: secret)))
        }
        let offset = Int(hash[19] & 0xF)
        let number = hash[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        let text = String(number % Int(pow(10, Double(digits))))
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// The time step of the code: the current one, or the previous one to allow for a delay in typing (RFC 6238 §5.2).
    /// Returns nil for any other code.
    package static func timeStep(of code: String, using secret: [UInt8], at now: Date) -> Int? {
        let current = timeStep(at: now)
        return [current, current - 1].first { Self.code(secret, step: $0).utf8.equalsInConstantTime(code.utf8) }
    }
}

extension Sequence<UInt8> {
    /// The bytes in base32 (RFC 4648 §6), in lower case and without padding.
    var base32: String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
        var text = ""
        var (bits, count) = (0, 0)
        for byte in self {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[bits >> count & 31])
            }
            bits &= 1 << count - 1
        }
        if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
        return text
    }
}
