extension JSON {
    /// Reads one strict JSON text (RFC 8259): UTF-8 without a byte order mark, no duplicate name in an object, no NUL,
    /// no lone surrogate, at most ``JSONReader/maximumDepth`` levels. Invalid input is refused, never repaired.
    ///
    /// - Parameter maximumValues: the maximum number of values in all, including arrays and objects.
    package static func read(
        _ bytes: UnsafeRawBufferPointer,
        maximumValues: Int = .max
    ) throws(MalformedBody) -> JSON {
        var reader = JSONReader(bytes, secretMembers: [], maximumValues: maximumValues)
        return try reader.document()
    }

    /// Reads one strict JSON text, like ``read(_:maximumValues:)``.
    package static func read(_ bytes: [UInt8]) throws(MalformedBody) -> JSON {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(MalformedBody) in try read(bytes) }
    }
}

extension Answers {
    /// Reads the answers of a JSON object, as strictly as ``JSON/read(_:maximumValues:)``. Returns nil if the JSON text
    /// is not an object.
    ///
    /// The caller owns the bytes and wipes them.
    ///
    /// - Parameters:
    ///   - secretMembers: the names of members of the object. If such a member is a string, it is a secret, and is
    ///     decoded directly into memory that is wiped.
    ///   - maximumValues: the maximum number of values in all, including arrays and objects.
    package static func readJSON(
        _ bytes: UnsafeRawBufferPointer,
        secretMembers: Set<String> = [],
        maximumValues: Int = .max
    ) throws(MalformedBody) -> Answers? {
        var reader = JSONReader(bytes, secretMembers: secretMembers, maximumValues: maximumValues)
        return try reader.answers()
    }
}

/// The reason why a text, such as the body of a request, is not accepted as JSON or as a form, and the position of the
/// fault. It contains no part of the text, so it is safe to show and log.
package struct MalformedBody: Error, Hashable, CustomStringConvertible {
    package let reason: Reason
    /// The number of bytes before the fault.
    package let offset: Int

    package enum Reason: String, Sendable {
        case unexpectedEnd = "unexpected end"
        case unexpectedByte = "unexpected byte"
        case trailingBytes = "unexpected bytes after the value"
        case tooDeep = "too many levels"
        case tooMany = "too many values"
        case lineTooLong = "header line too long"
        case duplicateName = "duplicate name"
        case notUTF8 = "not UTF-8"
        case tooManyMarks = "too many combining marks in a row"
        case nul = "NUL"
        case controlCharacter = "unescaped control character"
        case malformedEscape = "malformed escape"
        case loneSurrogate = "lone surrogate"
        case malformedNumber = "malformed number"
        case numberOutOfRange = "number out of range"
    }

    package var description: String { "\(reason.rawValue) at byte \(offset)" }
}

/// Reads a JSON text by the rules of ``JSON/read(_:maximumValues:)``.
package struct JSONReader {
    /// The maximum number of arrays and objects that are open at the same time.
    package static let maximumDepth = 32

    private let bytes: UnsafeRawBufferPointer
    private let secretMembers: Set<String>
    /// The secrets of the top-level object, by the index of their member. The member itself has the value null.
    private var secrets: [Int: SharedSecret] = [:]
    private var position = 0
    private var depth = 0
    private var valuesLeft: Int

    /// The reader must not outlive `bytes`.
    fileprivate init(_ bytes: UnsafeRawBufferPointer, secretMembers: Set<String>, maximumValues: Int) {
        self.bytes = bytes
        self.secretMembers = secretMembers
        valuesLeft = maximumValues
    }

    fileprivate mutating func document() throws(MalformedBody) -> JSON {
        skipSpace()
        let value = try value()
        skipSpace()
        guard next == nil else { throw failure(.trailingBytes) }
        return value
    }

    fileprivate mutating func answers() throws(MalformedBody) -> Answers? {
        guard case .object(let members) = try document() else { return nil }
        return Answers(
            members.enumerated().map { index, member in
                .init(FieldName(member.name), secrets[index].map(FieldAnswer.secret) ?? .json(member.value))
            }
        )
    }

    // MARK: Values

    private mutating func value() throws(MalformedBody) -> JSON {
        try countValue()
        return switch next {
        case "{": try object()
        case "[": try array()
        case "\"": .string(try string())
        case "-", ("0"..."9")?: try number()
        case "t": try word("true", .bool(true))
        case "f": try word("false", .bool(false))
        case "n": try word("null", .null)
        default: throw unexpected
        }
    }

    private mutating func countValue() throws(MalformedBody) {
        guard valuesLeft > 0 else { throw failure(.tooMany) }
        valuesLeft -= 1
    }

    private mutating func object() throws(MalformedBody) -> JSON {
        try open()
        defer { depth -= 1 }
        if skip("}") { return .object([]) }
        var members: [JSON.Member] = []
        var spellings: Set<Spelling> = []
        repeat {
            skipSpace()
            let start = position
            guard next == "\"" else { throw unexpected }
            let name = try string()
            guard isNew(name, after: members, &spellings) else { throw failure(.duplicateName, at: start) }
            skipSpace()
            try expect(":")
            skipSpace()
            if depth == 1, next == "\"", secretMembers.contains(name) {
                try countValue()
                secrets[members.count] = SharedSecret(try secret())
                members.append(JSON.Member(name, .null))
            } else {
                members.append(JSON.Member(name, try value()))
            }
            skipSpace()
        } while skip(",")
        try expect("}")
        return .object(members)
    }

    private mutating func array() throws(MalformedBody) -> JSON {
        try open()
        defer { depth -= 1 }
        if skip("]") { return .array([]) }
        var values: [JSON] = []
        repeat {
            skipSpace()
            values.append(try value())
            skipSpace()
        } while skip(",")
        try expect("]")
        return .array(values)
    }

    private mutating func open() throws(MalformedBody) {
        guard depth < Self.maximumDepth else { throw failure(.tooDeep) }
        depth += 1
        position += 1
        skipSpace()
    }

    /// Returns false if the object already has a member with the name. Up to eight names are compared one by one; more
    /// are kept in a set, so that the time stays linear in the length of the body.
    private func isNew(_ name: String, after members: [JSON.Member], _ spellings: inout Set<Spelling>) -> Bool {
        let spelling = Spelling(name: name)
        if members.count < 8 { return !members.contains { Spelling(name: $0.name) == spelling } }
        if spellings.isEmpty { spellings = Set(members.map { Spelling(name: $0.name) }) }
        return spellings.insert(spelling).inserted
    }

    /// A name compared by its bytes: `String` treats a composed and a decomposed "é" as equal.
    private struct Spelling: Hashable {
        let name: String

        static func == (left: Self, right: Self) -> Bool {
            left.name.hasSameBytes(as: right.name)
        }

        func hash(into hasher: inout Hasher) {
            var name = name
            name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSON) throws(MalformedBody) -> JSON {
        for index in 0..<word.utf8CodeUnitCount {
            try expect(Unicode.Scalar(word.utf8Start[index]))
        }
        return value
    }

    // MARK: Numbers (RFC 8259, section 6)

    /// Reads a number. It becomes an integer if it has neither fraction nor exponent and fits into an `Int`, otherwise
    /// the nearest `Double`.
    private mutating func number() throws(MalformedBody) -> JSON {
        let start = position
        skip("-")
        let startsWithZero = next == "0"
        guard try skipDigits() == 1 || !startsWithZero else { throw failure(.malformedNumber, at: start) }
        var isInteger = true
        if skip(".") {
            isInteger = false
            try skipDigits()
        }
        if skip("e") || skip("E") {
            isInteger = false
            if !skip("-") { skip("+") }
            try skipDigits()
        }
        let text = String(decoding: slice(start..<position), as: UTF8.self)
        if isInteger, let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw failure(.numberOutOfRange, at: start) }
        return .number(number)
    }

    /// Skips digits and returns how many there were. Throws if there is none.
    @discardableResult
    private mutating func skipDigits() throws(MalformedBody) -> Int {
        let start = position
        while case ("0"..."9")? = next { position += 1 }
        guard position > start else { throw failure(next == nil ? .unexpectedEnd : .malformedNumber) }
        return position - start
    }

    // MARK: Strings (RFC 8259, section 7)

    private mutating func string() throws(MalformedBody) -> String {
        let literal = try literal()
        let start = literal.content.lowerBound
        if literal.hasEscapes {
            return try decoded(literal).withBytes { (bytes) throws(MalformedBody) in
                try String(ofBody: bytes, at: start)
            }
        }
        return try String(ofBody: slice(literal.content), at: start)
    }

    private mutating func secret() throws(MalformedBody) -> Secret {
        try decoded(literal())
    }

    private struct Literal {
        /// The bytes between the quotes.
        let content: Range<Int>
        let hasEscapes: Bool
    }

    /// Skips a string and validates everything except its escapes, which ``decoded(_:)`` validates.
    private mutating func literal() throws(MalformedBody) -> Literal {
        let start = position + 1
        var end = start
        var hasEscapes = false
        while end < bytes.count {
            switch bytes[end] {
            case UInt8(ascii: "\""):
                position = end + 1
                return Literal(content: start..<end, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                if end + 1 < bytes.count, bytes[end + 1] >= 0x80 { throw failure(.malformedEscape, at: end) }
                hasEscapes = true
                end += 2
            case 0:
                throw failure(.nul, at: end)
            case ..<0x20:
                throw failure(.controlCharacter, at: end)
            case ..<0x80:
                end += 1
            default:
                end += try lengthOfSequence(at: end)
            }
        }
        throw failure(.unexpectedEnd, at: bytes.count)
    }

    /// The length in bytes of a well-formed multi-byte sequence (Unicode, table 3-7): no overlong form, no surrogate,
    /// nothing above U+10FFFF.
    private func lengthOfSequence(at start: Int) throws(MalformedBody) -> Int {
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch bytes[start] {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: throw failure(.notUTF8, at: start)
            }
        guard start + length <= bytes.count, second.contains(bytes[start + 1]),
            bytes[start + 2..<start + length].allSatisfy({ 0x80...0xBF ~= $0 })
        else { throw failure(.notUTF8, at: start) }
        return length
    }

    /// Returns the text of a literal with its escapes decoded. The text is never longer than the literal.
    ///
    /// Strings that are not secret use this function too if they have escapes, so that there is only one decoder.
    private func decoded(_ literal: Literal) throws(MalformedBody) -> Secret {
        try Secret(capacity: literal.content.count) { (text) throws(MalformedBody) in
            var index = literal.content.lowerBound
            var count = 0
            while index < literal.content.upperBound {
                if bytes[index] != UInt8(ascii: "\\") {
                    text[count] = bytes[index]
                    index += 1
                    count += 1
                } else {
                    for byte in try escape(at: &index).utf8 {
                        text[count] = byte
                        count += 1
                    }
                }
            }
            return count
        }
    }

    /// Decodes the escape at `index`, and moves `index` past the escape. No bounds checks are needed: ``literal()`` has
    /// found a byte after each backslash, and the closing quote, which is not a hexadecimal digit, ends the reading of
    /// an escape that is too short.
    private func escape(at index: inout Int) throws(MalformedBody) -> Unicode.Scalar {
        let start = index
        index += 2
        switch Unicode.Scalar(bytes[start + 1]) {
        case "\"": return "\""
        case "\\": return "\\"
        case "/": return "/"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": break
        default: throw failure(.malformedEscape, at: start)
        }
        let unit = try codeUnit(at: &index, of: start)
        if unit == 0 { throw failure(.nul, at: start) }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit), bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
        else { throw failure(.loneSurrogate, at: start) }
        index += 2
        let trail = try codeUnit(at: &index, of: start)
        guard UTF16.isTrailSurrogate(trail),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(trail) & 0x3FF)
        else { throw failure(.loneSurrogate, at: start) }
        return scalar
    }

    /// Reads the four hexadecimal digits at `index`, in the escape that begins at `start`.
    private func codeUnit(at index: inout Int, of start: Int) throws(MalformedBody) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let byte = bytes[index]
            let digit =
                switch Unicode.Scalar(byte) {
                case "0"..."9": byte - UInt8(ascii: "0")
                case "a"..."f": byte - UInt8(ascii: "a") + 10
                case "A"..."F": byte - UInt8(ascii: "A") + 10
                default: throw failure(.malformedEscape, at: start)
                }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    // MARK: Bytes

    /// The current byte as the scalar with the same number; nil at the end.
    private var next: Unicode.Scalar? {
        position < bytes.count ? Unicode.Scalar(bytes[position]) : nil
    }

    /// Skips the character if it is the next one.
    @discardableResult
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == character else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(MalformedBody) {
        guard skip(character) else { throw unexpected }
    }

    private mutating func skipSpace() {
        while let next, next == " " || next == "\n" || next == "\r" || next == "\t" { position += 1 }
    }

    private func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    private var unexpected: MalformedBody {
        failure(next == nil ? .unexpectedEnd : .unexpectedByte)
    }

    private func failure(_ reason: MalformedBody.Reason, at offset: Int? = nil) -> MalformedBody {
        MalformedBody(reason: reason, offset: offset ?? position)
    }
}
