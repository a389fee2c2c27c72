package import Foundation

/// What a person goes through in a sign-up or the like: ordered steps with their fields and rules, and the expiry of a
/// draft.
package struct Flow: Sendable {
    package let name: String
    package let version: Int
    /// The first is the default, for clients that request no other.
    package let languages: [Language]
    /// All languages that the service has: those of the flow and others.
    package let knownLanguages: [Language]
    /// The time zone that decides the current date when an age is computed.
    package let zone: TimeZone
    /// The name of the service in mail, unless `SERVICE_NAME` is set.
    package let serviceName: String?
    package let expiry: DraftExpiry
    package let steps: [Step]
    package let signIn: SignInRules
    package var limits: Limits
    package internal(set) var purpose = FlowPurpose.signup

    /// The texts that languages of a file of texts lack.
    package internal(set) var gaps: [FlowFileError] = []

    /// Differs for each text of a flow file, and for each build of the service, because the code has rules too.
    package internal(set) var digest = ""

    /// The name and the version, as drafts record them: `default@1`.
    package var id: String { "\(name)@\(version)" }

    package var fields: [Field] { steps.flatMap(\.fields) }

    /// The path of the page with all answers, after the last step.
    package var review: String { "\(purpose.path)/review" }

    /// The steps that people may change in their account, with the fields that they may change.
    package var editableSteps: [Step] {
        let all = fields
        return steps.filter(\.isEditable).map { step in
            var edited = Step(
                name: step.name,
                isOptional: step.isOptional,
                titles: step.titles,
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

/// The fields of one screen.
package struct Step: Sendable {
    package let name: StepName
    package let isOptional: Bool
    /// Whether people may change its values in their account.
    package var isEditable = false
    package let titles: [Language: String]
    package let fields: [Field]
    /// The path of the flow.
    var root = FlowPurpose.signup.path

    static let accountPath = "/account"

    package var href: String { "\(root)/\(name)" }

    /// Whether the step changes an account.
    var isOfAccount: Bool { root == Self.accountPath }

    /// Whether the step cannot be answered without a value for the field.
    func requires(_ field: Field) -> Bool { field.isRequired && !isOptional }

    /// The path of the photo in an image field.
    package func photo(in field: Field) -> String { "\(isOfAccount ? "\(root)/photos" : href)/\(field.name)" }

    package func field(named name: FieldName) -> Field? { fields.first { $0.name == name } }
}

/// One value that a step asks for.
package struct Field: Sendable {
    package let name: FieldName
    package let kind: any FieldKind
    package let isRequired: Bool
    /// True if at most one account can have the same canonical value.
    package let isIdentifier: Bool
    package let labels: [Language: String]
    /// A sentence that helps to fill in the field; empty if there is none.
    package let helps: [Language: String]
    /// The form control for the field.
    package let control: Control
}
