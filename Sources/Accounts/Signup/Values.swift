/// What a draft holds: one value a field, and which steps were answered, if only with nothing.
package struct Values: Sendable {
    private enum Entry: Sendable {
        case value(any StoredValue)
        /// JSON that is not decoded yet, or is no value of the field's kind because the flow file has changed since.
        case other(JSON)

        var json: JSON {
            switch self {
            case .value(let value): value.json
            case .other(let json): json
            }
        }
    }

    private var entries: [FieldName: Entry] = [:]
    package var answered: Set<StepName> = []
    /// Steps that were answered once and are empty again.
    private var emptied: Set<StepName> = []
    /// The digest of the flow that every value is known to be valid under; nil if there is none.
    package var validFlow: String?

    package init() {}

    /// The fields hold JSON until ``decode(in:)``.
    init(undecoded fields: [JSON.Member]) {
        for field in fields { entries[FieldName(field.name)] = .other(field.value) }
    }

    /// Nil also if the field holds JSON that is no value of its kind.
    package subscript(field: FieldName) -> (any StoredValue)? {
        get { if case .value(let value) = entries[field] { value } else { nil } }
        set { entries[field] = newValue.map(Entry.value) }
    }

    /// Whether the field holds anything, even what is no value of its kind.
    package func contains(_ field: FieldName) -> Bool { entries[field] != nil }

    package func json(of field: FieldName) -> JSON? { entries[field]?.json }

    /// Whether the step was ever answered.
    func hasSeen(_ step: StepName) -> Bool { answered.contains(step) || emptied.contains(step) }

    mutating func empty(_ step: StepName) {
        if answered.remove(step) != nil { emptied.insert(step) }
    }

    package var fields: [FieldName] { entries.keys.sorted() }

    /// The form that is sealed: `{"fields":{…},"answered":[…]}`, with `"emptied":[…]` and `"valid":"…"` where there are any.
    package var sealable: [UInt8] {
        func list(_ steps: Set<StepName>) -> JSON { .array(steps.sorted().map { .string($0.rawValue) }) }
        var members: [JSON.Member] = [
            .init("fields", .object(fields.map { .init($0.rawValue, entries[$0]!.json) })),
            .init("answered", list(answered)),
        ]
        let emptied = emptied.subtracting(answered)
        if !emptied.isEmpty { members.append(.init("emptied", list(emptied))) }
        if let validFlow { members.append(.init("valid", .string(validFlow))) }
        return JSON.object(members).bytes
    }

    /// Reads what ``sealable`` made; nil for any other bytes. The fields hold JSON until ``decode(in:)``.
    package init?(sealable bytes: [UInt8]) {
        guard let json = try? JSON.read(bytes), case .object(let fields)? = json["fields"],
            case .array(let answered)? = json["answered"]
        else { return nil }
        self.init(undecoded: fields)
        for case .string(let step) in answered { self.answered.insert(StepName(step)) }
        if case .array(let emptied)? = json["emptied"] {
            for case .string(let step) in emptied { self.emptied.insert(StepName(step)) }
        }
        validFlow = json["valid"]?.string
    }

    /// Makes values of the JSON, each of its field's kind.
    package mutating func decode(in flow: Flow) {
        for (name, entry) in entries {
            guard let field = flow.field(named: name), let value = field.kind.value(json: entry.json) else {
                entries[name] = .other(entry.json)
                continue
            }
            entries[name] = .value(value)
        }
    }
}

extension Values: Equatable {
    /// Whether both hold the same, byte by byte.
    package static func == (left: Values, right: Values) -> Bool {
        left.answered == right.answered && left.emptied == right.emptied
            && left.entries.mapValues(\.json) == right.entries.mapValues(\.json)
    }
}
