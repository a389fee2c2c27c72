internal import CryptoExtras
internal import Foundation

/// A hash of PBKDF2 (RFC 8018) with HMAC-SHA-256 or HMAC-SHA-512, as Django, passlib and Werkzeug write it.
struct PBKDF2Hash: HashMethod {
    private enum Digest: String {
        case sha256, sha512

        var function: KDF.Insecure.PBKDF2.HashFunction { self == .sha256 ? .sha256 : .sha512 }
    }

    private static let maximumRounds = 2_000_000

    private let digest: Digest
    private let rounds, length: Int
    let salt: [UInt8]

    var kind: String { "pbkdf2,\(digest.rawValue),\(rounds),\(length)" }

    init?(kind: Substring, salt: [UInt8]) {
        let parts = kind.split(separator: ",")
        guard parts.count == 4, parts[0] == "pbkdf2", let digest = Digest(rawValue: String(parts[1])),
            let rounds = Int(parts[2]), let length = Int(parts[3]), !salt.isEmpty, (16...64).contains(length),
            (1...Self.maximumRounds).contains(rounds)
        else { return nil }
        (self.digest, self.rounds, self.length, self.salt) = (digest, rounds, length, salt)
    }

    private init(digest: Digest, rounds: Int, length: Int, salt: [UInt8]) {
        (self.digest, self.rounds, self.length, self.salt) = (digest, rounds, length, salt)
    }

    static func read(_ text: String) throws(ImportedHashError) -> ImportedHash? {
        // Django: pbkdf2_sha256$ROUNDS$salt$base64
        if text.hasPrefix("pbkdf2_") {
            var pieces = HashText(text)
            let name = try pieces.next().dropFirst(7)
            let (rounds, salt) = (try pieces.number(), try pieces.next())
            return try hash(name, rounds, Array(salt.utf8), .base64(pieces.next()), pieces)
        }
        // passlib: $pbkdf2-sha256$ROUNDS$base64$base64, with dots in place of pluses
        if text.hasPrefix("$pbkdf2-") {
            var pieces = HashText(text.dropFirst())
            let name = try pieces.next().dropFirst(7)
            let (rounds, salt) = (try pieces.number(), try pieces.next())
            return try hash(name, rounds, .base64(salt, plus: "."), .base64(pieces.next(), plus: "."), pieces)
        }
        // Werkzeug: pbkdf2:sha256:ROUNDS$salt$hexadecimal
        if text.hasPrefix("pbkdf2:") {
            var pieces = HashText(text)
            var head = HashText(try pieces.next(), separator: ":")
            _ = try head.next()
            let (name, rounds) = (try head.next(), try head.number())
            try head.end()
            let salt = try pieces.next()
            return try hash(name, rounds, Array(salt.utf8), .hexadecimal(pieces.next()), pieces)
        }
        return nil
    }

    private static func hash(
        _ name: Substring,
        _ rounds: Int,
        _ salt: [UInt8],
        _ output: [UInt8],
        _ rest: HashText
    ) throws(ImportedHashError) -> ImportedHash {
        try rest.end()
        guard let digest = Digest(rawValue: String(name)) else { throw .unsupported }
        guard rounds > 0, !salt.isEmpty, (16...64).contains(output.count) else { throw .malformed }
        if rounds > maximumRounds { throw .tooCostly }
        return ImportedHash(
            PBKDF2Hash(digest: digest, rounds: rounds, length: output.count, salt: salt),
            output: output
        )
    }

    func output(of password: borrowing Secret) -> Secret? {
        let key = password.withBytes { bytes in
            try? KDF.Insecure.PBKDF2.deriveKey(
                from: bytes,
                salt: salt,
                using: digest.function,
                outputByteCount: length,
                unsafeUncheckedRounds: rounds
            )
        }
        return key.map(Secret.init)
    }
}
