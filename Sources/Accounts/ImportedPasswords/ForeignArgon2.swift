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

    private struct Cost {
        let memoryKiB, iterations, lanes: Int
        /// The length of the hash in bytes.
        let length: Int

        func check(with salt: [UInt8]) throws(ImportedHashError) {
            guard memoryKiB > 0, iterations > 0, lanes > 0, salt.count >= 8, (16...64).contains(length) else {
                throw .malformed
            }
            guard memoryKiB <= ImportedHash.maximumMemory / 1024, lanes <= 16, iterations <= 1 << 20,
                memoryKiB * iterations <= 4 * ImportedHash.maximumMemory / 1024
            else { throw .tooCostly }
            guard memoryKiB >= 8 * lanes else { throw .malformed }
        }
    }

    private let variant: Variant
    private let cost: Cost
    let salt: [UInt8]

    var kind: String { "\(variant),\(cost.memoryKiB),\(cost.iterations),\(cost.lanes),\(cost.length)" }

    private init(_ variant: Variant, _ cost: Cost, salt: [UInt8]) {
        (self.variant, self.cost, self.salt) = (variant, cost, salt)
    }

    init?(kind: Substring, salt: [UInt8]) {
        let parts = kind.split(separator: ",")
        let numbers = parts.dropFirst().compactMap { Int($0) }
        guard let variant = parts.first.flatMap(Variant.init), parts.count == 5, numbers.count == 4 else { return nil }
        let cost = Cost(memoryKiB: numbers[0], iterations: numbers[1], lanes: numbers[2], length: numbers[3])
        guard (try? cost.check(with: salt)) != nil else { return nil }
        self.init(variant, cost, salt: salt)
    }

    static func read(_ text: String) throws(ImportedHashError) -> ImportedHash? {
        // Django writes `argon2` before the hash.
        let text = text.hasPrefix("argon2$argon2") ? text.dropFirst(6) : text[...]
        guard text.hasPrefix("$argon2") else { return nil }
        var pieces = HashText(text.dropFirst())
        guard let variant = Variant(try pieces.next()) else { throw .unsupported }
        // A hash of Argon2 version 1.0 has `v=16` here, or no version. It is not supported.
        guard try pieces.next() == "v=19" else { throw .unsupported }
        var costs = HashText(try pieces.next(), separator: ",")
        let (memory, iterations) = (try costs.number(after: "m="), try costs.number(after: "t="))
        let lanes = try costs.number(after: "p=")
        try costs.end()
        let (salt, output) = (try [UInt8].base64(pieces.next()), try [UInt8].base64(pieces.next()))
        try pieces.end()
        let cost = Cost(memoryKiB: memory, iterations: iterations, lanes: lanes, length: output.count)
        try cost.check(with: salt)
        return ImportedHash(ForeignArgon2(variant, cost, salt: salt), output: output)
    }

    func output(of password: borrowing Secret) -> Secret? {
        let tag = Secret(capacity: cost.length) { tag in
            let code = password.withBytes { password in
                argon2_foreign(
                    variant.rawValue,
                    UInt32(cost.memoryKiB),
                    UInt32(cost.iterations),
                    UInt32(cost.lanes),
                    password.baseAddress,
                    password.count,
                    salt,
                    salt.count,
                    tag.baseAddress,
                    cost.length
                )
            }
            return code == ARGON2_OK.rawValue ? cost.length : 0
        }
        if tag.count == 0 { return nil }
        return tag
    }
}
