/// What a draft holds: one canonical value a field, and which steps were answered, if only with nothing.
package struct Values: Hashable, Sendable {
    private var byField: [FieldName: JSON] = [:]
    package var answered: Set<StepName> = []
    /// Steps that were answered once and are empty again.
    private var emptied: Set<StepName> = []

    package init() {}

    package subscript(field: FieldName) -> JSON? {
        get { byField[field] }
        set { byField[field] = newValue }
    }

    /// Whether the step was ever answered.
    func hasSeen(_ step: StepName) -> Bool { answered.contains(step) || emptied.contains(step) }

    mutating func empty(_ step: StepName) {
        if answered.remove(step) != nil { emptied.insert(step) }
    }

    package var fields: [FieldName] { byField.keys.sorted() }

    /// The form that is sealed: `{"fields":{…},"answered":[…]}`, and `"emptied":[…]` where there are any.
    package var sealable: [UInt8] {
        let fields = fields.map { JSON.Member($0.rawValue, byField[$0]!) }
        func list(_ steps: Set<StepName>) -> JSON { .array(steps.sorted().map { .string($0.rawValue) }) }
        let emptied = emptied.subtracting(answered)
        return JSON.object(
            [.init("fields", .object(fields)), .init("answered", list(answered))]
                + (emptied.isEmpty ? [] : [.init("emptied", list(emptied))])
        ).bytes
    }

    /// Nil for bytes that ``sealable`` never made.
    package init?(sealable bytes: [UInt8]) {
        guard let json = try? JSON.read(bytes), case .object(let fields)? = json["fields"],
            case .array(let answered)? = json["answered"]
        else { return nil }
        for field in fields { byField[FieldName(field.name)] = field.value }
        for case .string(let step) in answered { self.answered.insert(StepName(step)) }
        guard case .array(let emptied)? = json["emptied"] else { return }
        for case .string(let step) in emptied { self.emptied.insert(StepName(step)) }
    }
}
