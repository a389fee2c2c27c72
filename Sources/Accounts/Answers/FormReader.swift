extension Answers {
    /// Reads the body of a form (`application/x-www-form-urlencoded`, WHATWG URL Standard §5.1) as strictly as
    /// ``JSON/read(_:)`` reads JSON. Throws if a pair has no `=` (unless `allowsBareNames`), an escape is malformed, a
    /// text is not UTF-8, contains NUL or has too many combining marks in a row, a control character is not escaped, a
    /// name that is not repeatable is repeated, or there are more than `maximumPairs` pairs. Invalid input is never
    /// repaired.
    ///
    /// - Parameters:
    ///   - secretNames: names whose texts are secrets, decoded directly into memory that is wiped.
    ///   - repeatableNames: names that may be repeated. Their texts become an array of strings, even if there is only
    ///     one. Any other answer is a string or a secret.
    ///   - maximumPairs: the maximum number of pairs.
    ///   - allowsBareNames: whether a name without `=` is read as a name with an empty text, and empty pairs (`&&`) are
    ///     skipped. If not, both are errors.
    package static func readForm(
        _ bytes: UnsafeRawBufferPointer,
        secretNames: Set<String> = [],
        repeatableNames: Set<String> = [],
        maximumPairs: Int = .max,
        allowsBareNames: Bool = false
    ) throws(MalformedBody) -> Answers {
        var reader = FormReader(bytes: bytes, allowsBareNames: allowsBareNames)
        var members = FormMembers(repeatableNames: repeatableNames, maximumMembers: maximumPairs)
        while let pair = try reader.nextPair() {
            let name = try reader.text(pair.name)
            let answer: FieldAnswer
            if secretNames.contains(name) {
                answer = .secret(SharedSecret(try reader.decoded(pair.value)))
            } else {
                answer = .json(.string(try reader.text(pair.value)))
            }
            try members.add(answer, named: name, at: pair.name.lowerBound)
        }
        return members.answers
    }
}

/// The answers that were read from a form so far, in the order of the form.
struct FormMembers {
    let repeatableNames: Set<String>
    private var membersLeft: Int
    private var members: [Answers.Member] = []
    private var names: Set<FieldName> = []
    private var lists: [FieldName: [JSON]] = [:]

    /// - Parameters:
    ///   - repeatableNames: the names that may be repeated.
    ///   - maximumMembers: the maximum number of pairs or parts.
    init(repeatableNames: Set<String>, maximumMembers: Int) {
        self.repeatableNames = repeatableNames
        membersLeft = maximumMembers
    }

    /// Adds one answer. Throws if there are too many answers, or if the form already has an answer with this name and
    /// the name must not be repeated. A secret or a file can never be repeated.
    ///
    /// - Parameter offset: the position in the body that the error reports.
    mutating func add(_ answer: FieldAnswer, named rawName: String, at offset: Int) throws(MalformedBody) {
        guard membersLeft > 0 else { throw MalformedBody(reason: .tooMany, offset: offset) }
        membersLeft -= 1
        let name = FieldName(rawName)
        let list = repeatableNames.contains(rawName) ? answer.json.map { [$0] } : nil
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
/// ``Answers/readForm(_:secretNames:repeatableNames:maximumPairs:allowsBareNames:)``.
private struct FormReader {
    let bytes: UnsafeRawBufferPointer
    let allowsBareNames: Bool
    /// The position of the next pair; nil after the last one. After a `&` at the end, the next pair is empty.
    private var next: Int?

    init(bytes: UnsafeRawBufferPointer, allowsBareNames: Bool) {
        (self.bytes, self.allowsBareNames) = (bytes, allowsBareNames)
        next = bytes.isEmpty ? nil : 0
    }

    /// The positions of the name and the value of the next pair; nil after the last one.
    mutating func nextPair() throws(MalformedBody) -> (name: Range<Int>, value: Range<Int>)? {
        if allowsBareNames { skipEmptyPairs() }
        guard let start = next else { return nil }
        let separator = bytes[start...].firstIndex(of: UInt8(ascii: "&"))
        let end = separator ?? bytes.count
        next = separator.map { $0 + 1 }
        if let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) {
            return (start..<equals, equals + 1..<end)
        }
        guard allowsBareNames else {
            throw MalformedBody(reason: separator == nil ? .unexpectedEnd : .unexpectedByte, offset: end)
        }
        return (start..<end, end..<end)
    }

    private mutating func skipEmptyPairs() {
        guard let start = next else { return }
        next = bytes[start...].firstIndex { $0 != UInt8(ascii: "&") }
    }

    func text(_ range: Range<Int>) throws(MalformedBody) -> String {
        try decoded(range).withBytes { (bytes) throws(MalformedBody) in
            try String(ofBody: bytes, at: range.lowerBound)
        }
    }

    /// Decodes `+` and `%XX`. Throws for a malformed escape, an unescaped control character, NUL, or bytes that are not
    /// UTF-8. Names and values that are not secret use this function too, so that there is only one decoder.
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
            guard start + 2 < end, let high = Self.hexDigit(bytes[start + 1]),
                let low = Self.hexDigit(bytes[start + 2])
            else {
                throw MalformedBody(reason: .malformedEscape, offset: start)
            }
            index += 2
            return high << 4 | low
        case 0x01..<0x20, 0x7F: throw MalformedBody(reason: .controlCharacter, offset: start)
        case let byte: return byte
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"):
            (byte | 0x20) - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
