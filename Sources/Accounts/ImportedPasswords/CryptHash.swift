internal import CCrypt
internal import Crypto

/// A hash of crypt(3), which libcrypt computes: bcrypt, SHA-crypt, yescrypt or MD5-crypt. Shadow files contain such
/// hashes, and PHP and `htpasswd -B` write them.
///
/// Django's `bcrypt_sha256` hashes the password with SHA-256, and then the hexadecimal form of this digest with bcrypt.
///
/// DES-crypt is not supported, because it uses only the first eight characters of a password. `$apr1$`, the default of
/// htpasswd, is not supported, because libcrypt cannot compute it.
struct CryptHash: HashMethod {
    /// The algorithm and its cost, such as `$2b$12$`.
    private let prefix: String
    let salt: [UInt8]
    private let hashesDigest: Bool

    /// The maximum length in bytes of the text that crypt(3) hashes: the password, or its digest in hexadecimal.
    static let maximumLength = 256

    var kind: String { (hashesDigest ? "crypt-sha256," : "crypt,") + prefix }

    init?(kind: Substring, salt: [UInt8]) {
        let parts = kind.split(separator: ",", maxSplits: 1)
        guard parts.count == 2, ["crypt", "crypt-sha256"].contains(parts[0]),
            let algorithm = try? Self.algorithm(of: parts[1]), algorithm.prefix == parts[1]
        else { return nil }
        self.init(prefix: String(parts[1]), salt: salt, hashesDigest: parts[0] == "crypt-sha256")
    }

    private init(prefix: String, salt: [UInt8], hashesDigest: Bool) {
        (self.prefix, self.salt, self.hashesDigest) = (prefix, salt, hashesDigest)
    }

    static func read(_ text: String) throws(ImportedHashError) -> ImportedHash? {
        // Django writes the name of the algorithm and a dollar before the hash.
        for (name, hashesDigest) in [("bcrypt$", false), ("bcrypt_sha256$", true)] where text.hasPrefix(name) {
            return try hash(text.dropFirst(name.count), hashesDigest)
        }
        return text.hasPrefix("$") ? try hash(text[...], false) : nil
    }

    private static func hash(_ text: Substring, _ hashesDigest: Bool) throws(ImportedHashError) -> ImportedHash? {
        guard let (prefix, saltLength, length) = try algorithm(of: text) else { return nil }
        let rest = text.dropFirst(prefix.count)
        let isBcrypt = prefix.hasPrefix("$2")
        // bcrypt writes no dollar between salt and hash.
        let parts = isBcrypt ? [rest.prefix(saltLength), rest.dropFirst(saltLength)] : rest.split(separator: "$")
        let isInAlphabet = { (part: Substring) in
            part.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "/") }
        }
        guard parts.count == 2, !parts[0].isEmpty, parts[0].count <= saltLength, parts[1].count == length,
            parts.allSatisfy(isInAlphabet), parts.joined(separator: isBcrypt ? "" : "$") == rest
        else { throw .malformed }
        var output = Array(text.utf8)
        if isBcrypt {
            clearPadding(of: &output[prefix.utf8.count + saltLength - 1], bits: 4)
            clearPadding(of: &output[output.count - 1], bits: 2)
        }
        let salt = Array(output.dropFirst(prefix.utf8.count).prefix(parts[0].utf8.count))
        return ImportedHash(CryptHash(prefix: prefix, salt: salt, hashesDigest: hashesDigest), output: output)
    }

    /// Clears the unused low bits of a digit of bcrypt's base64. Some tools set them, but crypt(3) always writes zeros.
    private static func clearPadding(of digit: inout UInt8, bits: Int) {
        let digits = Array("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        guard let value = digits.firstIndex(of: digit) else { return }
        digit = digits[(value >> bits) << bits]
    }

    /// Reads the algorithm with its cost, such as `$2b$12$`. Returns this prefix, the maximum number of characters of a
    /// salt, and the number of characters of a hash. crypt(3) cuts a longer salt, or refuses it. Returns nil for an
    /// algorithm that is not supported. Throws if the text does not begin with a dollar, or if the cost is malformed,
    /// too low or too high.
    private static func algorithm(
        of text: Substring
    ) throws(ImportedHashError) -> (prefix: String, saltLength: Int, length: Int)? {
        guard text.first == "$" else { throw .malformed }
        var pieces = HashText(text.dropFirst())
        let name = try pieces.next()
        switch name {
        case "2a", "2b", "2y":
            let cost = try pieces.next()
            guard cost.utf8.count == 2, cost.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let rounds = Int(cost),
                (4...31).contains(rounds)
            else { throw .malformed }
            if rounds > 14 { throw .tooCostly }
            return ("$\(name)$\(cost)$", 22, 31)
        case "5", "6":
            var prefix = "$\(name)$"
            if try pieces.next().hasPrefix("rounds=") {
                pieces = HashText(text.dropFirst(prefix.count))
                let rounds = try pieces.number(after: "rounds=")
                // crypt(3) refuses fewer rounds.
                if rounds < 1000 { throw .malformed }
                if rounds > 1_000_000 { throw .tooCostly }
                prefix += "rounds=\(rounds)$"
            }
            return (prefix, 16, name == "5" ? 43 : 86)
        case "y":
            let cost = try pieces.next()
            try checkYescrypt(cost)
            return ("$y$\(cost)$", 86, 43)
        case "1": return ("$1$", 8, 22)
        default: return nil
        }
    }

    /// Throws if the cost of a yescrypt hash is malformed or too high. The cost has three characters: the flavour, the
    /// binary logarithm of the number of blocks, and the size of a block in units of 128 bytes. Both numbers are
    /// encoded minus one. A flavour other than `j` counts as malformed, as does a longer cost, which has further
    /// parameters.
    private static func checkYescrypt(_ cost: Substring) throws(ImportedHashError) {
        let digits = Array("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        let values = cost.utf8.compactMap { digits.firstIndex(of: $0) }
        guard cost.utf8.count == 3, cost.first == "j", values.count == 3, values[1] < 30 else { throw .malformed }
        let blocks = 1 << (values[1] + 1)
        if 128 * blocks * (values[2] + 1) > ImportedHash.maximumMemory { throw .tooCostly }
    }

    func output(of password: borrowing Secret) -> Secret? {
        let setting = prefix + String(decoding: salt, as: UTF8.self)
        let hash = { (phrase: UnsafeRawBufferPointer) in
            phrase.count > Self.maximumLength
                ? Secret(capacity: 0) { _ in 0 }
                : Secret(capacity: crypt_hash_size) {
                    crypt_hash(phrase.baseAddress, phrase.count, setting, $0.baseAddress)
                }
        }
        let output = hashesDigest ? password.hexadecimalDigest().withBytes(hash) : password.withBytes(hash)
        if output.count == 0 { return nil }
        return output
    }
}

extension Secret {
    /// The SHA-256 of the bytes in hexadecimal.
    fileprivate borrowing func hexadecimalDigest() -> Secret {
        let digits = Array("0123456789abcdef".utf8)
        return Secret(capacity: 2 * SHA256.byteCount) { buffer in
            for (index, byte) in withBytes({ SHA256.hash(data: $0) }).enumerated() {
                buffer[2 * index] = digits[Int(byte >> 4)]
                buffer[2 * index + 1] = digits[Int(byte & 15)]
            }
            return buffer.count
        }
    }
}
