package import Foundation

/// The steps of a sign-up, or of a change of an account, in their order, with their fields and rules. Also the
/// lifetimes of a draft, the rules for signing in, and the rate limits.
package struct Flow: Sendable {
    package let name: String
    package let version: Int
    /// The languages of the texts. The first one is the default, for clients that request none of these languages.
    package let languages: [Language]
    /// All languages that the service has: those of the flow and others.
    package let knownLanguages: [Language]
    /// The time zone that decides which day is today, for date fields without a zone of their own.
    package let zone: TimeZone
    /// The name of the service in mail, on pages and in authenticator apps, unless `SERVICE_NAME` or the brand file
    /// sets another name.
    package let serviceName: String?
    package let expiry: DraftExpiry
    package let steps: [Step]
    package let signIn: SignInRules
    package var limits: Limits
    package internal(set) var purpose = FlowPurpose.signup

    /// The texts of the flow file that a language of `TEXTS_FILE` lacks.
    package internal(set) var gaps: [YAMLFileError] = []

    /// A digest of the text of the flow file, of its translations, and of the build of the service, because the code
    /// has rules, too. A value that is valid under one digest may be invalid under another.
    package internal(set) var digest = ""

    /// The name and the version, as drafts store them: `default@1`.
    package var id: String { "\(name)@\(version)" }

    package var fields: [Field] { steps.flatMap(\.fields) }

    /// The path of the page with all answers, after the last step.
    package var reviewPath: String { "\(purpose.path)/review" }

    /// The steps that people may change in their account, with the fields that they may change.
    package var editableSteps: [Step] {
        let all = fields
        return steps.filter(\.isEditable).map { step in
            var edited = Step(
                name: step.name,
                isOptional: step.isOptional,
                isEditable: true,
                titles: step.titles,
                shortTitles: step.shortTitles,
                fields: step.fields.filter { $0.kind.canBeEdited($0, among: all) }
            )
            edited.root = Step.accountPath
            return edited
        }
    }

    package func step(named name: StepName) -> Step? { steps.first { $0.name == name } }

    package func field(named name: FieldName) -> Field? {
        for step in steps {
            if let field = step.fields.first(where: { $0.name == name }) { return field }
        }
        return nil
    }
}

/// One step of a flow: the fields that one page asks for.
package struct Step: Sendable {
    package let name: StepName
    package let isOptional: Bool
    /// Whether people may change the values of the step in their account.
    package var isEditable = false
    package let titles: [Language: String]
    /// The short titles for a list of steps; empty if the list shows ``titles``.
    var shortTitles: [Language: String] = [:]
    package let fields: [Field]
    /// The path of the flow, or ``accountPath`` if the step is one of ``Flow/editableSteps``.
    var root = FlowPurpose.signup.path

    static let accountPath = "/account"

    package var href: String { "\(root)/\(name)" }

    /// The title of the step in a list of steps.
    package func shortTitle(in language: Language) -> String? { shortTitles[language] ?? titles[language] }

    /// Whether the step is one of ``Flow/editableSteps``, which change values in an account.
    var isOfAccount: Bool { root == Self.accountPath }

    /// Whether the step cannot be answered without a value for the field.
    func requires(_ field: Field) -> Bool { field.isRequired && !isOptional }

    /// The path of the photo in an image field.
    package func photoPath(of field: Field) -> String { "\(isOfAccount ? "\(root)/photos" : href)/\(field.name)" }

    package func field(named name: FieldName) -> Field? { fields.first { $0.name == name } }
}

/// One value that a step asks for.
///
/// A class and not a structure, because a request for a step copies about 70 fields. Copies of structures of this size
/// were a fortieth of the work for such a request.
package final class Field: Sendable {
    package let name: FieldName
    package let kind: any FieldKind
    package let isRequired: Bool
    /// True if at most one account can have the same canonical value.
    package let isIdentifier: Bool
    package let labels: [Language: String]
    /// A sentence in each language that helps people to fill in the field; empty if there is none.
    package let helps: [Language: String]
    /// The form control for the field.
    package let control: Control
    /// The short labels for a list of values; empty if the list shows ``labels``.
    let shortLabels: [Language: String]

    init(
        name: FieldName,
        kind: any FieldKind,
        isRequired: Bool,
        isIdentifier: Bool,
        labels: [Language: String],
        helps: [Language: String],
        control: Control,
        shortLabels: [Language: String] = [:]
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.isIdentifier = isIdentifier
        self.labels = labels
        self.helps = helps
        self.control = control
        self.shortLabels = shortLabels
    }

    /// The label of the field in a list of values.
    package func shortLabel(in language: Language) -> String? { shortLabels[language] ?? labels[language] }
}
