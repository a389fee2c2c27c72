package import Foundation

/// The functions and properties that a kind of field provides for each act of a sign-up and of an account, such as a
/// submission. ``FieldKind`` adds those for the validation and the display of values.
///
/// The code of each act (submit, check, clear, commit, the operator's commands, the key rotation, the pages) loops over
/// the fields of the flow and calls the members below on the kind of each field. Every member except ``Value`` has a
/// default, so a kind that only holds a value need not implement the others. A kind that does more, such as
/// ``TOTPField``, implements the members for its acts in `<Kind>Field+Acts.swift`; ``KindList/all`` lists all kinds.
package protocol FieldActs: Sendable {
    /// The type of the value that a draft stores for the field; `Never` if the kind stores nothing.
    associatedtype Value: StoredValue

    /// The type of a valid answer. For most kinds it is `Value`. For the others, ``submit(_:_:)`` or ``work(_:_:)``
    /// makes the value from the answer, such as the hash of a password, or there is no value, as for a code.
    associatedtype Input: Sendable = Value

    // MARK: Properties of the kind

    /// True if a flow file may make a field of this kind an identifier. No two accounts have the same value of an
    /// identifier.
    static var canIdentify: Bool { get }

    /// For a code: the field with the e-mail address to which the code is mailed. A correct answer proves that the
    /// person reads mail to this address. Nil for all other kinds.
    var provedField: FieldName? { get }

    /// For a confirmation: the field whose answer the person types a second time. Nil for all other kinds. Forms
    /// contain the confirmation, but the review page, the JSON Schema of the values, and `drafts show` omit it.
    var repeatedField: FieldName? { get }

    /// True if the answer is read into a ``Secret`` and never becomes a `String`.
    var takesSecret: Bool { get }

    /// True if people sign in with the value of the field. When a draft is continued on another device, the value
    /// is removed from the draft, because a stranger may have chosen it. By default, the same as ``takesSecret``.
    var isCredential: Bool { get }

    /// True if the answer is a file.
    var takesFile: Bool { get }

    /// True if the answer is a guess, such as a code: it is compared, counted against a limit, and not stored.
    var takesGuess: Bool { get }

    /// False if the flow file must not make a step with a field of this kind optional.
    var canBeSkipped: Bool { get }

    /// True if the answer is validated after the other fields of its step, because it depends on them.
    var dependsOnOtherAnswers: Bool { get }

    /// True if the kind lets people change the value in their account. The flow file decides in addition which steps
    /// are editable. By default true for every stored value except secrets and guesses.
    ///
    /// - Parameter fields: all fields of the flow.
    func canBeEdited(_ field: Field, among fields: [Field]) -> Bool

    /// True if the person of this draft need not fill in the field. A step in which this is true for all fields is left
    /// out.
    func isOmitted(_ field: Field, in context: ValidationContext) -> Bool

    // MARK: The flow file

    /// Called while the flow file is read, directly after the rules of this field, unless this field or an earlier part
    /// of the file has a mistake. Throws if the field is invalid, for example because of its name, its position or an
    /// earlier field. Later fields have not been read yet.
    func check(_ entry: YAMLEntry, at position: FieldPosition) throws(YAMLFileError)

    /// Called after all steps of the flow file were read without a mistake. Throws if the field contradicts any other
    /// field.
    func check(_ entry: YAMLEntry, of field: Field, in steps: [Step]) throws(YAMLFileError)

    // MARK: Submit, check and clear

    /// Called when a step is submitted or checked, and when a person changes the password of an account, for each valid
    /// answer that is not itself the value, such as a password. Returns the refusals that only a read from disk can
    /// find, such as for a password in the list of breached passwords. A submission calls this function before any
    /// answer has an effect.
    func lookUp(_ input: Input, in field: Field, by signups: Signups) async throws(HashingError) -> [Refusal]

    /// Called for each field of a submitted step if all answers are valid, or if the step is optional and skipped. Adds
    /// the effects of the answer to the submission's change, which is written afterwards. If a valid answer is itself
    /// the value, such as a date, the values of the change already contain it. Any other valid answer, such as a
    /// password, is in ``Submission/inputs``.
    ///
    /// Called again when the write is retried. Work that must be done only once, such as spending an attempt on a code,
    /// runs through ``Submission/completed``, which keeps its result.
    func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError)

    /// Called for each field of the flow after ``submit(_:_:)``. Returns the rate limits to consume before
    /// ``work(_:_:)``; none if there is no work, or if the work was done before a retry.
    ///
    /// Throws if the work would be rejected now, for example because too many passwords wait for a worker. A rejected
    /// request consumes none of these rate limits.
    func workCharges(_ field: Field, for submission: Submission) throws(SubmitError) -> [Charge]

    /// Called for each field of the flow after ``workCharges(_:for:)``. If any field has returned rate limits, they
    /// have been consumed, and at that time neither another rate limit nor a taken name prevented the write. Does slow
    /// work, such as hashing a password or decoding an image, and adds the result to the change. A field of another
    /// step clears its value if the new answers make the value invalid: for example, a person who chooses the password
    /// as the username has to choose another password.
    ///
    /// - Returns: the refusals of the answer, if the work finds it invalid.
    func work(_ field: Field, _ submission: inout Submission) async throws(SubmitError) -> [Refusal]

    /// Called for each field of the flow when a field of kind `email` is submitted with another address or is cleared.
    /// A kind whose value must not outlive the address, such as the authenticator, clears its field in the change.
    func addressChanges(_ field: Field, of step: Step, _ change: inout Change)

    /// Called when a client checks a step without submitting it, for each valid answer that is itself the value, such
    /// as a username. Returns the refusals that only the database can give, such as for a username that is taken.
    func check(_ value: Value, in field: Field, of draft: Draft, by signups: Signups) async throws(CheckError)
        -> [Refusal]

    /// Called when the field is cleared. The caller removes the value from the draft. This function adds to the change
    /// what else must be undone, such as the lease on a username.
    func clear(_ field: Field, of draft: Draft, by signups: Signups, _ change: inout Change)

    // MARK: Commit and erasure

    /// Called for each field of the flow when the draft is committed, before the transaction. Adds the field's value to
    /// the plan: by default as a JSON member of the account's profile.
    func commit(_ field: Field, _ plan: inout CommitPlan) async throws(CommitError)

    /// The tables, each with a column `draft`, that hold rows for fields of this kind. The rows are deleted when the
    /// draft ends or is committed.
    static var draftTables: [String] { get }

    // MARK: Changes of an account

    /// A query that selects the values that an account has in a table of this kind: the name of each field, and the
    /// value as JSON text, which ``Value`` reads. Nil if the values are in the row of the account, or are secrets.
    static func accountValues(of account: ID<Account>) -> SQL?

    /// Called for each field of a step that a person changes in the account, before the transaction. Does slow work,
    /// and adds the change of the value to the plan: by default, the new value replaces a member of the profile.
    func edit(_ field: Field, _ plan: inout EditPlan) async throws(SignInError)

    // MARK: Operators

    /// The value as commands show it without `--reveal`: enough to see that there is a value, but not to know it.
    func masked(_ value: Value) -> String

    /// The value as commands show it with `--reveal`, which writes an audit record. Secrets stay masked.
    func revealed(_ value: Value) -> String

    /// The text that commands show for the field in a draft; nil if the field has no value.
    func summary(of field: Field, in draft: Draft, reveals: Bool) -> String?

    /// The latest code that the service has mailed for this field; nil if there is none.
    func sentCode(_ field: Field, in draft: Draft) -> SentCode?

    /// Returns the reason why a field is not complete, for example that the code has expired; nil if the field is
    /// complete, if the value is missing, or if the rules refuse the stored value. Called by the commands that explain
    /// a draft, such as `drafts why`, for fields that are not complete, and by the page of a step for each of its
    /// fields.
    func obstacle(_ field: Field, in context: ValidationContext) -> Obstacle.Reason?

    /// Called by `keys rotate` for each unfinished draft with a value in this field. Returns the statements that
    /// replace the keyed digests of the value by digests under the first key in `ACCOUNTS_KEYS`.
    func renewDigests(of value: Value, in field: Field, of draft: ID<Draft>, by signups: Signups) -> [SQL]

    /// The tables, each with an encrypted column `sealed`, that `keys rotate` re-encrypts with the first key in
    /// `ACCOUNTS_KEYS`.
    static var sealedTables: [SealedTable] { get }

    /// The id (``Pepper/id``) of the pepper that was used to compute the value. The value can be compared only with
    /// this pepper, and no command can compute it again with another pepper. Nil if the value needs no pepper.
    func pepperID(of value: Value) -> [UInt8]?

    /// A query that selects, for each pepper that accounts need, its id in the base64 form of a PHC string, and the
    /// number of these accounts; nil if the kind uses no pepper.
    static var pepperedAccounts: SQL? { get }

    /// The query with which `accounts show` reads the tables that ``commit(_:_:)`` writes for this kind; nil if there
    /// is no such table.
    static func accountQuery(of account: ID<Account>) -> AccountQuery?

    // MARK: Applications

    /// The claims that contain the value of the field for an application; none if applications must not get the value.
    /// The names of the claims must not depend on the value.
    ///
    /// By default, a value in the profile that people may edit is a claim with the name of the field. Other values,
    /// such as passwords, are not for applications.
    ///
    /// - Parameter isProved: whether the address that identifies the account is proved.
    func claims(_ value: JSON, of field: Field, isProved: Bool) -> [JSON.Member]

    // MARK: Representations

    /// The field's value as JSON responses and pages show it to the person; nil if the field has no value.
    func shown(_ field: Field, in draft: Draft, at place: DisplayContext) -> JSON?

    /// JSON members that the field adds to its step in a response, such as the time until another code may be
    /// requested.
    func stepMembers(_ field: Field, in draft: Draft) -> [JSON.Member]

    /// The name of the template that renders the field. If there is no such template, `field-input` is used. Besides
    /// its file, a template needs a line in `templateFiles` of `Pages/Assets.swift`.
    var template: String { get }

    /// JSON members that the template of the field gets in addition to those that every field has.
    func templateMembers(_ form: FormField) -> [JSON.Member]

    /// The text for a value: on the review page, for the value that ``shown(_:in:at:)`` has returned; on the account's
    /// page, for the stored value as JSON.
    func reviewText(_ shown: JSON, in language: Language) -> String

    /// The text on the review page for a field without a value.
    var missingText: Word { get }

    /// The name of the field on the review page; nil if the page shows the label of the field.
    var reviewLabel: Word? { get }

    /// The part of the account's page that shows the value.
    var accountPart: AccountPart { get }
}

/// A part of the account's page.
package enum AccountPart: Sendable {
    case profile, consents
}

/// The position of a field in the flow file that is being read.
package struct FieldPosition {
    let name: String
    /// The fields before this one in its own step.
    let earlierInStep: [Field]
    /// The fields of all steps before this field's step.
    let earlierSteps: [Field]

    var earlier: [Field] { earlierSteps + earlierInStep }
}

/// A table with an encrypted column `sealed`. Each ciphertext is bound to a ``SealedPlace`` of the table's name and the
/// row's key column, so a ciphertext that is copied to another row cannot be decrypted there.
package struct SealedTable: Sendable {
    /// The word for the rows in the report of `keys rotate`, such as `photos`.
    package let plural: String
    package let singular: String
    let table: String
    /// The column that identifies a row, of type `uuid`.
    let key: SQL
    /// A condition that is true for the rows with a ciphertext.
    var condition: SQL = "true"
    /// The maximum number of rows that one statement reads.
    var batch = 200
}

/// A field as a form shows it.
package struct FormField {
    package let field: Field
    package let step: Step
    /// The value in the control: null for a secret or a guess; for any other field, the answer if the page shows a
    /// refused submission, and otherwise `shown`.
    package let value: JSON
    /// The result of ``FieldActs/shown(_:in:at:)`` for the stored value; null if there is none.
    package let shown: JSON
    /// The language of the page.
    package let language: Language
    /// The present time, by the clock of the database if the draft is stored.
    package let now: Date
    /// The time zone of the flow.
    package let zone: TimeZone

    package init(
        field: Field,
        step: Step,
        value: JSON,
        shown: JSON,
        language: Language,
        now: Date,
        zone: TimeZone
    ) {
        (self.field, self.step, self.value, self.shown) = (field, step, value, shown)
        (self.language, self.now, self.zone) = (language, now, zone)
    }
}

extension FieldActs {
    package static var canIdentify: Bool { false }
    package var provedField: FieldName? { nil }
    package var repeatedField: FieldName? { nil }
    package var takesSecret: Bool { false }
    package var isCredential: Bool { takesSecret }
    package var takesFile: Bool { false }
    package var takesGuess: Bool { false }
    package var canBeSkipped: Bool { true }
    package var dependsOnOtherAnswers: Bool { false }
    package func isOmitted(_ field: Field, in context: ValidationContext) -> Bool { false }
    package func canBeEdited(_ field: Field, among fields: [Field]) -> Bool {
        Value.self != Never.self && !isHidden
    }

    package func check(_ entry: YAMLEntry, at position: FieldPosition) throws(YAMLFileError) {}
    package func check(_ entry: YAMLEntry, of field: Field, in steps: [Step]) throws(YAMLFileError) {}

    package func lookUp(
        _ input: Input,
        in field: Field,
        by signups: Signups
    ) async throws(HashingError) -> [Refusal] { [] }
    package func submit(_ field: Field, _ submission: inout Submission) async throws(SubmitError) {}
    package func workCharges(_ field: Field, for submission: Submission) throws(SubmitError) -> [Charge] { [] }
    package func work(_ field: Field, _ submission: inout Submission) async throws(SubmitError) -> [Refusal] { [] }
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
    package static func accountValues(of account: ID<Account>) -> SQL? { nil }
    package static var pepperedAccounts: SQL? { nil }
    package func edit(_ field: Field, _ plan: inout EditPlan) async throws(SignInError) { plan.updateProfile(field) }
    package func pepperID(of value: Value) -> [UInt8]? { nil }

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

    package func sentCode(_ field: Field, in draft: Draft) -> SentCode? { nil }

    package func obstacle(_ field: Field, in context: ValidationContext) -> Obstacle.Reason? { nil }

    package func renewDigests(
        of value: Value,
        in field: Field,
        of draft: ID<Draft>,
        by signups: Signups
    ) -> [SQL] { [] }

    package func claims(_ value: JSON, of field: Field, isProved: Bool) -> [JSON.Member] {
        isInAccountRowIfEditable && canBeEdited(field, among: []) ? [.init(field.name.rawValue, value)] : []
    }

    package func stepMembers(_ field: Field, in draft: Draft) -> [JSON.Member] { [] }
    package func templateMembers(_ form: FormField) -> [JSON.Member] { [] }
    package var missingText: Word { .nothing }
    package var reviewLabel: Word? { nil }
    package var accountPart: AccountPart { .profile }

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

    /// The refusals of ``lookUp(_:in:by:)`` for the answer among `inputs`; none if the field has no such answer.
    func lookUp(
        _ inputs: [FieldName: any Sendable],
        of field: Field,
        by signups: Signups
    ) async throws(HashingError) -> [Refusal] {
        guard let input = inputs[field.name] as? Input else { return [] }
        return try await lookUp(input, in: field, by: signups)
    }

    /// The statements of ``renewDigests(of:in:of:by:)`` for the value that the field has in `values`.
    func renewDigests(in values: Values, of field: Field, of draft: ID<Draft>, by signups: Signups) -> [SQL] {
        value(in: values, of: field.name).map { renewDigests(of: $0, in: field, of: draft, by: signups) } ?? []
    }

    /// The result of ``pepperID(of:)`` for the value that the field has in `values`.
    func pepperID(in values: Values, of field: FieldName) -> [UInt8]? {
        value(in: values, of: field).flatMap { pepperID(of: $0) }
    }
}

extension FieldActs {
    /// True if ``accountValues(of:)`` is nil. If people may edit the value, it is then in the row of the account: a
    /// member of the profile, or an identifier. A value that people may not edit, such as a password, may be elsewhere.
    var isInAccountRowIfEditable: Bool { Self.accountValues(of: ID()) == nil }

    /// True if no page shows the answer again after the person has typed it: a secret, or a guess such as a code.
    package var isHidden: Bool { takesSecret || takesGuess }
}

extension JSON {
    /// The value as text; `•••` for an object. Every secret is stored as an object, so it stays masked even if a later
    /// flow file gives the name of its field to a kind whose values are not secret.
    package var plain: String {
        if case .object = self { return "•••" }
        return string ?? text
    }
}
