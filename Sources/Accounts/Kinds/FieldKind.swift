package import Foundation

/// One kind of value: its canonical form, its rules, and how it is told and shown. The same engine validates a step,
/// judges what is stored, describes itself to clients, and validates again before the commit.
package protocol FieldKind: FieldBehavior {
    /// The word for it in the flow file.
    static var name: String { get }

    /// Reads the rules of this kind from the field's entry in the flow file.
    init(rules: inout FlowEntry) throws(FlowFileError)

    /// The one canonical form of an answer. An empty answer is `required`; it does not get here where it may be empty.
    func canonical(_ answer: JSON, of field: FieldName, in situation: Situation) throws(Refusals) -> JSON

    /// True if what is stored still obeys the rules.
    func holds(_ stored: JSON?, of field: FieldName, in situation: Situation) -> Bool

    /// How the holder of the draft sees the value.
    func shown(_ stored: JSON, at place: DisplayContext) -> JSON

    /// How people write the value, where that is another form than the canonical one; it is accepted as an answer, too.
    func written(_ stored: JSON) -> String?

    /// The rules as clients see them, with the texts in that language.
    func rules(in language: Language) -> [JSON.Member]

    /// Which control of a form asks for it.
    var control: Control { get }

    /// What an answer may be where it is one, as JSON Schema (2020-12). It may say less than the rules, never more.
    var answerSchema: JSON { get }

    /// What `shown` gives, as JSON Schema.
    func shownSchema(at place: DisplayContext) -> JSON

    /// The answer that the texts of a form mean, of which there is at least one, and several only where it `takesSeveral`.
    func answer(inForm texts: [String]) -> JSON

    /// True for what counts as no answer.
    func isBlank(_ answer: JSON) -> Bool

    /// True where a form may give the field more than once.
    var takesSeveral: Bool { get }

    /// The words that a password must not equal once this value is known.
    func contextWords(of stored: JSON) -> [String]

    /// True where the answer is not kept as it was given.
    var isTransient: Bool { get }

    /// True where no answer leaves what is there as it is.
    var isKeptUnlessReplaced: Bool { get }
}

extension FieldKind {
    package func holds(_ stored: JSON?, of field: FieldName, in situation: Situation) -> Bool {
        guard let stored, let canonical = try? canonical(stored, of: field, in: situation) else { return false }
        return canonical == stored
    }

    package func shown(_ stored: JSON, at place: DisplayContext) -> JSON { stored }
    package func written(_ stored: JSON) -> String? { nil }
    package func rules(in language: Language) -> [JSON.Member] { [] }
    /// What was stored under another flow file need not obey the rules of this one, so only the type is sure.
    package func shownSchema(at place: DisplayContext) -> JSON { ["type": answerSchema["type"] ?? "string"] }
    package func answer(inForm texts: [String]) -> JSON { .string(texts[0]) }
    package func isBlank(_ answer: JSON) -> Bool { answer.isBlank }
    package var takesSeveral: Bool { false }
    package func contextWords(of stored: JSON) -> [String] { [] }
    package var isTransient: Bool { false }
    package var isKeptUnlessReplaced: Bool { false }
}

/// Where the holder of a draft looks at a value: among all of them between steps, in its own step, or at the end.
package enum DisplayContext: Sendable {
    case draft, step, review
}

/// What a field may look at while it judges an answer.
package struct Situation: Sendable {
    package let flow: Flow
    /// The database's clock.
    package let now: Date
    package let language: Language
    package let serviceName: String
    package var values: Values
    package var proofs: [FieldName: Proof]
    /// All answers of this submission, as they came.
    package var answers: JSON = .object([])
}

/// All that is wrong with an answer, at least one thing.
package struct Refusals: Error, Sendable {
    package let all: [Refusal]

    package init(_ all: [Refusal]) {
        precondition(!all.isEmpty, "a refusal has a reason")
        self.all = all
    }

    package init(_ field: FieldName, _ code: Refusal.Code, _ params: [String: JSON] = [:]) {
        all = [Refusal(field, code, params)]
    }
}

extension JSON {
    /// The text of an answer, or the refusal of anything else.
    func text(of field: FieldName) throws(Refusals) -> String {
        guard case .string(let text) = self else { throw Refusals(field, .wrongType, ["expected": "string"]) }
        guard !text.isEmpty else { throw Refusals(field, .required) }
        return text
    }

    /// True for what counts as no answer: nothing, null, an empty text or list.
    package var isBlank: Bool {
        switch self {
        case .null: true
        case .string(let text): text.isEmpty
        case .secret(let shared): shared.secret.count == 0
        case .file(let file): file.bytes.isEmpty
        case .array(let items): items.isEmpty
        default: false
        }
    }
}
