/// A password. It arrives as a secret, leaves this service only as the PHC string of its hash, and is never shown.
package struct PasswordField: FieldKind {
    package static let name = "password"
    package let policy: PasswordRules

    package init(rules: inout FlowEntry) throws(FlowFileError) {
        // That less is allowed beside a second factor only, the flow file sees to.
        let least = PasswordRules.minimumBesideAuthenticator
        let min = try rules.integer("min", in: least...64) ?? PasswordRules.minimumAlone
        let max = try rules.integer("max", in: 64...256) ?? 256
        policy = PasswordRules(minimum: min, maximum: max)
    }

    /// The canonical secret, which still has to be hashed.
    package func canonical(_ answer: JSON, of field: FieldName, in situation: Situation) throws(Refusals) -> JSON {
        switch answer {
        case .secret(let typed) where typed.secret.count > 0:
            let canonical: SharedSecret
            do throws(Refusal) {
                canonical = try policy.canonical(typed, field: field)
            } catch {
                throw Refusals([error])
            }
            let refusals = policy.refusals(of: canonical, field: field, context: situation.contextWords)
            if !refusals.isEmpty { throw Refusals(refusals) }
            return .secret(canonical)
        case .secret: throw Refusals(field, .required)
        default: throw Refusals(field, .wrongType, ["expected": "string"])
        }
    }

    package func holds(_ stored: JSON?, of field: FieldName, in situation: Situation) -> Bool {
        guard let hash = Self.hash(in: stored), hash.parameters.meetsFloor,
            case .integer(let minimum) = stored?["min"] ?? .integer(PasswordRules.minimumAlone)
        else { return false }
        return minimum >= policy.minimum
    }

    /// How a hash is stored: as no other kind of value is, so that a flow file which turns the password into a text can
    /// never show it as one. The length cannot be told any more, so the minimum that it had to have is kept, where that is
    /// not the usual one: a flow file that asks for more asks for another password.
    func stored(_ hash: PHCString) -> JSON {
        let minimum = policy.minimum == PasswordRules.minimumAlone ? [] : [JSON.Member("min", .integer(policy.minimum))]
        return .object([JSON.Member("phc", .string(hash.rawValue))] + minimum)
    }

    static func hash(in stored: JSON?) -> PHCString? {
        stored?["phc"]?.string.flatMap { try? PHCString($0) }
    }

    package func shown(_ stored: JSON, at place: DisplayContext) -> JSON { .isSet }

    package func rules(in language: Language) -> [JSON.Member] {
        [.init("min", .integer(policy.minimum)), .init("max", .integer(policy.maximum))]
    }

    package var takesSecret: Bool { true }
    package var dependsOnOtherAnswers: Bool { true }

    package var control: Control { Control(type: "password", autocomplete: "new-password") }
    package var answerSchema: JSON { ["type": "string", "format": "password", "writeOnly": true] }
    package func shownSchema(at place: DisplayContext) -> JSON { .isSetSchema }
}

extension JSON {
    /// What stands where a value is not shown.
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

extension Situation {
    /// What a password must not equal: everything that identifies the person, and the name of the service.
    var contextWords: [String] {
        var words = [serviceName]
        for step in flow.steps {
            for field in step.fields {
                if let value = values[field.name] { words += field.kind.contextWords(of: value) }
            }
        }
        return words
    }
}
