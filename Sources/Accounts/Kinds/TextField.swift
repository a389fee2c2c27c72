/// A field for free text with at least one visible character. The text is stored in NFC, without white space at its
/// ends. Lengths are in Unicode scalars.
package struct TextField: FieldKind {
    package typealias Value = String
    package static let name = "text"
    let min: Int
    let max: Int
    let isMultiline: Bool
    /// A pattern that the whole text must match; nil if there is none.
    let pattern: Pattern?
    /// A text that matches the pattern. The message about an answer that does not match shows it. Nil if the flow file
    /// has no example.
    let example: String?

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        min = try rules.integer("min", in: 0...10_000) ?? 0
        max = try rules.integer("max", in: 1...10_000) ?? 500
        isMultiline = try rules.word("lines", among: ["one", "many"]) == "many"
        if min > max { throw rules.error("\"min\" must not be greater than \"max\"", at: "min") }
        let text = try rules.optionalText("pattern")
        pattern = text.flatMap { Pattern($0) }
        if text != nil, pattern == nil {
            throw rules.error("\"pattern\" is not a valid RE2 expression, or needs too much memory", at: "pattern")
        }
        example = try rules.optionalText("example")
        if let example, pattern == nil || (try? canonical(example, of: FieldName("example"))) != example {
            throw rules.error(
                "\"example\" must be a text that the field accepts, and needs a \"pattern\"",
                at: "example"
            )
        }
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> String
    {
        try canonical(try answer.text(of: field), of: field)
    }

    private func canonical(_ typed: String, of field: FieldName) throws(Refusals) -> String {
        // NFC composes at most four scalars, each of at most four bytes, to one. A text of more than 4 scalars or 16
        // bytes for each permitted scalar is therefore too long, and is refused before the slow normalisation. The
        // check of the bytes allows 1,024 bytes more for white space at the ends. The check of the scalars does not
        // count this white space.
        if typed.utf8.count > 16 * max + 1024 {
            throw Refusals(field, .tooLong, ["max": .integer(max), "actual": .integer(typed.length)])
        }
        let trimmedLength = typed.trimmingWhiteSpace().length
        if trimmedLength > 4 * max {
            throw Refusals(field, .tooLong, ["max": .integer(max), "actual": .integer(trimmedLength)])
        }
        let text = typed.withLineFeeds()
        guard text.unicodeScalars.allSatisfy({ isMultiline ? $0.isAllowedInLines : $0.isAllowedInLine }),
            text.isStreamSafe
        else { throw Refusals(field, .badCharacters) }
        let canonical = text.normalised().trimmingWhiteSpace()
        guard canonical.isEmpty || canonical.unicodeScalars.contains(where: \.isVisible) else {
            throw Refusals(field, .badCharacters)
        }
        let length = canonical.length
        if length < Swift.max(min, 1) {
            throw Refusals(field, .tooShort, ["min": .integer(Swift.max(min, 1)), "actual": .integer(length)])
        }
        if length > max { throw Refusals(field, .tooLong, ["max": .integer(max), "actual": .integer(length)]) }
        if let pattern, !pattern.matches(whole: canonical) {
            throw Refusals(field, .badFormat, example.map { ["example": .string($0)] } ?? [:])
        }
        return canonical
    }

    /// True also for a text of only white space, because nothing is left after it is trimmed.
    package func isBlank(_ answer: FieldAnswer) -> Bool {
        if case .json(.string(let text)) = answer { text.trimmingWhiteSpace().isEmpty } else { answer.isBlank }
    }

    package func rules(in language: Language) -> [JSON.Member] {
        [
            .init("min", .integer(min)), .init("max", .integer(max)),
            .init("lines", .string(isMultiline ? "many" : "one")),
        ]
            + [pattern.map { .init("pattern", .string($0.text)) }, example.map { .init("example", .string($0)) }]
            .compactMap { $0 }
    }

    package var template: String { isMultiline ? "field-textarea" : "field-input" }

    package var control: Control { Control(type: isMultiline ? "textarea" : "text", isCode: pattern != nil) }
    package var answerSchema: JSON { ["type": "string"] }
}

extension Unicode.Scalar {
    /// The Unicode property `White_Space`. ASCII is compared directly, because looking up Unicode properties is slow.
    fileprivate var isWhiteSpace: Bool {
        isASCII ? value == 0x20 || (0x09...0x0D).contains(value) : properties.isWhitespace
    }
}

// Loops over the storage of a text are several times as fast as loops over its views.
extension String {
    fileprivate var isASCII: Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 < 0x80 } } ?? utf8.allSatisfy { $0 < 0x80 }
    }

    private var hasCarriageReturn: Bool {
        utf8.withContiguousStorageIfAvailable { $0.contains(0x0D) } ?? utf8.contains(0x0D)
    }

    /// The number of Unicode scalars. All bytes of a scalar but the first one begin with the bits 10.
    fileprivate var length: Int {
        utf8.withContiguousStorageIfAvailable { $0.count { $0 & 0xC0 != 0x80 } } ?? unicodeScalars.count
    }

    fileprivate func trimmingWhiteSpace() -> String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.isWhiteSpace }),
            let last = scalars.lastIndex(where: { !$0.isWhiteSpace })
        else { return "" }
        if first == startIndex, scalars.index(after: last) == endIndex { return self }
        return String(scalars[first...last])
    }

    /// The text with LF in place of each CR LF, because browsers send CR LF for a line break in a form.
    fileprivate func withLineFeeds() -> String {
        guard hasCarriageReturn else { return self }
        var bytes = Array(utf8)
        var count = 0
        for index in bytes.indices where bytes[index] != 0x0D || index + 1 == bytes.count || bytes[index + 1] != 0x0A {
            bytes[count] = bytes[index]
            count += 1
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// The text in Unicode Normalization Form C.
    fileprivate func normalised() -> String {
        if isASCII { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        _withNFCCodeUnits { bytes.append($0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
