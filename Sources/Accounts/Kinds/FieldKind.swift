package import Foundation

/// One kind of value: its canonical form, its rules, and how it is described and shown. The same code validates an
/// answer and a stored value, describes the field to clients, and validates everything again before the commit.
package protocol FieldKind: FieldBehavior {
    /// The name of the kind in the flow file.
    static var name: String { get }

    /// Reads the rules of this kind from the field's entry in the flow file.
    init(rules: inout FlowEntry) throws(FlowFileError)

    /// Validates an answer and returns its canonical form. Refuses an empty answer as `required`; an empty answer to an
    /// optional field is not passed to this function.
    func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals) -> Input

    /// The value of a valid answer; nil if it must be computed from the answer first, such as the hash of a password.
    func value(of input: Input) -> Value?

    /// Whether a stored value satisfies the rules of this flow.
    func isValid(_ value: Value, of field: FieldName, in context: ValidationContext) -> Bool

    /// Whether the field is complete; by default, whether it has a valid value.
    func holds(_ field: FieldName, in context: ValidationContext) -> Bool

    /// How the holder of the draft sees the value.
    func shown(_ value: Value, at place: DisplayContext) -> JSON

    /// The value as people write it, if that differs from the canonical form. It is accepted as an answer, too.
    func written(_ value: Value) -> String?

    /// The rules as clients see them, with the texts in that language.
    func rules(in language: Language) -> [JSON.Member]

    /// The form control that asks for the value.
    var control: Control { get }

    /// An answer that is not empty, as JSON Schema (2020-12). The schema may be less strict than the rules, never
    /// stricter.
    var answerSchema: JSON { get }

    /// The JSON Schema of what `shown` returns.
    func shownSchema(at place: DisplayContext) -> JSON

    /// What the messages about refused answers name. By default, the topic with the name of the kind.
    var topic: RefusalTopic { get }

    /// Converts the texts of a form to an answer: at least one text, and several only if the kind `takesSeveral`.
    func answer(inForm texts: [String]) -> JSON

    /// True if the answer counts as no answer.
    func isBlank(_ answer: FieldAnswer) -> Bool

    /// True if a form may contain the field more than once.
    var takesSeveral: Bool { get }

    /// The words that a password must not equal once this value is known.
    func contextWords(of value: Value) -> [String]

    /// True if a submission without an answer leaves the value as it is.
    var isKeptUnlessReplaced: Bool { get }
}

extension FieldKind {
    package func value(of input: Input) -> Value? { nil }

    package func holds(_ field: FieldName, in context: ValidationContext) -> Bool {
        guard let value = value(in: context.values, of: field) else { return false }
        return context.hasValidValues || isValid(value, of: field, in: context)
    }

    package func shown(_ value: Value, at place: DisplayContext) -> JSON { value.json }
    package func written(_ value: Value) -> String? { nil }
    package func rules(in language: Language) -> [JSON.Member] { [] }
    /// A value that was stored under another flow file may violate the rules of this one, so only its type is
    /// certain.
    package func shownSchema(at place: DisplayContext) -> JSON { ["type": answerSchema["type"] ?? "string"] }
    package func answer(inForm texts: [String]) -> JSON { .string(texts[0]) }
    package func isBlank(_ answer: FieldAnswer) -> Bool { answer.isBlank }
    package var topic: RefusalTopic { RefusalTopic(rawValue: Self.name) ?? .other }
    package var takesSeveral: Bool { false }
    package func contextWords(of value: Value) -> [String] { [] }
    package var isKeptUnlessReplaced: Bool { false }
}

extension FieldKind where Input == Value {
    package func value(of input: Input) -> Value? { input }

    package func isValid(_ value: Value, of field: FieldName, in context: ValidationContext) -> Bool {
        (try? parse(.json(value.json), of: field, in: context))?.json == value.json
    }
}

extension FieldKind where Value == Never {
    package func isValid(_ value: Never, of field: FieldName, in context: ValidationContext) -> Bool {}
}

/// Members for callers that do not know the type of a field's value.
extension FieldKind {
    /// True if nothing is stored under the name of the field.
    package var keepsNothing: Bool { Value.self == Never.self }

    /// Returns nil if the JSON is not a value of this kind.
    func value(json: JSON) -> (any StoredValue)? { Value(json: json) }

    /// The field's value; nil if the field has no value of this kind.
    func value(in values: Values, of field: FieldName) -> Value? { values[field] as? Value }

    func contextWords(of field: FieldName, in values: Values) -> [String] {
        value(in: values, of: field).map(contextWords) ?? []
    }

    func written(in values: Values, of field: FieldName) -> String? { value(in: values, of: field).flatMap(written) }

    /// The value of that JSON as people write it; nil if that is its canonical form, or if it is not a value of this
    /// kind.
    package func written(json: JSON) -> String? { Value(json: json).flatMap(written) }

    /// The value of that JSON as commands show it by default; nil if it is not a value of this kind.
    package func masked(json: JSON) -> String? { Value(json: json).map(masked) }

    /// The value of that JSON as commands show it with `--reveal`; nil if it is not a value of this kind.
    package func revealed(json: JSON) -> String? { Value(json: json).map(revealed) }

    /// The refusals of the value that the field has.
    func refusals(of field: FieldName, in context: ValidationContext) -> [Refusal] {
        guard let json = context.values.json(of: field) else { return [] }
        do throws(Refusals) {
            _ = try parse(.json(json), of: field, in: context)
            return []
        } catch {
            return error.all
        }
    }
}

/// Where the holder of a draft sees a value: in the overview between steps, in its own step, or at the review.
package enum DisplayContext: Sendable {
    case draft, step, review
}

/// What a field may use to validate an answer.
package struct ValidationContext: Sendable {
    package let flow: Flow
    /// The time of the database.
    package let now: Date
    package let language: Language
    package let serviceName: String
    package var values: Values
    package var proofs: [FieldName: Proof]
    /// All answers of this submission, before validation.
    package var answers = Answers()
    /// True if the account has no second factor, so that its password must be longer (NIST SP 800-63B-4 §3.1.1.2).
    package var isPasswordOnlyFactor = false
    /// True if every value was validated under this exact flow, so that no value has to be validated again.
    package var hasValidValues = false

    /// A copy in which every value is validated again.
    var validatingAll: ValidationContext {
        var copy = self
        copy.hasValidValues = false
        return copy
    }
}

/// The refusals of one answer, at least one.
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
