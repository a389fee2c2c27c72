internal import Foundation

/// An Argon2id hash with all that is needed to verify it: `$argon2id$v=19$m=…,t=…,p=…$salt$tag`.
///
/// Salt and tag are standard base64 without padding. The form is that of the PHC string format specification.
package struct PHCString: Hashable, Sendable {
    package let rawValue: String
    package let parameters: Argon2Parameters
    /// Lanes; always 1 in what this service hashes itself.
    package let parallelism: Int
    let salt: [UInt8]
    let tag: [UInt8]

    /// Reads a stored hash strictly: exactly the text that this type would write, and never more work than
    /// ``Argon2Parameters/ceiling`` and four lanes. A salt has 8 to 64 bytes, a tag 16 to 64.
    package init(_ text: String) throws(PHCStringError) {
        // By bytes: a stored hash is read whenever a draft is looked at.
        let parts = text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).map(Substring.init)
        guard parts.count == 6 else { throw .malformed }
        let costs = parts[3].utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { Int(Substring($0.dropFirst(2))) }
        guard costs.count == 3, let memory = costs[0], let iterations = costs[1], let parallelism = costs[2],
            let salt = Self.decode(parts[4]), (8...64).contains(salt.count),
            let tag = Self.decode(parts[5]), (16...64).contains(tag.count)
        else { throw .malformed }

        let parameters = Argon2Parameters(memoryKiB: memory, iterations: iterations)
        self.init(parameters: parameters, parallelism: parallelism, salt: salt, tag: tag)
        // Whatever was read too kindly above (a sign, a leading zero, another algorithm) is written differently.
        guard rawValue.utf8.elementsEqual(text.utf8) else { throw .malformed }
        guard parameters.isWithinBounds, (1...4).contains(parallelism), memory >= 8 * parallelism else {
            throw .outOfBounds
        }
    }

    init(parameters: Argon2Parameters, parallelism: Int = 1, salt: [UInt8], tag: [UInt8]) {
        self.parameters = parameters
        self.parallelism = parallelism
        self.salt = salt
        self.tag = tag
        let costs = "m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parallelism)"
        rawValue = "$argon2id$v=19$\(costs)$\(Self.encode(salt))$\(Self.encode(tag))"
    }

    private static func encode(_ bytes: [UInt8]) -> Substring {
        Data(bytes).base64EncodedString().prefix { $0 != "=" }
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text + padding).map(Array.init)
    }
}

/// Says what the hash costs; salt and tag stay out of logs.
extension PHCString: CustomStringConvertible {
    package var description: String {
        "argon2id m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parallelism)"
    }
}

/// Why a text is no hash that this service would verify.
package enum PHCStringError: Error, Hashable, Sendable {
    case malformed
    /// More memory, passes or lanes than a stored hash may ask for, or fewer than Argon2 knows.
    case outOfBounds
}
