import Accounts

/// A flow as clients and operators see it, in one language.
struct FlowDescription: Sendable {
    let flow: Flow
    let serviceName: String
    let language: Language

    var json: JSON {
        let steps = flow.steps.map { step -> JSON in
            .object(members(of: step) + [.init("fields", .array(step.fields.map { .object(members(of: $0)) }))])
        }
        return [
            "flow": .string(flow.id), "service": .string(serviceName), "language": .string(language.tag),
            "languages": .array(flow.languages.map { .string($0.tag) }), "steps": .array(steps),
        ]
    }

    func members(of step: Step) -> [JSON.Member] {
        [
            .init("name", .string(step.name.rawValue)), .init("title", .string(step.titles[language] ?? "")),
            .init("required", .bool(!step.isOptional)), .init("href", .string(step.href)),
        ]
    }

    func members(of field: Field) -> [JSON.Member] {
        var input: [JSON.Member] = [.init("type", .string(field.control.type))]
        if let token = field.control.autocomplete { input.append(.init("autocomplete", .string(token))) }
        if let mode = field.control.inputMode { input.append(.init("inputmode", .string(mode))) }
        return [
            .init("name", .string(field.name.rawValue)), .init("kind", .string(type(of: field.kind).name)),
            .init("label", .string(field.labels[language] ?? "")),
            .init("help", field.helps[language].map(JSON.string) ?? .null),
            .init("required", .bool(field.isRequired)), .init("rules", .object(field.kind.rules(in: language))),
            .init("input", .object(input)),
        ]
    }
}
