internal import Crypto
internal import Foundation

/// An authenticator app that has shown a right code, as a draft keeps it until the commit.
package struct Authenticator: StoredValue {
    let secret: [UInt8]
    /// The step of the code that was accepted; nobody may accept it again, nor an earlier one.
    let lastStep: Int
    let recoveryDigests: [[UInt8]]

    init(secret: [UInt8], lastStep: Int, recoveryCodes: [RecoveryCode]) {
        self.secret = secret
        self.lastStep = lastStep
        recoveryDigests = recoveryCodes.map(\.digest)
    }

    package init?(json: JSON) {
        guard let secret = json["secret"]?.base64, secret.count == TOTP.secretLength,
            case .integer(let step)? = json["step"], case .array(let digests)? = json["recovery"]
        else { return nil }
        self.secret = secret
        lastStep = step
        recoveryDigests = digests.compactMap(\.base64)
    }

    package var json: JSON {
        [
            "secret": .base64(secret), "step": .integer(lastStep),
            "recovery": .array(recoveryDigests.map { .base64($0) }),
        ]
    }
}

/// What its holder can show once instead of a code of the authenticator.
package struct RecoveryCode: Sendable {
    /// How many are given with an authenticator.
    static let count = 10
    private let letters: String

    /// A new one, of 120 random bits: a plain hash of it cannot be searched (OWASP ASVS 6.5.2).
    init() {
        var random = SystemRandomNumberGenerator()
        letters = (0..<15).map { _ in UInt8.random(in: 0...255, using: &random) }.base32
    }

    /// Six groups of four letters and digits.
    package var text: String {
        let letters = Array(letters)
        return stride(from: 0, to: letters.count, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// SHA-256 over the letters without the marks between them.
    var digest: [UInt8] { Array(SHA256.hash(data: Data(letters.utf8))) }
}

extension JSON {
    fileprivate static func base64(_ bytes: [UInt8]) -> JSON { .string(Data(bytes).base64EncodedString()) }
    fileprivate var base64: [UInt8]? { string.flatMap { Data(base64Encoded: $0) }.map(Array.init) }
}
