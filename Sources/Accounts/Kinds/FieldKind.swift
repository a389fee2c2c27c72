package import Foundation

/// A kind of field: the canonical form of its values, its rules, and the form in which clients see them. An instance of
/// a conforming type has the rules of one field in the flow file. It validates the answers to this field, and validates
/// the stored value again before the commit of the draft creates or changes an account.
///
/// A new kind needs a file `Kinds/<Kind>Field.swift`, such as that of ``NumberField``, and a line in ``KindList/all``. If
/// the messages about its refusals name the kind, it also needs a case in ``RefusalTopic``.
package protocol FieldKind: FieldActs {
    /// The name of the kind in the flow file.
    static var name: String { get }

    /// Reads the rules of this kind from the field's entry in the flow file.
    init(rules: inout YAMLEntry) throws(YAMLFileError)

    /// Validates an answer and returns its canonical form. A submission handles blank answers (``isBlank(_:)``) itself,
    /// and does not pass them to this function.
    func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals) -> Input

    /// The value of a valid answer; nil if ``submit(_:_:)`` or ``work(_:_:)`` must compute it, such as the hash of a
    /// password, or if the kind stores nothing.
    func value(of input: Input) -> Value?

    /// Whether a stored value satisfies the rules of this flow.
    func isValid(_ value: Value, of field: FieldName, in context: ValidationContext) -> Bool

    /// Whether the field is complete; by default, whether it has a valid value.
    func holds(_ field: FieldName, in context: ValidationContext) -> Bool

    /// The value as JSON responses and pages show it to the person.
    func shown(_ value: Value, at place: DisplayContext) -> JSON

    /// The text that forms show for the value, such as a phone number with spaces. It must be a valid answer. If a
    /// client checks the step and the person has typed another text, the response contains this one. If the result is
    /// nil, forms show the canonical form.
    func written(_ value: Value) -> String?

    /// The rules of the field as JSON members for clients, with texts in the given language.
    func rules(in language: Language) -> [JSON.Member]

    /// The rules that clients need not know, such as the number of guesses. The command `flow diff` compares them in
    /// addition to ``rules(in:)``.
    var serverRules: [JSON.Member] { get }

    /// The form control that asks for the value.
    var control: Control { get }

    /// The JSON Schema (2020-12) of an answer that is not empty. It may allow answers that the rules refuse, but it
    /// must not forbid an answer that they accept.
    var answerSchema: JSON { get }

    /// The JSON Schema of what `shown` returns.
    func shownSchema(at place: DisplayContext) -> JSON

    /// The topic that selects the messages about refused answers. By default, the topic with the name of the kind, or
    /// `other` if there is none.
    var topic: RefusalTopic { get }

    /// Converts the texts of a submitted form to an answer. There is at least one text, and several only if
    /// `takesSeveral`.
    func answer(inForm texts: [String]) -> JSON

    /// True if the answer is empty by the rules of the kind, and so counts as no answer.
    func isBlank(_ answer: FieldAnswer) -> Bool

    /// True if a submitted form may contain several texts for the field, such as several ticked boxes.
    var takesSeveral: Bool { get }

    /// The words from this value that the person's password must not equal, such as the local part of an address.
    func contextWords(of value: Value) -> [String]

    /// True if a submission without an answer leaves the field as it is, provided that the field is complete.
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
    package var serverRules: [JSON.Member] { [] }
    /// States only the type, because a value that was stored under another flow file may violate the other rules.
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

    /// The result of ``written(_:)`` for the value with this JSON; nil also if the JSON is not a value of this kind.
    package func written(json: JSON) -> String? { Value(json: json).flatMap(written) }

    /// The result of ``masked(_:)`` for a stored value; nil if the JSON is not a value of this kind.
    package func masked(json: JSON) -> String? { Value(json: json).map(masked) }

    /// The result of ``revealed(_:)`` for a stored value; nil if the JSON is not a value of this kind.
    package func revealed(json: JSON) -> String? { Value(json: json).map(revealed) }

    /// The refusals of ``parse(_:of:in:)`` for the JSON of the stored value; empty if there are none, or if nothing is
    /// stored. If an answer has another form than the value, as for a consent, the refusal is `wrong_type`.
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

/// The place where the person sees a value: the overview of the whole draft, the step of the field in the draft or in
/// the account, or the review after the last step.
package enum DisplayContext: Sendable {
    case draft, step, review
}

/// The data that a field may use to validate an answer or a stored value.
package struct ValidationContext: Sendable {
    package let flow: Flow
    /// The present time, by the clock of the database if the draft is stored.
    package let now: Date
    package let language: Language
    package let serviceName: String
    package var values: Values
    package var proofs: [FieldName: Proof]
    /// All answers of the request, before validation; empty if there are none.
    package var answers = Answers()
    /// True if a new password is the only factor of an account that exists. It then needs at least 15 characters (NIST
    /// SP 800-63B-4 §3.1.1.2). False in a sign-up, because the flow file is checked for this rule.
    package var isPasswordOnlyFactor = false
    /// True if every stored value was validated under the same text of the flow file and the same build of the service.
    /// Stored values are then not validated again, except dates, because an age changes with time.
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
        precondition(!all.isEmpty, "a list of refusals must not be empty")
        self.all = all
    }

    package init(_ field: FieldName, _ code: Refusal.Code, _ params: [String: JSON] = [:]) {
        all = [Refusal(field, code, params)]
    }
}
