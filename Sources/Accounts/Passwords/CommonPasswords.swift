/// Passwords that many people use or that have leaked, searched in the read-only memory of the executable. Nothing is
/// prepared at the start, and a search touches a few pages.
struct CommonPasswords: Sendable {
    static let shared = CommonPasswords(list)

    /// The maximum length of an entry in bytes.
    static let longest = 64

    /// Lower-case ASCII, sorted by bytes. Each entry ends in a newline.
    private let lines: StaticString

    init(_ lines: StaticString) {
        self.lines = lines
    }

    /// Whether the list contains exactly these bytes.
    func contains(_ password: some Collection<UInt8>) -> Bool {
        guard password.count <= Self.longest else { return false }
        return lines.withUTF8Buffer { lines in
            // The entry is in this range if it is in the list. Both ends are the beginning of a line.
            var (start, end) = (lines.startIndex, lines.endIndex)
            while start < end {
                let entry = lines.line(around: (start + end) / 2)
                if entry.elementsEqual(password) { return true }
                if entry.lexicographicallyPrecedes(password) {
                    start = entry.endIndex + 1
                } else {
                    end = entry.startIndex
                }
            }
            return false
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The line that contains this position, without its newline.
    fileprivate func line(around position: Int) -> Slice<Self> {
        let newline = UInt8(ascii: "\n")
        let start = self[..<position].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = self[position...].firstIndex(of: newline) ?? endIndex
        return self[start..<end]
    }
}
