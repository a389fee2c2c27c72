/// The answers of one request by field name, in the order of the body. They have not been validated yet.
package struct Answers: Sendable {
    package struct Member: Sendable {
        package let name: FieldName
        package let answer: FieldAnswer

        package init(_ name: FieldName, _ answer: FieldAnswer) {
            (self.name, self.answer) = (name, answer)
        }
    }

    package let members: [Member]

    package init(_ members: [Member] = []) {
        self.members = members
    }

    /// The answer to the field; nil if the request does not contain the field.
    package subscript(field: FieldName) -> FieldAnswer? { members.first { $0.name == field }?.answer }

    package func without(_ name: FieldName) -> Answers { Answers(members.filter { $0.name != name }) }
}

/// The answer of a request to one field.
package enum FieldAnswer: Sendable {
    case json(JSON)
    /// A secret text, such as a password. It never becomes a `String`, which could not be wiped from memory.
    case secret(SharedSecret)
    /// An uploaded file.
    case file(UploadedFile)

    /// The answer as JSON; nil for a secret or a file.
    package var json: JSON? { if case .json(let json) = self { json } else { nil } }

    /// True if the answer counts as no answer: null, an empty text, an empty list, or an empty file.
    package var isBlank: Bool {
        switch self {
        case .json(.null): true
        case .json(.string(let text)): text.isEmpty
        case .json(.array(let items)): items.isEmpty
        case .json: false
        case .secret(let shared): shared.secret.count == 0
        case .file(let file): file.bytes.isEmpty
        }
    }

    /// Returns the text of the answer. Throws `required` if the text is empty, and `wrong_type` if the answer is not a
    /// JSON string.
    func text(of field: FieldName) throws(Refusals) -> String {
        guard case .json(.string(let text)) = self else {
            throw Refusals(field, .wrongType, ["expected": "string"])
        }
        guard !text.isEmpty else { throw Refusals(field, .required) }
        return text
    }
}

/// A file that was uploaded in a form, or as the body of a request. The file name is not kept.
package final class UploadedFile: Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

extension Step {
    /// Converts the texts of a form to the JSON that the kinds of the step's fields expect. Removes empty texts,
    /// because browsers send an empty text for an empty control; a field whose texts are all empty gets null.
    package func answers(inForm form: Answers) -> Answers {
        Answers(
            form.members.map { member in
                guard let field = field(named: member.name), case .json(let json) = member.answer else { return member }
                let texts: [String]
                switch json {
                case .string(let text): texts = [text]
                case .array(let several): texts = several.compactMap(\.string)
                default: return member
                }
                let filled = texts.filter { !$0.isEmpty }
                return Answers.Member(member.name, .json(filled.isEmpty ? .null : field.kind.answer(inForm: filled)))
            }
        )
    }

    /// The names of the fields that a form may contain more than once.
    package var repeatableNames: Set<String> { Set(fields.filter(\.kind.takesSeveral).map(\.name.rawValue)) }
}
