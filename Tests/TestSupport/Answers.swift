package import Accounts

extension Answers: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (FieldName, FieldAnswer)...) {
        self.init(elements.map { Member($0.0, $0.1) })
    }

    /// Creates answers from the members of a JSON object.
    package init(_ json: JSON) {
        guard case .object(let members) = json else { preconditionFailure("answers must be an object") }
        self.init(members.map { Member(FieldName($0.name), .json($0.value)) })
    }

    /// All answers as JSON. None of them may be a secret or a file.
    package var json: JSON {
        .object(
            members.map { member in
                guard let json = member.answer.json else { preconditionFailure("\(member.name) is not JSON") }
                return JSON.Member(member.name.rawValue, json)
            }
        )
    }
}

extension FieldAnswer: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .json(.string(value)) }
    package init(integerLiteral value: Int) { self = .json(.integer(value)) }
    package init(booleanLiteral value: Bool) { self = .json(.bool(value)) }
    package init(arrayLiteral elements: JSON...) { self = .json(.array(elements)) }
    package init(dictionaryLiteral members: (String, JSON)...) {
        self = .json(.object(members.map { JSON.Member($0.0, $0.1) }))
    }
    package init(nilLiteral: ()) { self = .json(.null) }

    package static func string(_ text: String) -> FieldAnswer { .json(.string(text)) }
    package static func bool(_ value: Bool) -> FieldAnswer { .json(.bool(value)) }
    package static func number(_ number: Double) -> FieldAnswer { .json(.number(number)) }

    /// A secret answer, like a password that was read from a request.
    package static func password(_ text: String) -> FieldAnswer {
        .secret(
            SharedSecret(
                Secret(capacity: text.utf8.count) { room in
                    room.copyBytes(from: text.utf8)
                    return text.utf8.count
                }
            )
        )
    }
}
