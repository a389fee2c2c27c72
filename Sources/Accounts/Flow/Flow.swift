package import Foundation

/// What a sign-up asks: the ordered steps with their fields and rules, and how long a draft lives.
package struct Flow: Sendable {
    package let name: String
    package let version: Int
    /// The first is spoken where nobody asked for another.
    package let languages: [Language]
    /// Decides what day it is when an age is judged.
    package let zone: TimeZone
    /// How mail names the service, where nothing else was configured.
    package let serviceName: String?
    /// How long a draft lives after its last change.
    package let idle: Duration
    /// How long a draft lives at most.
    package let absolute: Duration
    package let steps: [Step]
    package var limits: Limits

    /// Differs for each text of a flow file and each version of the service, which also has rules.
    package internal(set) var digest = ""

    /// The name and version that a draft records, such as `default@1`.
    package var id: String { "\(name)@\(version)" }

    package var fields: [Field] { steps.flatMap(\.fields) }

    package func step(named name: StepName) -> Step? { steps.first { $0.name == name } }

    package func field(named name: FieldName) -> Field? {
        for step in steps {
            if let field = step.fields.first(where: { $0.name == name }) { return field }
        }
        return nil
    }
}

/// One screen's worth of fields.
package struct Step: Sendable {
    package let name: StepName
    package let isOptional: Bool
    package let titles: [Language: String]
    package let fields: [Field]

    package var href: String { "/signup/\(name)" }

    package func field(named name: FieldName) -> Field? { fields.first { $0.name == name } }
}

/// One value that is asked for.
package struct Field: Sendable {
    package let name: FieldName
    package let kind: any FieldKind
    package let isRequired: Bool
    /// True where the canonical value belongs to one account at most.
    package let isIdentifier: Bool
    package let labels: [Language: String]
    /// A sentence that helps to fill the field in; empty where it needs none.
    package let helps: [Language: String]
    /// What a form should ask with.
    package let control: Control
}
