/// A key of the keyboard.
enum Key: Hashable, Sendable {
    case up, down, left, right, enter, escape
    case letter(Character)
    /// Ctrl-C.
    case interrupt
}

/// Converts the bytes of a terminal to keys.
struct KeyReader {
    private var rest: [UInt8] = []

    private static let arrows: [UInt8: Key] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right, UInt8(ascii: "D"): .left,
    ]

    /// Whether the last byte was an escape, which is either a key or the start of a sequence.
    var isPending: Bool { rest == [0x1B] }

    /// Returns a pending escape as a key. Call it when no further byte has followed.
    mutating func flush() -> [Key] {
        defer { rest = [] }
        return isPending ? [.escape] : []
    }

    /// Converts bytes to keys. An arrow is three bytes, which may arrive in separate reads.
    mutating func read(_ bytes: [UInt8]) -> [Key] {
        var keys: [Key] = []
        rest += bytes
        while let first = rest.first {
            switch first {
            case 0x1B where rest.count == 1: return keys
            case 0x1B where rest[1] == UInt8(ascii: "[") || rest[1] == UInt8(ascii: "O"):
                // Longer sequences end with a letter; the board ignores them.
                guard let end = rest.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return keys }
                if end == 2, let key = Self.arrows[rest[2]] { keys.append(key) }
                rest.removeSubrange(...end)
            case 0x1B:
                rest.removeFirst()
                keys.append(.escape)
            case 0x03:
                rest.removeFirst()
                keys.append(.interrupt)
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                rest.removeFirst()
                keys.append(.enter)
            default:
                rest.removeFirst()
                if (0x20...0x7E).contains(first) { keys.append(.letter(Character(UnicodeScalar(first)))) }
            }
        }
        return keys
    }
}
