/// What a field of one kind does in each act of a sign-up, beyond holding a value.
///
/// The acts (submit, check, clear, commit, the operator's commands, key rotation, the pages) iterate over the fields
/// and call these members. Every member has a default, so a kind that only holds a value implements none of them.
package protocol FieldBehavior: Sendable {
    /// The type that a draft stores; `Never` if it stores nothing.
    associatedtype Value: StoredValue

    /// The type of a valid answer: the value itself, or what the value is made of, such as the password for a hash.
    associatedtype Input: Sendable = Value

    // MARK: Properties of the kind

    /// True if the canonical value may identify an account; then the value is unique among all accounts.
    static var canIdentify: Bool { get }

    /// The address field that a correct answer proves; nil for every kind that proves nothing.
    var provedField: FieldName? { get }

    /// The field whose answer this one repeats. A form asks for such a field, but lists of values omit it.
    var repeatedField: FieldName? { get }

    /// True if the answer is read into a ``Secret`` and never becomes a `String`.
    var takesSecret: Bool { get }

    /// True if the answer is a file.
    var takesFile: Bool { get }

    /// True if the answer is a guess, such as a code: it is compared, counted against a limit, and not stored.
    var takesGuess: Bool { get }

    /// False if a step with such a field cannot be skipped.
    var canBeSkipped: Bool { get }

    /// True if the answer is validated after the other fields of its step, because it depends on them.
    var dependsOnOtherAnswers: Bool { get }

    // MARK: The flow file

    /// Refuses a field at an invalid place in the flow. Only the fields before it are known.
    func check(_ entry: FlowEntry, at position: FieldPosition) throws(FlowFileError)

    /// Refuses a field that does not fit the whole flow.
    func check(_ entry: FlowEntry, of field: Field, in steps: [Step]) throws(FlowFileError)

    // MARK: Submit, check and clear

    /// Does slow work that can still refuse the answer, before any effect. The answer is valid.
    func prepare(_ field: Field, for submission: inout Submission) async throws(SubmitError) -> [Refusal]

    /// Does what an answer to the field's step causes, or adds it to the change. All answers are valid.
    func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError)

    /// Validates the stored value again after an answer to another step has changed a name of the person.
    func revalidate(_ field: Field, after submission: inout Submission) async throws(SubmitError)

    /// Updates the change when the person's address changes. A kind that depends on the address empties its field.
    func addressChanges(_ field: Field, of step: Step, _ change: inout Change)

    /// The refusals that a check adds for a valid value, such as a name that is taken.
    func check(_ value: Value, in field: Field, of draft: Draft, by signups: Signups) async throws(CheckError)
        -> [Refusal]

    /// Adds to the change what clearing the field undoes in addition to its value.
    func clear(_ field: Field, of draft: Draft, by signups: Signups, _ change: inout Change)

    // MARK: Commit and erasure

    /// Adds the field's value to the plan; by default as a member of the account's profile.
    func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError)

    /// The tables, each with a column `draft`, that hold rows for fields of this kind. The rows are deleted when the
    /// draft ends.
    static var draftTables: [String] { get }

    // MARK: Operators

    /// The value as commands show it by default: it reveals that there is a value, but not which.
    func masked(_ value: Value) -> String

    /// The value as commands show it with `--reveal`, which writes an audit record. Secrets stay masked.
    func revealed(_ value: Value) -> String

    /// What commands show of the field in that draft; nil if it has no value.
    func summary(of field: Field, in draft: Draft, reveals: Bool) -> String?

    /// Why the field prevents the commit; nil if the stored value alone decides.
    func obstacle(_ field: Field, in context: ValidationContext) -> Obstacle.Reason?

    /// The statements that recompute the digests of this value with the first key of the ring.
    func renewDigests(of value: Value, in field: Field, of draft: ID<Draft>, by signups: Signups) -> [SQL]

    /// The tables whose column `sealed` the key rotation re-encrypts.
    static var sealedTables: [SealedTable] { get }

    /// How `accounts show` reads and shows the tables that ``commit(_:_:)`` writes; nil if it writes none.
    static func accountQuery(of account: ID<Account>) -> AccountQuery?

    // MARK: Representations

    /// The field as the holder of the draft sees it; nil if it has no value.
    func shown(_ field: Field, in draft: Draft, at place: DisplayContext) -> JSON?

    /// Members that describe the state of the step in addition to its fields, such as when another code may be
    /// requested.
    func stepMembers(_ field: Field, in draft: Draft) -> [JSON.Member]

    /// The name of the template that renders the field. If the file does not exist, `field-input` is used.
    var template: String { get }

    /// Members for the template in addition to those that every field has.
    func templateMembers(_ form: FormField) -> [JSON.Member]

    /// The text of the shown value on the review page.
    func reviewText(_ shown: JSON, in language: Language) -> String
}

/// The position of a field in the flow file that is being read.
package struct FieldPosition {
    let name: String
    /// The fields before it in its own step.
    let earlierInStep: [Field]
    let earlierSteps: [Field]

    var earlier: [Field] { earlierSteps + earlierInStep }
}

/// A table with an encrypted column `sealed`. The encryption of each row is bound to the key column of its row.
package struct SealedTable: Sendable {
    /// The name of the rows in the report of the key rotation.
    package let name: String
    let table: SQL
    let key: SQL
    var condition: SQL = "true"
    /// The number of rows that one statement reads.
    var batch = 200
}

/// A field as a form shows it.
package struct FormField {
    package let field: Field
    package let step: Step
    /// The value in the control: the refused answer, or the stored value as it is shown.
    package let value: JSON
    /// The stored value as it is shown; null if there is none.
    package let shown: JSON
    /// The language of the page.
    package let language: Language
    /// Today's date in the time zone of the flow, as `YYYY-MM-DD`.
    package let today: String

    package init(field: Field, step: Step, value: JSON, shown: JSON, language: Language, today: String) {
        (self.field, self.step, self.value, self.shown) = (field, step, value, shown)
        (self.language, self.today) = (language, today)
    }
}

extension FieldBehavior {
    package static var canIdentify: Bool { false }
    package var provedField: FieldName? { nil }
    package var repeatedField: FieldName? { nil }
    package var takesSecret: Bool { false }
    package var takesFile: Bool { false }
    package var takesGuess: Bool { false }
    package var canBeSkipped: Bool { true }
    package var dependsOnOtherAnswers: Bool { false }

    package func check(_ entry: FlowEntry, at position: FieldPosition) throws(FlowFileError) {}
    package func check(_ entry: FlowEntry, of field: Field, in steps: [Step]) throws(FlowFileError) {}

    package func prepare(
        _ field: Field,
        for submission: inout Submission
    ) async throws(SubmitError) -> [Refusal] { [] }
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {}
    package func revalidate(_ field: Field, after submission: inout Submission) async throws(SubmitError) {}
    package func addressChanges(_ field: Field, of step: Step, _ change: inout Change) {}
    package func check(
        _ value: Value,
        in field: Field,
        of draft: Draft,
        by signups: Signups
    ) async throws(CheckError) -> [Refusal] { [] }
    package func clear(_ field: Field, of draft: Draft, by signups: Signups, _ change: inout Change) {}

    package static var draftTables: [String] { [] }
    package static var sealedTables: [SealedTable] { [] }
    package static func accountQuery(of account: ID<Account>) -> AccountQuery? { nil }

    package func masked(_ value: Value) -> String {
        value.json.string.map { $0.count > 2 ? "\($0.prefix(1))•••" : "•••" } ?? "•••"
    }

    package func revealed(_ value: Value) -> String { value.json.plain }

    package func summary(of field: Field, in draft: Draft, reveals: Bool) -> String? {
        guard let value = draft.values[field.name] as? Value else {
            return draft.values.json(of: field.name).map { reveals && !isHidden && !takesFile ? $0.plain : "•••" }
        }
        return reveals ? revealed(value) : masked(value)
    }

    package func obstacle(_ field: Field, in context: ValidationContext) -> Obstacle.Reason? { nil }

    package func renewDigests(
        of value: Value,
        in field: Field,
        of draft: ID<Draft>,
        by signups: Signups
    ) -> [SQL] { [] }

    package func stepMembers(_ field: Field, in draft: Draft) -> [JSON.Member] { [] }
    package func templateMembers(_ form: FormField) -> [JSON.Member] { [] }

    package func reviewText(_ shown: JSON, in language: Language) -> String {
        if case .integer(let number) = shown { "\(number)" } else { shown.string ?? "" }
    }
}

extension FieldKind {
    package var template: String { "field-\(Self.name)" }

    package func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError) {
        guard let value = value(in: plan.draft.values, of: field.name) else { return }
        plan.profile.append(.init(field.name.rawValue, value.json))
    }

    package func shown(_ field: Field, in draft: Draft, at place: DisplayContext) -> JSON? {
        value(in: draft.values, of: field.name).map { shown($0, at: place) }
    }

    /// The refusals of ``check(_:in:of:by:)`` for the value that the field has in `values`.
    func check(
        _ values: Values,
        of field: Field,
        _ draft: Draft,
        by signups: Signups
    ) async throws(CheckError) -> [Refusal] {
        guard let value = value(in: values, of: field.name) else { return [] }
        return try await check(value, in: field, of: draft, by: signups)
    }

    /// The statements of ``renewDigests(of:in:of:by:)`` for the value that the field has in `values`.
    func renewDigests(in values: Values, of field: Field, of draft: ID<Draft>, by signups: Signups) -> [SQL] {
        value(in: values, of: field.name).map { renewDigests(of: $0, in: field, of: draft, by: signups) } ?? []
    }
}

extension FieldBehavior {
    /// True if no page shows the answer again after it was typed.
    package var isHidden: Bool { takesSecret || takesGuess }
}

extension JSON {
    /// The value as text. A stored secret is always an object, even if the flow file has changed the kind of its field.
    package var plain: String {
        if case .object = self { return "•••" }
        return string ?? text
    }
}
