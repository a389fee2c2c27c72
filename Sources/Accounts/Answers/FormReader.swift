extension Answers {
    /// Reads the body of a form (`application/x-www-form-urlencoded`, WHATWG URL Standard §5.1) as strictly
    /// as ``JSON/read(_:)`` reads JSON.
    /// Throws if a pair has no `=`, an escape is malformed, a text is not UTF-8 or contains NUL, a control character
    /// is not escaped, or a name is repeated. Invalid input is never repaired.
    ///
    /// - Parameters:
    ///   - secretMembers: names whose texts are secrets, decoded directly into memory that is wiped.
    ///   - several: names that may be repeated. Their texts become an array of strings; all others are strings.
    ///   - maximumValues: the maximum number of pairs.
    ///   - allowsBareNames: whether a name without `=` is read as a name with an empty text, and empty pairs (`&&`) are
    ///     skipped. If not, both are errors.
    package static func readForm(
        _ bytes: UnsafeRawBufferPointer,
        secretMembers: Set<String> = [],
        several: Set<String> = [],
        maximumValues: Int = .max,
        allowsBareNames: Bool = false
    ) throws(MalformedBody) -> Answers {
        var reader = FormReader(bytes: bytes, allowsBareNames: allowsBareNames)
        var members = FormMembers(several: several, maximumValues: maximumValues)
        while let pair = try reader.nextPair() {
            let name = try reader.text(pair.name)
            let answer: FieldAnswer =
                try secretMembers.contains(name)
                ? .secret(SharedSecret(reader.decoded(pair.value))) : .json(.string(reader.text(pair.value)))
            try members.add(answer, named: name, at: pair.name.lowerBound)
        }
        return members.answers
    }
}

/// The answers that were read from a form so far, in the order of the form.
struct FormMembers {
    let several: Set<String>
    private var valuesLeft: Int
    private var members: [Answers.Member] = []
    private var names: Set<FieldName> = []
    private var lists: [FieldName: [JSON]] = [:]

    /// - Parameters:
    ///   - several: the names that may be repeated.
    ///   - maximumValues: the maximum number of pairs.
    init(several: Set<String>, maximumValues: Int) {
        self.several = several
        valuesLeft = maximumValues
    }

    /// Adds one answer. Throws if there are too many pairs, or if the form already has one with this name and the
    /// name must not be repeated.
    ///
    /// - Parameter offset: the position in the body that the error reports.
    mutating func add(_ answer: FieldAnswer, named text: String, at offset: Int) throws(MalformedBody) {
        guard valuesLeft > 0 else { throw MalformedBody(reason: .tooMany, offset: offset) }
        valuesLeft -= 1
        let name = FieldName(text)
        let list = several.contains(text) ? answer.json.map { [$0] } : nil
        if !names.insert(name).inserted {
            guard let list, lists[name] != nil else { throw MalformedBody(reason: .duplicateName, offset: offset) }
            lists[name]? += list
        } else {
            members.append(.init(name, answer))
            lists[name] = list
        }
    }

    var answers: Answers {
        Answers(members.map { member in lists[member.name].map { .init(member.name, .json(.array($0))) } ?? member })
    }
}

/// Reads the bytes of a form in one pass, by the rules of
/// ``Answers/readForm(_:secretMembers:several:maximumValues:allowsBareNames:)``.
private struct FormReader {
    let bytes: UnsafeRawBufferPointer
    let allowsBareNames: Bool
    private var position = 0

    init(bytes: UnsafeRawBufferPointer, allowsBareNames: Bool) {
        (self.bytes, self.allowsBareNames) = (bytes, allowsBareNames)
    }

    /// The positions of the name and the value of the next pair; nil at the end.
    mutating func nextPair() throws(MalformedBody) -> (name: Range<Int>, value: Range<Int>)? {
        if allowsBareNames { while position < bytes.count, bytes[position] == UInt8(ascii: "&") { position += 1 } }
        if bytes.isEmpty || position > bytes.count || allowsBareNames && position == bytes.count { return nil }
        let start = position
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
        guard let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) else {
            if allowsBareNames {
                position = end + 1
                return (start..<end, end..<end)
            }
            throw MalformedBody(reason: end == bytes.count ? .unexpectedEnd : .unexpectedByte, offset: end)
        }
        position = end + 1
        return (start..<equals, equals + 1..<end)
    }

    func text(_ range: Range<Int>) throws(MalformedBody) -> String {
        try decoded(range).withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the bytes with their escapes decoded. Throws if they are not UTF-8 or contain NUL. Names and values that
    /// are not secret use this function too, so that there is only one decoder.
    func decoded(_ range: Range<Int>) throws(MalformedBody) -> Secret {
        try Secret(capacity: range.count) { (buffer) throws(MalformedBody) in
            var index = range.lowerBound
            var count = 0
            while index < range.upperBound {
                let start = index
                let byte = try byte(at: &index, before: range.upperBound)
                if byte == 0 { throw MalformedBody(reason: .nul, offset: start) }
                buffer[count] = byte
                count += 1
            }
            guard UnsafeRawBufferPointer(rebasing: buffer[..<count]).visitScalars({ _ in }) else {
                throw MalformedBody(reason: .notUTF8, offset: range.lowerBound)
            }
            return count
        }
    }

    /// Decodes the byte or the escape at `index`, and moves `index` past it.
    private func byte(at index: inout Int, before end: Int) throws(MalformedBody) -> UInt8 {
        let start = index
        index += 1
        switch bytes[start] {
        case UInt8(ascii: "+"): return UInt8(ascii: " ")
        case UInt8(ascii: "%"):
            guard start + 2 < end, let high = Self.digit(bytes[start + 1]), let low = Self.digit(bytes[start + 2])
            else {
                throw MalformedBody(reason: .malformedEscape, offset: start)
            }
            index += 2
            return high << 4 | low
        case 0x01..<0x20, 0x7F: throw MalformedBody(reason: .controlCharacter, offset: start)
        case let byte: return byte
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"): (byte | 0x20) - 0x57
        default: nil
        }
    }
}
