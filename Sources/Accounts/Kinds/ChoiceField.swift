/// A field for which the person chooses one option of a list or, with `choose: several`, one or more of them. The
/// options that a person chooses together are stored without repetition, in the order of the flow file.
package struct ChoiceField: FieldKind {
    package typealias Value = Choice
    package static let name = "choice"

    package struct Option: Sendable {
        package let value: String
        package let labels: [Language: String]
    }

    package let options: [Option]
    package let isMultiple: Bool

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        var options: [Option] = []
        for var entry in try rules.entries("options") {
            let value = try entry.text("value")
            guard value.utf8.count <= 100, value.unicodeScalars.allSatisfy(\.isAllowedInLine) else {
                throw entry.error("\"value\" must be one line of at most 100 bytes", at: "value")
            }
            if options.contains(where: { $0.value == value }) {
                throw entry.error("an option \"\(value)\" already exists", at: "value")
            }
            options.append(Option(value: value, labels: try entry.texts("label")))
            try entry.finish()
        }
        self.options = options
        isMultiple = try rules.word("choose", among: ["one", "several"]) == "several"
    }

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> Choice
    {
        // Compares JSON strings, because `==` compares their bytes. Swift's `==` for strings treats canonically
        // equivalent strings as equal.
        let values = options.map { JSON.string($0.value) }
        guard isMultiple else {
            guard case .json(.string(let text)) = answer else {
                throw Refusals(field, .wrongType, ["expected": "string"])
            }
            guard values.contains(.string(text)) else { throw Refusals(field, .notAllowed) }
            return .one(text)
        }
        guard case .json(.array(let chosen)) = answer, chosen.allSatisfy({ $0.string != nil }) else {
            throw Refusals(field, .wrongType, ["expected": "array of strings"])
        }
        guard !chosen.isEmpty else { throw Refusals(field, .required) }
        // The maximum of 1000 bounds the time of the comparisons below.
        guard chosen.count <= 1000, chosen.allSatisfy(values.contains) else { throw Refusals(field, .notAllowed) }
        return .several(values.filter(chosen.contains).compactMap(\.string))
    }

    /// Accepts the chosen options in any order, because an earlier flow file may have listed the options in another
    /// order.
    package func isValid(_ value: Choice, of field: FieldName, in context: ValidationContext) -> Bool {
        // Compares JSON strings, because `==` compares their bytes. Swift's `==` for strings treats canonically
        // equivalent strings as equal.
        let values = options.map { JSON.string($0.value) }
        switch value {
        case .one(let chosen): return !isMultiple && values.contains(.string(chosen))
        case .several(let chosen):
            let chosen = chosen.map(JSON.string)
            return isMultiple && !chosen.isEmpty && Set(chosen).count == chosen.count
                && Set(chosen).isSubset(of: values)
        }
    }

    /// Returns nil if the field has no value, or if its value was stored under a flow file with another `choose`.
    package func shown(_ field: Field, in draft: Draft, at place: DisplayContext) -> JSON? {
        switch value(in: draft.values, of: field.name) {
        case .one(let chosen)? where !isMultiple: chosen.json
        case .several(let chosen)? where isMultiple: .array(chosen.map(JSON.string))
        default: nil
        }
    }

    package func rules(in language: Language) -> [JSON.Member] {
        let optionList = options.map { option -> JSON in
            ["value": .string(option.value), "label": .string(label(of: option, in: language))]
        }
        return [.init("choose", .string(isMultiple ? "several" : "one")), .init("options", .array(optionList))]
    }

    package var control: Control { Control(type: isMultiple ? "checkbox" : "select") }

    package var answerSchema: JSON {
        let optionSchema: JSON = ["type": "string", "enum": .array(options.map { .string($0.value) })]
        return isMultiple ? ["type": "array", "items": optionSchema] : optionSchema
    }

    package func shownSchema(at place: DisplayContext) -> JSON {
        isMultiple ? ["type": "array", "items": ["type": "string"]] : ["type": "string"]
    }

    package var takesSeveral: Bool { isMultiple }

    /// Hides all letters, because the first letter of an option could reveal which option it is.
    package func masked(_ value: Choice) -> String { "•••" }

    package var template: String { isMultiple ? "field-checkboxes" : "field-select" }

    package func templateMembers(_ form: FormField) -> [JSON.Member] {
        let chosen: [JSON] = if case .array(let values) = form.value { values } else { [form.value] }
        let options = options.map { option -> JSON in
            let value = JSON.string(option.value)
            return [
                "value": value, "label": .string(label(of: option, in: form.language)),
                "is_chosen": .bool(chosen.contains(value)),
            ]
        }
        return [.init("options", .array(options))]
    }

    package func reviewText(_ shown: JSON, in language: Language) -> String {
        let chosen: [JSON] = if case .array(let values) = shown { values } else { [shown] }
        return chosen.compactMap { value in
            guard let text = value.string else { return nil }
            // Compares JSON strings, because `==` compares their bytes. Swift's `==` for strings treats canonically
            // equivalent strings as equal.
            return options.first { .string($0.value) == value }.map { label(of: $0, in: language) } ?? text
        }.joined(separator: ", ")
    }

    private func label(of option: Option, in language: Language) -> String { option.labels[language] ?? option.value }

    package func answer(inForm texts: [String]) -> JSON {
        isMultiple ? .array(texts.map(JSON.string)) : .string(texts[0])
    }
}

/// The value of a ``ChoiceField``: the chosen option or, if the field takes several, all chosen options.
package enum Choice: StoredValue {
    case one(String)
    case several([String])

    package init?(json: JSON) {
        switch json {
        case .string(let chosen): self = .one(chosen)
        case .array(let chosen):
            let texts = chosen.compactMap(\.string)
            guard texts.count == chosen.count else { return nil }
            self = .several(texts)
        default: return nil
        }
    }

    package var json: JSON {
        switch self {
        case .one(let chosen): .string(chosen)
        case .several(let chosen): .array(chosen.map(JSON.string))
        }
    }
}
