internal import Crypto
internal import Foundation

/// A confirmed authenticator app, as a draft stores it until the commit.
package struct Authenticator: StoredValue {
    /// The secret that the app and this service share.
    let secret: [UInt8]
    /// The time step of the accepted code. Codes of this step and of earlier steps must not be accepted again.
    let lastStep: Int
    let recoveryDigests: [[UInt8]]
    /// The recovery codes in plain text, until the person confirms on a page that they are saved. Empty if a client of
    /// the API set up the app, because its response contained the codes. The account stores only digests.
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
        guard recoveryDigests.count == digests.count else { return nil }
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

/// A code that a person can use once in place of a code of the authenticator app.
package struct RecoveryCode: Sendable {
    /// The number of recovery codes for one authenticator.
    static let count = 10
    private let letters: String

    /// Makes a new code of 120 random bits. With so many bits, a hash without a salt is safe to store: an attacker
    /// cannot try all codes (OWASP ASVS 6.5.2).
    init() {
        letters = [UInt8].random(count: 15).base32
    }

    /// Reads a code as people type it: in upper or lower case, with spaces and hyphens anywhere. Returns nil if the
    /// text does not have the form of a code.
    package init?(_ typed: String) {
        let letters = typed.lowercased().utf8.filter { ![UInt8(ascii: " "), UInt8(ascii: "-")].contains($0) }
        let isBase32 = letters.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
        guard letters.count == 24, isBase32 else { return nil }
        self.letters = String(decoding: letters, as: UTF8.self)
    }

    /// The code as people see it: six groups of four letters and digits, with hyphens between them.
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
