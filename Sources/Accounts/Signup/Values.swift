/// The contents of a draft: the values of its fields, the steps that were answered, even if only with an empty answer,
/// the account that it will change, and where the person goes after the commit.
package struct Values: Sendable {
    private enum Entry: Sendable {
        case value(any StoredValue)
        /// JSON that is not decoded yet, or that this flow cannot decode, because it has no such field or a field of
        /// another kind.
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
    /// Steps that were answered, and then were cleared or lost a credential. A step that is also in ``answered`` was
    /// answered again.
    private var emptied: Set<StepName> = []
    /// The digest of the flow if, at the latest validation, every value was valid under that flow; otherwise nil.
    package var validFlow: String?
    /// The account that the draft will change; nil for a sign-up, and in a recovery until the person has proved an
    /// address of an account.
    package var subject: Subject?
    /// The authorization request with which the person goes on after the commit, unless the draft has moved to another
    /// device since; nil if there is none.
    package var authorization: DraftAuthorization?
    /// The URL to which the person returns after the commit, if its host is still in the setting `FORWARD_AUTH_HOSTS`;
    /// nil if there is none.
    package var returnURL: String?

    /// An account that a draft will change.
    package struct Subject: Hashable, Sendable {
        package let account: ID<Account>
        /// The value of `credentials_version` when the draft got this subject. If the account has another version by
        /// the commit, the commit does not take effect and the draft ends.
        let credentialsVersion: Int
        /// Whether the person must prove a second factor in the draft.
        var needsSecondFactor = false
        /// The values of the account that its new password must not equal, besides the values of the draft.
        var words: [String] = []
        /// The session in which a change of the address was started; nil in a recovery.
        var session: ID<AccountSession>?
    }

    package init() {}

    /// The fields hold JSON until ``decode(in:)``.
    init(undecoded fields: [JSON.Member]) {
        for field in fields { entries[FieldName(field.name)] = .other(field.value) }
    }

    /// The value of the field; nil if the field has none, or holds JSON that is not a value of its kind.
    package subscript(field: FieldName) -> (any StoredValue)? {
        get { if case .value(let value) = entries[field] { value } else { nil } }
        set { entries[field] = newValue.map(Entry.value) }
    }

    /// Whether the field holds anything, including JSON that is not a value of its kind.
    package func contains(_ field: FieldName) -> Bool { entries[field] != nil }

    package func json(of field: FieldName) -> JSON? { entries[field]?.json }

    /// Whether the step was ever answered.
    func hasSeen(_ step: StepName) -> Bool { answered.contains(step) || emptied.contains(step) }

    mutating func markEmptied(_ step: StepName) {
        if answered.remove(step) != nil { emptied.insert(step) }
    }

    package var fields: [FieldName] { entries.keys.sorted() }

    /// The plaintext for encryption: `{"fields":{…},"answered":[…]}`, with optional members `"emptied":[…]`,
    /// `"valid":"…"`, `"subject":{…}`, `"authorization":{…}` and `"return_to":"…"`.
    package var sealable: [UInt8] {
        func list(_ steps: Set<StepName>) -> JSON { .array(steps.sorted().map { .string($0.rawValue) }) }
        var members: [JSON.Member] = [
            .init("fields", .object(fields.map { .init($0.rawValue, entries[$0]!.json) })),
            .init("answered", list(answered)),
        ]
        let emptied = emptied.subtracting(answered)
        if !emptied.isEmpty { members.append(.init("emptied", list(emptied))) }
        if let validFlow { members.append(.init("valid", .string(validFlow))) }
        if let subject { members.append(.init("subject", subject.json)) }
        if let authorization { members.append(.init("authorization", authorization.json)) }
        if let returnURL { members.append(.init("return_to", .string(returnURL))) }
        return JSON.object(members).bytes
    }

    /// Reads the result of ``sealable``. Returns nil if `fields` or `answered` cannot be read. The fields hold JSON
    /// until ``decode(in:)``.
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
        subject = json["subject"].flatMap { Subject(json: $0) }
        authorization = json["authorization"].flatMap { DraftAuthorization(json: $0) }
        returnURL = json["return_to"]?.string
    }

    /// Decodes the JSON of each field into a value of the field's kind. JSON that cannot be decoded stays as it is.
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

extension Values.Subject {
    fileprivate init?(json: JSON) {
        guard let account = json["account"]?.string.flatMap({ ID<Account>($0) }) else { return nil }
        guard case .integer(let version)? = json["version"] else { return nil }
        self.account = account
        credentialsVersion = version
        needsSecondFactor = json["second_factor"] == true
        session = json["session"]?.string.flatMap { ID<AccountSession>($0) }
        if case .array(let words)? = json["words"] { self.words = words.compactMap(\.string) }
    }

    fileprivate var json: JSON {
        let session: [JSON.Member] = session.map { [.init("session", .string("\($0)"))] } ?? []
        return .object(
            [
                .init("account", .string("\(account)")), .init("version", .integer(credentialsVersion)),
                .init("second_factor", .bool(needsSecondFactor)),
                .init("words", .array(words.map(JSON.string))),
            ] + session
        )
    }
}

extension Values: Equatable {
    /// Compares the stored values byte by byte. Ignores ``validFlow``.
    package static func == (left: Values, right: Values) -> Bool {
        left.answered == right.answered && left.emptied == right.emptied && left.subject == right.subject
            && left.authorization == right.authorization && left.returnURL == right.returnURL
            && left.entries.mapValues(\.json) == right.entries.mapValues(\.json)
    }
}
