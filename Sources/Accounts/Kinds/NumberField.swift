/// A field for an integer between two bounds, which are themselves allowed.
package struct NumberField: FieldKind {
    package typealias Value = Int
    package static let name = "number"
    let min: Int
    let max: Int

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        // Not every client can represent integers beyond 2^53 exactly (RFC 8259 §6).
        let safe = -9_007_199_254_740_991...9_007_199_254_740_991
        min = try rules.integer("min", in: safe) ?? safe.lowerBound
        max = try rules.integer("max", in: safe) ?? safe.upperBound
        if min > max { throw rules.error("\"min\" must not be greater than \"max\"", at: "min") }
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> Int
    {
        guard case .json(.integer(let number)) = answer else {
            throw Refusals(field, .wrongType, ["expected": "integer"])
        }
        guard (min...max).contains(number) else {
            throw Refusals(field, .notAllowed, ["min": .integer(min), "max": .integer(max)])
        }
        return number
    }

    package func rules(in language: Language) -> [JSON.Member] {
        [.init("min", .integer(min)), .init("max", .integer(max))]
    }

    package var control: Control { Control(type: "number", inputMode: min < 0 ? nil : "numeric") }
    package var answerSchema: JSON { ["type": "integer", "minimum": .integer(min), "maximum": .integer(max)] }

    package func answer(inForm texts: [String]) -> JSON {
        Int(texts[0]).map(JSON.integer) ?? .string(texts[0])
    }
}
