extension JSON {
    /// The value as compact JSON in UTF-8.
    package var bytes: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(512)
        write(into: &output)
        return output
    }

    /// The value as compact JSON.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends the value as compact JSON (RFC 8259) in UTF-8: members in order, numbers in a form that is read back as
    /// exactly the same number.
    ///
    /// Escapes the characters that JSON requires to be escaped, and others: DEL and U+0080 to U+009F, which are control
    /// characters and must not appear in a log or a terminal, and U+2028 and U+2029, which break a line in logs and in
    /// older JavaScript. JSON cannot represent infinity and NaN, so a caller must not write them.
    package func write(into output: inout [UInt8]) {
        switch self {
        case .null:
            output += "null".utf8
        case .bool(let value):
            output += (value ? "true" : "false").utf8
        case .integer(let value):
            output += value.description.utf8
        case .number(let value):
            precondition(value.isFinite, "JSON cannot represent infinity or NaN")
            output += value.description.utf8
        case .string(let value):
            Self.write(value, into: &output)
        case .array(let values):
            output.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                value.write(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(member.name, into: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(into: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string in quotes. Runs of characters that need no escape are copied as a whole.
    private static func write(_ text: String, into output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            // The first byte that is not in the output yet.
            var runStart = 0
            var index = 0
            while index < text.count {
                if isPlain(text[index]) {
                    index += 1
                } else if let (escape, length) = escape(for: text, at: index) {
                    output += text[runStart..<index]
                    output += escape.utf8
                    index += length
                    runStart = index
                } else {
                    index += 1
                }
            }
            output += text[runStart...]
        }
        output.append(UInt8(ascii: "\""))
    }

    /// True if no character that begins with the byte needs an escape.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7F && byte != 0xC2
            && byte != 0xE2
    }

    /// The escape for the character that begins at `index`, and the character's length in bytes; nil if it needs no
    /// escape.
    private static func escape(for text: UnsafeBufferPointer<UInt8>, at index: Int) -> (escape: String, length: Int)? {
        switch text[index] {
        case UInt8(ascii: "\""): ("\\\"", 1)
        case UInt8(ascii: "\\"): ("\\\\", 1)
        case 0x08: ("\\b", 1)
        case 0x09: ("\\t", 1)
        case 0x0A: ("\\n", 1)
        case 0x0C: ("\\f", 1)
        case 0x0D: ("\\r", 1)
        case 0..<0x10: ("\\u000" + String(text[index], radix: 16), 1)
        case 0..<0x20, 0x7F: ("\\u00" + String(text[index], radix: 16), 1)
        case 0xC2 where text[index + 1] < 0xA0: ("\\u00" + String(text[index + 1], radix: 16), 2)
        case 0xE2 where text[index + 1] == 0x80 && text[index + 2] == 0xA8: ("\\u2028", 3)
        case 0xE2 where text[index + 1] == 0x80 && text[index + 2] == 0xA9: ("\\u2029", 3)
        default: nil
        }
    }
}
