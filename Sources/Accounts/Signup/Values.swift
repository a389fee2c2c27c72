/// What a draft holds: one canonical value a field, and which steps were answered, if only with nothing.
package struct Values: Hashable, Sendable {
    private var byField: [FieldName: JSON] = [:]
    package var answered: Set<StepName> = []

    package init() {}

    package subscript(field: FieldName) -> JSON? {
        get { byField[field] }
        set { byField[field] = newValue }
    }

    package var fields: [FieldName] { byField.keys.sorted() }

    /// The form that is sealed: `{"fields":{…},"answered":[…]}`.
    package var sealable: [UInt8] {
        let fields = fields.map { JSON.Member($0.rawValue, byField[$0]!) }
        let answered = answered.sorted().map { JSON.string($0.rawValue) }
        return JSON.object([.init("fields", .object(fields)), .init("answered", .array(answered))]).bytes
    }

    /// Nil for bytes that ``sealable`` never made.
    package init?(sealable bytes: [UInt8]) {
        guard let json = try? JSON.read(bytes), case .object(let fields)? = json["fields"],
            case .array(let answered)? = json["answered"]
        else { return nil }
        for field in fields { byField[FieldName(field.name)] = field.value }
        for case .string(let step) in answered { self.answered.insert(StepName(step)) }
    }
}
