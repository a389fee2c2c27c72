/// A list of passwords that many people use or that have leaked. A binary search finds a password in the read-only
/// memory of the executable, so the list takes no time when the process starts, and a search reads only a few pages.
struct CommonPasswords: Sendable {
    static let shared = CommonPasswords(list)

    /// The maximum length of an entry in bytes.
    static let longest = 64

    /// The entries in lower-case ASCII, sorted by bytes, and separated by newlines.
    private let lines: StaticString

    init(_ lines: StaticString) {
        self.lines = lines
    }

    /// Whether the list contains exactly these bytes.
    func contains(_ password: some Collection<UInt8>) -> Bool {
        guard password.count <= Self.longest else { return false }
        return lines.withUTF8Buffer { lines in
            // If the list contains the password, the password is in this range, which consists of whole lines.
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
