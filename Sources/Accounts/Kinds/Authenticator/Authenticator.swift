internal import Crypto
internal import Foundation

/// A confirmed authenticator app, as a draft stores it until the commit.
package struct Authenticator: StoredValue {
    let secret: [UInt8]
    /// The time step of the accepted code. Codes of this step and of earlier steps must not be accepted again.
    let lastStep: Int
    let recoveryDigests: [[UInt8]]
    /// The recovery codes themselves, until the person confirms to have saved them; empty for a program, which gets
    /// them once. The account never has them.
    var unsavedCodes: [RecoveryCode] = []

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
        if case .array(let codes)? = json["codes"] {
            unsavedCodes = codes.compactMap(\.string).compactMap { .init($0) }
        }
    }

    package var json: JSON {
        let members: [JSON.Member] = [
            .init("secret", .base64(secret)), .init("step", .integer(lastStep)),
            .init("recovery", .array(recoveryDigests.map { .base64($0) })),
        ]
        let codes = unsavedCodes.map { JSON.string($0.text) }
        return .object(codes.isEmpty ? members : members + [.init("codes", .array(codes))])
    }
}

/// A code that replaces one code of the authenticator, once.
package struct RecoveryCode: Sendable {
    /// The number of recovery codes for one authenticator.
    static let count = 10
    private let letters: String

    /// A new code of 120 random bits, so a plain hash of it cannot be searched (OWASP ASVS 6.5.2).
    init() {
        var random = SystemRandomNumberGenerator()
        letters = (0..<15).map { _ in UInt8.random(in: 0...255, using: &random) }.base32
    }

    /// Reads a code as people type it: in any case, with any spaces and hyphens. Nil if it cannot be a code.
    package init?(_ typed: String) {
        let letters = typed.lowercased().utf8.filter { ![UInt8(ascii: " "), UInt8(ascii: "-")].contains($0) }
        let isBase32 = letters.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
        guard letters.count == 24, isBase32 else { return nil }
        self.letters = String(decoding: letters, as: UTF8.self)
    }

    /// The code as six groups of four letters and digits.
    package var text: String {
        let letters = Array(letters)
        return stride(from: 0, to: letters.count, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// SHA-256 of the letters and digits without the separators.
    var digest: [UInt8] { Array(SHA256.hash(data: Data(letters.utf8))) }
}

extension JSON {
    fileprivate static func base64(_ bytes: [UInt8]) -> JSON { .string(Data(bytes).base64EncodedString()) }
    fileprivate var base64: [UInt8]? { string.flatMap { Data(base64Encoded: $0) }.map(Array.init) }
}
