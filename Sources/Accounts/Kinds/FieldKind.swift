package import Foundation

/// One kind of value: its canonical form, its rules, and how it is told and shown. The same engine validates a step,
/// judges what is stored, describes itself to clients, and validates again before the commit.
package protocol FieldKind: FieldBehavior {
    /// The word for it in the flow file.
    static var name: String { get }

    /// Reads the rules of this kind from the field's entry in the flow file.
    init(rules: inout FlowEntry) throws(FlowFileError)

    /// Validates an answer, and gives it its one canonical form. An empty answer is `required`; where a field may be left
    /// empty, an empty answer does not get here.
    func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals) -> Input

    /// The value that a valid answer is; nil if a value has yet to be made of it, as a hash of a password.
    func value(of input: Input) -> Value?

    /// Whether a stored value obeys the rules of this flow.
    func isValid(_ value: Value, of field: FieldName, in context: ValidationContext) -> Bool

    /// Whether the field has what its step needs: by default a valid value.
    func holds(_ field: FieldName, in context: ValidationContext) -> Bool

    /// How the holder of the draft sees the value.
    func shown(_ value: Value, at place: DisplayContext) -> JSON

    /// How people write the value, where that is another form than the canonical one; it is accepted as an answer, too.
    func written(_ value: Value) -> String?

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
    func isBlank(_ answer: FieldAnswer) -> Bool

    /// True where a form may give the field more than once.
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
    /// What was stored under another flow file need not obey the rules of this one, so only the type is sure.
    package func shownSchema(at place: DisplayContext) -> JSON { ["type": answerSchema["type"] ?? "string"] }
    package func answer(inForm texts: [String]) -> JSON { .string(texts[0]) }
    package func isBlank(_ answer: FieldAnswer) -> Bool { answer.isBlank }
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

/// What the rest of the service calls without knowing the type of a field's value.
extension FieldKind {
    /// True if nothing is kept under the name of the field.
    package var keepsNothing: Bool { Value.self == Never.self }

    /// Nil if the JSON is no value of this kind.
    func value(json: JSON) -> (any StoredValue)? { Value(json: json) }

    /// The field's value; nil if the field holds none of this kind.
    func value(in values: Values, of field: FieldName) -> Value? { values[field] as? Value }

    func contextWords(of field: FieldName, in values: Values) -> [String] {
        value(in: values, of: field).map(contextWords) ?? []
    }

    func written(in values: Values, of field: FieldName) -> String? { value(in: values, of: field).flatMap(written) }

    /// How people write the value of that JSON; nil if that is its canonical form, or if it is no value of this kind.
    package func written(json: JSON) -> String? { Value(json: json).flatMap(written) }

    /// The value of that JSON as commands show it by default; nil if it is no value of this kind.
    package func masked(json: JSON) -> String? { Value(json: json).map(masked) }

    /// The value of that JSON as commands show it with `--reveal`; nil if it is no value of this kind.
    package func revealed(json: JSON) -> String? { Value(json: json).map(revealed) }

    /// What is wrong with what the field holds.
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

/// Where the holder of a draft looks at a value: among all of them between steps, in its own step, or at the end.
package enum DisplayContext: Sendable {
    case draft, step, review
}

/// What a field may look at while it judges an answer.
package struct ValidationContext: Sendable {
    package let flow: Flow
    /// The database's clock.
    package let now: Date
    package let language: Language
    package let serviceName: String
    package var values: Values
    package var proofs: [FieldName: Proof]
    /// All answers of this submission, as they came.
    package var answers = Answers()
    /// True if every value was validated under this very flow, so that none has to be validated again.
    package var hasValidValues = false

    /// A copy in which every value is validated again.
    var validatingAll: ValidationContext {
        var copy = self
        copy.hasValidValues = false
        return copy
    }
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
