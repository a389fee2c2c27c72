internal import CryptoExtras
internal import Foundation

/// A hash of scrypt (RFC 7914), as Django, passlib and Werkzeug write it.
struct ScryptHash: HashMethod {
    /// The parameters N, r and p of RFC 7914.
    private struct Cost {
        let rounds, blockSize, parallelism: Int

        /// Throws unless the numbers are valid, within the bounds, and supported by BoringSSL.
        func check() throws(ImportedHashError) {
            let numbers = [rounds, blockSize, parallelism]
            guard rounds > 1, rounds & (rounds - 1) == 0, numbers.allSatisfy({ $0 > 0 }) else { throw .malformed }
            // Limits each number first, so that no product overflows.
            guard numbers.allSatisfy({ $0 <= 1 << 20 }) else { throw .tooCostly }
            let (block, maximum) = (128 * blockSize, ImportedHash.maximumMemory)
            guard block * rounds <= maximum, block * parallelism <= maximum / 64,
                block * rounds * parallelism <= 4 * maximum
            else { throw .tooCostly }
            // BoringSSL needs memory for `rounds + parallelism + 1` blocks. swift-crypto permits `rounds * parallelism`
            // blocks and one memory page of at least 4096 bytes. With a block size of 1, RFC 7914 requires fewer than
            // 2¹⁶ rounds.
            guard block * (rounds + parallelism + 1) <= block * rounds * parallelism + 4096,
                blockSize > 1 || rounds < 1 << 16
            else { throw .unsupported }
        }
    }

    private let cost: Cost
    private let length: Int
    let salt: [UInt8]

    var kind: String { "scrypt,\(cost.rounds),\(cost.blockSize),\(cost.parallelism),\(length)" }

    init?(kind: Substring, salt: [UInt8]) {
        let parts = kind.split(separator: ",")
        let numbers = parts.dropFirst().compactMap { Int($0) }
        guard parts.first == "scrypt", parts.count == 5, numbers.count == 4 else { return nil }
        let cost = Cost(rounds: numbers[0], blockSize: numbers[1], parallelism: numbers[2])
        guard (try? cost.check()) != nil, !salt.isEmpty, (16...64).contains(numbers[3]) else { return nil }
        self.init(cost: cost, length: numbers[3], salt: salt)
    }

    private init(cost: Cost, length: Int, salt: [UInt8]) {
        (self.cost, self.length, self.salt) = (cost, length, salt)
    }

    static func read(_ text: String) throws(ImportedHashError) -> ImportedHash? {
        // Django: scrypt$N$salt$r$p$base64
        if text.hasPrefix("scrypt$") {
            var pieces = HashText(text)
            _ = try pieces.next()
            let (rounds, salt) = (try pieces.number(), try pieces.next())
            let cost = Cost(rounds: rounds, blockSize: try pieces.number(), parallelism: try pieces.number())
            return try hash(cost, Array(salt.utf8), .base64(pieces.next()), pieces)
        }
        // passlib: $scrypt$ln=16,r=8,p=1$base64$base64
        if text.hasPrefix("$scrypt$") {
            var pieces = HashText(text.dropFirst())
            _ = try pieces.next()
            var costs = HashText(try pieces.next(), separator: ",")
            let exponent = try costs.number(after: "ln=")
            if exponent > 30 { throw .tooCostly }
            let cost = Cost(
                rounds: 1 << exponent,
                blockSize: try costs.number(after: "r="),
                parallelism: try costs.number(after: "p=")
            )
            try costs.end()
            let salt = try pieces.next()
            return try hash(cost, .base64(salt), .base64(pieces.next()), pieces)
        }
        // Werkzeug: scrypt:N:r:p$salt$hexadecimal
        if text.hasPrefix("scrypt:") {
            var pieces = HashText(text)
            var head = HashText(try pieces.next(), separator: ":")
            _ = try head.next()
            let cost = Cost(
                rounds: try head.number(),
                blockSize: try head.number(),
                parallelism: try head.number()
            )
            try head.end()
            let salt = try pieces.next()
            return try hash(cost, Array(salt.utf8), .hexadecimal(pieces.next()), pieces)
        }
        return nil
    }

    private static func hash(
        _ cost: Cost,
        _ salt: [UInt8],
        _ output: [UInt8],
        _ rest: HashText
    ) throws(ImportedHashError) -> ImportedHash {
        try rest.end()
        guard !salt.isEmpty, (16...64).contains(output.count) else { throw .malformed }
        try cost.check()
        return ImportedHash(ScryptHash(cost: cost, length: output.count, salt: salt), output: output)
    }

    func output(of password: borrowing Secret) -> Secret? {
        let key = password.withBytes { bytes in
            try? KDF.Scrypt.deriveKey(
                from: bytes,
                salt: salt,
                outputByteCount: length,
                rounds: cost.rounds,
                blockSize: cost.blockSize,
                parallelism: cost.parallelism
            )
        }
        return key.map(Secret.init)
    }
}
