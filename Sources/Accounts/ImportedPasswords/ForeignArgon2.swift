internal import CArgon2

/// An Argon2 hash of another system in any variant (RFC 9106), as PHP, argon2-cffi, passlib and Django write it.
struct ForeignArgon2: HashMethod {
    private enum Variant: Int32 {
        case argon2d, argon2i, argon2id

        init?(_ name: Substring) {
            switch name {
            case "argon2d": self = .argon2d
            case "argon2i": self = .argon2i
            case "argon2id": self = .argon2id
            default: return nil
            }
        }
    }

    private let variant: Variant
    private let memoryKiB, iterations, lanes, length: Int
    let salt: [UInt8]

    var kind: String { "\(variant),\(memoryKiB),\(iterations),\(lanes),\(length)" }

    init?(kind: Substring, salt: [UInt8]) {
        let parts = kind.split(separator: ",")
        let numbers = parts.dropFirst().compactMap { Int($0) }
        guard let variant = parts.first.flatMap(Variant.init), parts.count == 5, numbers.count == 4,
            (try? Self.check(numbers, salt)) != nil
        else { return nil }
        self.init(variant, numbers, salt: salt)
    }

    /// - Parameter numbers: memory in KiB, iterations, lanes, and the length of the hash in bytes.
    private init(_ variant: Variant, _ numbers: [Int], salt: [UInt8]) {
        (self.variant, self.salt) = (variant, salt)
        (memoryKiB, iterations, lanes, length) = (numbers[0], numbers[1], numbers[2], numbers[3])
    }

    static func read(_ text: String) throws(ImportedHashError) -> ImportedHash? {
        // Django writes argon2 before the hash.
        let text = text.hasPrefix("argon2$argon2") ? text.dropFirst(6) : text[...]
        guard text.hasPrefix("$argon2") else { return nil }
        var pieces = HashText(text.dropFirst())
        guard let variant = Variant(try pieces.next()), try pieces.number(after: "v=") == 19 else {
            throw .unsupported
        }
        var costs = HashText(try pieces.next(), separator: ",")
        let (memory, iterations) = (try costs.number(after: "m="), try costs.number(after: "t="))
        let lanes = try costs.number(after: "p=")
        try costs.end()
        let (salt, output) = (try [UInt8].base64(pieces.next()), try [UInt8].base64(pieces.next()))
        try pieces.end()
        let numbers = [memory, iterations, lanes, output.count]
        try check(numbers, salt)
        return ImportedHash(ForeignArgon2(variant, numbers, salt: salt), output: output)
    }

    private static func check(_ numbers: [Int], _ salt: [UInt8]) throws(ImportedHashError) {
        let (memory, iterations, lanes) = (numbers[0], numbers[1], numbers[2])
        guard memory > 0, iterations > 0, lanes > 0, salt.count >= 8, (16...64).contains(numbers[3]) else {
            throw .malformed
        }
        guard memory <= ImportedHash.maximumMemory / 1024, lanes <= 16, iterations <= 1 << 20,
            memory * iterations <= 4 * ImportedHash.maximumMemory / 1024
        else { throw .tooCostly }
        guard memory >= 8 * lanes else { throw .malformed }
    }

    func output(of password: borrowing Secret) -> Secret? {
        let tag = Secret(capacity: length) { tag in
            let code = password.withBytes { password in
                argon2_foreign(
                    variant.rawValue,
                    UInt32(memoryKiB),
                    UInt32(iterations),
                    UInt32(lanes),
                    password.baseAddress,
                    password.count,
                    salt,
                    salt.count,
                    tag.baseAddress,
                    length
                )
            }
            return code == ARGON2_OK.rawValue ? length : 0
        }
        if tag.count == 0 { return nil }
        return tag
    }
}
