internal import Foundation

/// An Argon2id hash with everything that is needed to verify it: `$argon2id$v=19$m=…,t=…,p=…$salt$tag`.
///
/// Salt and tag are standard base64 without padding (PHC string format specification).
package struct PHCString: Hashable, Sendable {
    package let rawValue: String
    package let parameters: Argon2Parameters
    /// The number of lanes; always 1 in hashes of this service.
    package let parallelism: Int
    let salt: [UInt8]
    let tag: [UInt8]

    /// Parses a stored hash strictly: accepts only the text that this type would write, and at most the work of
    /// ``Argon2Parameters/ceiling`` with four lanes. A salt has 8 to 64 bytes, a tag 16 to 64.
    package init(_ text: String) throws(PHCStringError) {
        // By bytes, which is faster: a stored hash is parsed whenever a draft is read.
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
        // The code above also accepts a sign, a leading zero or another algorithm; those texts differ from `rawValue`.
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

/// Contains only the parameters, so that salt and tag stay out of logs.
extension PHCString: CustomStringConvertible {
    package var description: String {
        "argon2id m=\(parameters.memoryKiB),t=\(parameters.iterations),p=\(parallelism)"
    }
}

/// Why a stored hash is refused.
package enum PHCStringError: Error, Hashable, Sendable {
    case malformed
    /// More memory, passes or lanes than permitted, or fewer than Argon2 supports.
    case outOfBounds
}
