import Accounts
import HTTPTypes

extension Pages {
    /// Everything so far, in words, with a way back to each step.
    ///
    /// - Parameter shown: the review as programs see it.
    func review(_ shown: JSON, of draft: Draft?, after problem: Problem? = nil, in language: Language) -> Page {
        let missing: [JSON] = if case .array(let names) = shown["missing"] { names } else { [] }
        let states: [JSON] = if case .array(let states) = shown["steps"] { states } else { [] }
        let steps = zip(signups.flow.steps, states).map { step, summary -> JSON in
            let fields = step.fields.filter { !($0.kind is ConfirmationField) }.map { field -> JSON in
                let value = shown["values"]?[field.name.rawValue]
                let hasPicture = field.kind is ImageField && value != nil
                return [
                    "label": .string(field.labels[language] ?? ""),
                    "text": .string(text(of: value, in: field, language)),
                    "picture": hasPicture ? .string("\(step.href)/\(field.name)") : .null,
                    "is_missing": .bool(missing.contains(.string(field.name.rawValue))),
                ]
            }
            return [
                "title": .string(step.titles[language] ?? ""), "href": .string(step.href), "fields": .array(fields),
                "is_open": .bool(summary["state"] != "locked"),
            ]
        }
        return Page(
            template: .review,
            title: language.messages.text(.review),
            status: problem?.slug.status ?? .ok,
            headers: problem?.headers ?? [:],
            notice: problem?.notice(in: language),
            members: [
                .init("steps", .array(steps)), .init("is_ready", .bool(shown["state"] == "ready")),
                .init("back", .string(signups.flow.steps.last?.href ?? "/signup")),
            ]
        )
    }

    private func text(of value: JSON?, in field: Field, _ language: Language) -> String {
        let messages = language.messages
        switch (field.kind, value) {
        case (_, nil), (_, .null): return messages.text(.nothing)
        case (is CodeField, _): return messages.text(.confirmed)
        case (is ImageField, _): return messages.text(.yourPicture)
        case (is PasswordField, _), (is TOTPField, _): return messages.text(.isSet)
        case (is ConsentField, let value?):
            return messages.text(value["accepted"] == true ? .accepted : .notAccepted)
        case (let choice as ChoiceField, let value?):
            let values: [JSON] = if case .array(let values) = value { values } else { [value] }
            return values.compactMap { $0.string }.map { label(of: $0, choice, language) }.joined(separator: ", ")
        case (is DateField, .string(let text)):
            // Under another flow file it may have been another text.
            let parts = text.split(separator: "-").compactMap { Int($0) }
            let date = parts.count == 3 ? CivilDate(year: parts[0], month: parts[1], day: parts[2]) : nil
            return date.map(messages.text) ?? text
        case (_, .integer(let number)): return "\(number)"
        case (_, let value?): return value.string ?? ""
        }
    }

    private func label(of value: String, _ choice: ChoiceField, _ language: Language) -> String {
        choice.options.first { JSON.string($0.value) == .string(value) }?.labels[language] ?? value
    }
}
