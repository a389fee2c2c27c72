/// A field for a password. The answer is a ``Secret``. The draft stores only its hash (``PasswordHash``), and no
/// response shows the hash.
package struct PasswordField: FieldKind {
    package typealias Value = PasswordHash
    package typealias Input = SharedSecret
    package static let name = "password"
    package let policy: PasswordRules

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {
        // ``check(_:of:in:)`` allows a minimum below the usual one only together with a second factor.
        let min =
            try rules.integer("min", in: PasswordRules.minimumWithAuthenticator...64)
            ?? PasswordRules.minimumWithoutAuthenticator
        let max = try rules.integer("max", in: 64...256) ?? 256
        policy = PasswordRules(minimum: min, maximum: max)
    }

    /// Returns the password in canonical form. ``work(_:_:)`` hashes it.
    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> SharedSecret
    {
        guard case .secret(let typed) = answer else { throw Refusals(field, .wrongType, ["expected": "string"]) }
        guard typed.secret.count > 0 else { throw Refusals(field, .required) }
        let policy = policy(in: context)
        let canonical: SharedSecret
        do throws(Refusal) { canonical = try policy.canonical(typed, field: field) } catch { throw Refusals([error]) }
        let refusals = policy.refusals(of: canonical, field: field, context: context.contextWords)
        if !refusals.isEmpty { throw Refusals(refusals) }
        return canonical
    }

    func policy(in context: ValidationContext) -> PasswordRules {
        context.isPasswordOnlyFactor ? policy.ofOnlyFactor : policy
    }

    /// False if the rules require longer passwords now than when this one was set, or if the cost of its hash is
    /// below ``Argon2Parameters/floor``.
    package func isValid(_ value: PasswordHash, of field: FieldName, in context: ValidationContext) -> Bool {
        value.phc.parameters.meetsFloor && value.minimum >= policy(in: context).minimum
    }

    package func shown(_ value: PasswordHash, at place: DisplayContext) -> JSON { .isSet }

    package func rules(in language: Language) -> [JSON.Member] {
        [.init("min", .integer(policy.minimum)), .init("max", .integer(policy.maximum))]
    }

    package var takesSecret: Bool { true }
    package var dependsOnOtherAnswers: Bool { true }

    package var control: Control { Control(type: "password", autocomplete: "new-password") }
    package var answerSchema: JSON { ["type": "string", "format": "password", "writeOnly": true] }
    package func shownSchema(at place: DisplayContext) -> JSON { .isSetSchema }
}

/// The hash of a password.
package struct PasswordHash: StoredValue {
    package let phc: PHCString
    /// The minimum length, in Unicode scalars, that the rules required when the password was set. It is stored
    /// because the hash does not show the length of the password.
    package let minimum: Int
}

extension PasswordHash {
    package init?(json: JSON) {
        guard let phc = json["phc"]?.string.flatMap({ try? PHCString($0) }),
            case .integer(let minimum) = json["min"] ?? .integer(PasswordRules.minimumWithoutAuthenticator)
        else { return nil }
        self.init(phc: phc, minimum: minimum)
    }

    /// An object, and not a string, so that the hash is not shown if a later flow file gives the name of the field to a
    /// kind that shows texts.
    package var json: JSON {
        let minimum =
            minimum == PasswordRules.minimumWithoutAuthenticator ? [] : [JSON.Member("min", .integer(minimum))]
        return .object([JSON.Member("phc", .string(phc.rawValue))] + minimum)
    }
}

extension JSON {
    /// The JSON that clients get in place of a value that is not shown.
    static let isSet: JSON = ["set": true]
    static let isSetSchema = JSON.closedObject(["set": ["const": true]])

    /// The schema of an object with exactly these members.
    static func closedObject(_ members: JSON) -> JSON {
        guard case .object(let properties) = members else { return members }
        return [
            "type": "object", "properties": members, "required": .array(properties.map { .string($0.name) }),
            "additionalProperties": false,
        ]
    }
}

extension ValidationContext {
    /// The words that a password must not equal: values that identify the person, such as the username, and the name of
    /// the service.
    var contextWords: [String] {
        var words = [serviceName] + (values.subject?.words ?? [])
        for step in flow.steps {
            for field in step.fields { words += field.kind.contextWords(of: field.name, in: values) }
        }
        return words
    }
}
