/// A key of the keyboard.
enum Key: Hashable, Sendable {
    case up, down, left, right, pageUp, pageDown, home, end, enter, escape, backspace
    case character(Character)
    /// Ctrl-C.
    case interrupt
}

/// Converts the bytes of a terminal to keys.
struct KeyReader {
    private var rest: [UInt8] = []

    /// The keys by the bytes that follow `ESC [` or `ESC O`: the sequences of xterm and, for Home and End, also those
    /// of the Linux console and rxvt.
    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "1~": .home, "7~": .home, "4~": .end,
        "8~": .end, "5~": .pageUp, "6~": .pageDown,
    ]

    /// Whether the latest bytes may be incomplete: they are an unfinished sequence, or an escape, which is either a key
    /// or the start of a sequence.
    var isPending: Bool { !rest.isEmpty }

    /// Returns a pending escape as a key, and drops an unfinished sequence. Call this when no further byte has
    /// followed.
    mutating func flush() -> Key? {
        defer { rest = [] }
        return rest == [0x1B] ? .escape : nil
    }

    /// Converts bytes to keys. The bytes of one key, such as the three bytes of an arrow key, may come in several
    /// calls.
    mutating func read(_ bytes: [UInt8]) -> [Key] {
        var keys: [Key] = []
        rest += bytes
        while let first = rest.first {
            switch first {
            case 0x1B where rest.count == 1: return keys
            case 0x1B where rest[1] == UInt8(ascii: "[") || rest[1] == UInt8(ascii: "O"):
                // A sequence that is not in `sequences` is dropped. The sequences of the function keys of the Linux
                // console have a second bracket after the first one.
                let start = rest.dropFirst(2).first == UInt8(ascii: "[") ? 3 : 2
                guard let end = rest.dropFirst(start).firstIndex(where: { !(0x20...0x3F).contains($0) }) else {
                    return keys
                }
                // A control character, such as Ctrl-C, is not part of the sequence, but a key of its own.
                let isFinished = (0x40...0x7E).contains(rest[end])
                if isFinished, let key = Self.sequences[String(decoding: rest[2...end], as: UTF8.self)] {
                    keys.append(key)
                }
                rest.removeFirst(isFinished ? end + 1 : end)
            case 0x1B:
                rest.removeFirst()
                keys.append(.escape)
            case 0x03:
                rest.removeFirst()
                keys.append(.interrupt)
            case 0x08, 0x7F:
                rest.removeFirst()
                keys.append(.backspace)
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                rest.removeFirst()
                keys.append(.enter)
            default:
                rest.removeFirst()
                if (0x20...0x7E).contains(first) { keys.append(.character(Character(UnicodeScalar(first)))) }
            }
        }
        return keys
    }
}
