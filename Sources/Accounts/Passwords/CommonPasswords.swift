/// Passwords that many people use, searched in the read-only memory of the executable.
struct CommonPasswords: Sendable {
    static let shared = CommonPasswords(list)

    /// Lower-case ASCII, sorted by bytes. Each entry ends in a newline.
    private let lines: StaticString
    private let ranges: [Range<Int>]
    /// The length of the longest entry in bytes.
    let longest: Int

    init(_ lines: StaticString) {
        self.lines = lines
        ranges = lines.withUTF8Buffer { $0.split(separator: UInt8(ascii: "\n")).map(\.indices) }
        longest = ranges.map(\.count).max() ?? 0
    }

    var count: Int { ranges.count }

    /// Whether the list contains exactly these bytes.
    func contains(_ password: some Collection<UInt8>) -> Bool {
        lines.withUTF8Buffer { lines in
            var candidates = ranges[...]
            while let middle = candidates.indices.middle {
                let entry = lines[candidates[middle]]
                if entry.elementsEqual(password) { return true }
                candidates =
                    entry.lexicographicallyPrecedes(password) ? candidates[(middle + 1)...] : candidates[..<middle]
            }
            return false
        }
    }
}

extension Range<Int> {
    fileprivate var middle: Int? {
        isEmpty ? nil : (lowerBound + upperBound) / 2
    }
}
