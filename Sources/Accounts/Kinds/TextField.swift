/// Free text in NFC without surrounding white space, with something visible in it. Lengths are counted in Unicode
/// scalars.
package struct TextField: FieldKind {
    package typealias Value = String
    package static let name = "text"
    let min: Int
    let max: Int
    let isMultiline: Bool
    /// A pattern that the whole text must match.
    let pattern: Pattern?

    package init(rules: inout FlowEntry) throws(FlowFileError) {
        min = try rules.integer("min", in: 0...10_000) ?? 0
        max = try rules.integer("max", in: 1...10_000) ?? 500
        isMultiline = try rules.word("lines", among: ["one", "many"]) == "many"
        if min > max { throw rules.error("\"min\" must not be greater than \"max\"", at: "min") }
        guard let text = try rules.optionalText("pattern") else {
            pattern = nil
            return
        }
        pattern = Pattern(text)
        if pattern == nil { throw rules.error("\"pattern\" is not a valid RE2 expression", at: "pattern") }
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> String
    {
        let typed = try answer.text(of: field)
        // One composed scalar comes from at most four scalars, each of at most four bytes. Longer input is refused
        // before it is normalised, even if much of it is white space.
        if typed.utf8.count > 16 * max + 1024 {
            throw Refusals(field, .tooLong, ["max": .integer(max), "actual": .integer(typed.unicodeScalars.count)])
        }
        let trimmedLength = typed.trimmingWhiteSpace().unicodeScalars.count
        if trimmedLength > 4 * max {
            throw Refusals(field, .tooLong, ["max": .integer(max), "actual": .integer(trimmedLength)])
        }
        let text = typed.withoutCarriageReturns()
        guard text.unicodeScalars.allSatisfy({ isMultiline ? $0.isAllowedInLines : $0.isAllowedInLine }),
            text.isStreamSafe
        else { throw Refusals(field, .badCharacters) }
        let canonical = text.normalised().trimmingWhiteSpace()
        guard canonical.isEmpty || canonical.unicodeScalars.contains(where: \.isVisible) else {
            throw Refusals(field, .badCharacters)
        }
        let length = canonical.unicodeScalars.count
        if length < Swift.max(min, 1) {
            throw Refusals(field, .tooShort, ["min": .integer(Swift.max(min, 1)), "actual": .integer(length)])
        }
        if length > max { throw Refusals(field, .tooLong, ["max": .integer(max), "actual": .integer(length)]) }
        if let pattern, !pattern.matches(whole: canonical) { throw Refusals(field, .badFormat) }
        return canonical
    }

    /// White space is trimmed, so white space alone counts as no answer.
    package func isBlank(_ answer: FieldAnswer) -> Bool {
        if case .json(.string(let text)) = answer { text.trimmingWhiteSpace().isEmpty } else { answer.isBlank }
    }

    package func rules(in language: Language) -> [JSON.Member] {
        [
            .init("min", .integer(min)), .init("max", .integer(max)),
            .init("lines", .string(isMultiline ? "many" : "one")),
        ] + (pattern.map { [.init("pattern", .string($0.text))] } ?? [])
    }

    package var template: String { isMultiline ? "field-textarea" : "field-input" }

    package var control: Control { Control(type: isMultiline ? "textarea" : "text", isCode: pattern != nil) }
    package var answerSchema: JSON { ["type": "string"] }
}

extension Unicode.Scalar {
    /// `White_Space` (Unicode). Looking up Unicode properties is slow, and most white space is ASCII.
    fileprivate var isWhiteSpace: Bool {
        isASCII ? value == 0x20 || (0x09...0x0D).contains(value) : properties.isWhitespace
    }
}

extension String {
    fileprivate var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    fileprivate func trimmingWhiteSpace() -> String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.isWhiteSpace }),
            let last = scalars.lastIndex(where: { !$0.isWhiteSpace })
        else { return "" }
        if first == startIndex, scalars.index(after: last) == endIndex { return self }
        return String(scalars[first...last])
    }

    /// CR LF becomes LF, because forms send both.
    fileprivate func withoutCarriageReturns() -> String {
        guard utf8.contains(0x0D) else { return self }
        var bytes = Array(utf8)
        var count = 0
        for index in bytes.indices where bytes[index] != 0x0D || index + 1 == bytes.count || bytes[index + 1] != 0x0A {
            bytes[count] = bytes[index]
            count += 1
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// True if at most thirty combining marks follow each other (UAX #15 §13). No language needs more, and sorting them
    /// takes quadratic time.
    fileprivate var isStreamSafe: Bool {
        if isASCII { return true }
        var run = 0
        for scalar in unicodeScalars {
            run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
            if run > 30 { return false }
        }
        return true
    }

    /// Unicode Normalization Form C.
    fileprivate func normalised() -> String {
        if isASCII { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        _withNFCCodeUnits { bytes.append($0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
