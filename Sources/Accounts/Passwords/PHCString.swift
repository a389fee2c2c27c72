internal import Foundation

/// An Argon2id hash in the PHC string format, with everything that is needed to verify a password except the pepper:
/// `$argon2id$v=19$m=…,t=…,p=…[,keyid=…]$salt$tag`.
///
/// The id of the pepper, the salt and the tag are in standard base64 without padding.
package struct PHCString: Hashable, Sendable {
    package let rawValue: String
    package let parameters: Argon2Parameters
    /// The number of lanes; always 1 in hashes of this service.
    package let parallelism: Int
    /// The id of the ``Pepper``; nil if the hash was computed without one.
    let keyID: [UInt8]?
    let salt: [UInt8]
    let tag: [UInt8]

    /// Parses a stored hash. Accepts only a text that is exactly what this type would write for the same hash, with a
    /// cost of at most ``Argon2Parameters/ceiling`` and at most four lanes. The id of a pepper must have 1 to 8 bytes,
    /// the salt 8 to 64, and the tag 16 to 64.
    package init(_ text: String) throws(PHCStringError) {
        // Splits bytes and not characters, which is faster. A stored hash is parsed each time a draft is read.
        let parts = text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).map(Substring.init)
        guard parts.count == 6 else { throw .malformed }
        let all = parts[3].utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let costs = all.prefix(3).map { Int(Substring($0.dropFirst(2))) }
        let keyID = try Self.keyID(all.dropFirst(3).map(Substring.init))
        guard costs.count == 3, let memory = costs[0], let iterations = costs[1], let parallelism = costs[2],
            let salt = Self.decode(parts[4]), (8...64).contains(salt.count),
            let tag = Self.decode(parts[5]), (16...64).contains(tag.count)
        else { throw .malformed }

        let parameters = Argon2Parameters(memoryKiB: memory, iterations: iterations)
        self.init(parameters: parameters, parallelism: parallelism, keyID: keyID, salt: salt, tag: tag)
        // The code above also accepts a sign, a leading zero or another algorithm. Such texts differ from `rawValue`.
        guard rawValue.utf8.elementsEqual(text.utf8) else { throw .malformed }
        guard parameters.isWithinBounds, (1...4).contains(parallelism), memory >= 8 * parallelism else {
            throw .outOfBounds
        }
    }

    init(
        parameters: Argon2Parameters,
        parallelism: Int = 1,
        keyID: [UInt8]? = nil,
        salt: [UInt8],
        tag: [UInt8]
    ) {
        self.parameters = parameters
        self.parallelism = parallelism
        self.keyID = keyID
        self.salt = salt
        self.tag = tag
        let costs = "m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parallelism)"
        let key = keyID.map { ",keyid=\(Self.encode($0))" } ?? ""
        rawValue = "$argon2id$v=19$\(costs)\(key)$\(Self.encode(salt))$\(Self.encode(tag))"
    }

    /// Reads the parameters that follow the costs, and returns the id of the pepper; nil if there are no such
    /// parameters.
    private static func keyID(_ parameters: [Substring]) throws(PHCStringError) -> [UInt8]? {
        guard let parameter = parameters.first else { return nil }
        guard parameters.count == 1, parameter.hasPrefix("keyid="), let id = Self.keyID(parameter.dropFirst(6))
        else { throw .malformed }
        return id
    }

    /// Decodes the value of `keyid`; nil if it is not the base64 of 1 to 8 bytes.
    package static func keyID(_ base64: Substring) -> [UInt8]? {
        guard let id = decode(base64), (1...8).contains(id.count) else { return nil }
        return id
    }

    private static func encode(_ bytes: [UInt8]) -> Substring {
        Data(bytes).base64EncodedString().prefix { $0 != "=" }
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text + padding).map(Array.init)
    }
}

/// The description contains only the parameters, so that salt and tag stay out of logs.
extension PHCString: CustomStringConvertible {
    package var description: String {
        "argon2id m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parallelism)"
    }
}

/// Why a stored hash is refused.
package enum PHCStringError: Error, Hashable, Sendable {
    case malformed
    /// The hash has more memory, passes or lanes than permitted, or fewer than Argon2 supports.
    case outOfBounds
}
