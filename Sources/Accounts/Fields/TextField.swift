internal import Foundation

/// Free text in NFC, without the white space around it; lengths are Unicode scalars.
package struct TextField: FieldKind {
    package static let name = "text"
    let min: Int
    let max: Int
    let isMultiline: Bool

    package init(rules: inout FlowEntry) throws(FlowFileError) {
        min = try rules.integer("min", in: 0...10_000) ?? 0
        max = try rules.integer("max", in: 1...10_000) ?? 500
        isMultiline = try rules.word("lines", among: ["one", "many"]) == "many"
        if min > max { throw rules.error("min is greater than max") }
    }

    package func canonical(_ answer: JSON, of field: FieldName, in situation: Situation) throws(Refusals) -> JSON {
        let typed = try answer.text(of: field)
        // One scalar stands for four at most before it is composed. What is longer is not looked at further: to put a run of
        // marks in order takes a time that grows with its square.
        let most = typed.trimmingCharacters(in: .whitespacesAndNewlines).unicodeScalars.count
        if most > 4 * max { throw Refusals(field, .tooLong, ["max": .integer(max), "actual": .integer(most)]) }
        let text = typed.replacing("\r\n", with: "\n")
        guard text.unicodeScalars.allSatisfy({ isMultiline ? $0.isAllowedInLines : $0.isAllowedInLine }) else {
            throw Refusals(field, .badCharacters)
        }
        let canonical = text.precomposedStringWithCanonicalMapping.trimmingCharacters(in: .whitespacesAndNewlines)
        let length = canonical.unicodeScalars.count
        if length < Swift.max(min, 1) {
            throw Refusals(field, .tooShort, ["min": .integer(Swift.max(min, 1)), "actual": .integer(length)])
        }
        if length > max { throw Refusals(field, .tooLong, ["max": .integer(max), "actual": .integer(length)]) }
        return .string(canonical)
    }

    package var rules: [JSON.Member] {
        [
            .init("min", .integer(min)), .init("max", .integer(max)),
            .init("lines", .string(isMultiline ? "many" : "one")),
        ]
    }
}
