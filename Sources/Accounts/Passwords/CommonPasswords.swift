/// Passwords that many people have chosen, searched where they lie in the executable's own memory.
struct CommonPasswords: Sendable {
    static let shared = CommonPasswords(list)

    /// Lower-cased ASCII, each entry ended by a newline, sorted by bytes.
    private let lines: StaticString
    private let ranges: [Range<Int>]
    /// Bytes of the longest entry.
    let longest: Int

    init(_ lines: StaticString) {
        self.lines = lines
        ranges = lines.withUTF8Buffer { $0.split(separator: UInt8(ascii: "\n")).map(\.indices) }
        longest = ranges.map(\.count).max() ?? 0
    }

    var count: Int { ranges.count }

    /// Whether the list has exactly these bytes.
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
