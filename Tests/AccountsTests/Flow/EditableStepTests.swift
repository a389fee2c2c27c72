import Testing

@testable import Accounts

@Suite("Steps that people can change")
struct EditableStepTests {
    private static func editableFields(ofSteps steps: [String]) throws -> [String] {
        let yaml = "flow: f\nversion: 1\nsteps:\n" + steps.map { "  - {\($0)}\n" }.joined()
        let flow = try Flow(yaml: yaml, file: "flow.yaml")
        return flow.editableSteps.flatMap(\.fields).map(\.name.rawValue)
    }

    @Test func `in the built-in flow, people can change the profile, the contact and the terms`() throws {
        let steps = try Flow.standard().editableSteps
        #expect(steps.map(\.name) == ["profile", "contact", "terms"])
        let fields = ["username", "display_name", "introduction", "photo", "phone", "birth_date", "terms", "marketing"]
        #expect(steps.flatMap(\.fields).map(\.name.rawValue) == fields)
        #expect(steps.map(\.href) == ["/account/profile", "/account/contact", "/account/terms"])
    }

    @Test func `an editable step leaves out an address that identifies the account or is proved by a code`() throws {
        let names = try Self.editableFields(ofSteps: [
            """
            name: a, title: A, editable: true, fields: [
                {name: email, kind: email, identifier: true, label: E}, {name: proved, kind: email, label: P},
                {name: other, kind: email, label: O}]
            """,
            "name: b, title: B, fields: [{name: code, kind: code, proves: email, label: C}]",
            "name: c, title: C, fields: [{name: second, kind: code, proves: proved, label: C}]",
        ])
        #expect(names == ["other"])
    }

    @Test func `an editable step leaves out passwords and their confirmations`() throws {
        let names = try Self.editableFields(ofSteps: [
            """
            name: a, title: A, editable: true, fields: [
                {name: password, kind: password, label: P}, {name: again, kind: confirmation, confirms: password, label: A},
                {name: note, kind: text, label: N}]
            """
        ])
        #expect(names == ["note"])
    }

    @Test(
        arguments: [
            (["name: a, title: A, editable: true, fields: [{name: password, kind: password, label: P}]"], ""),
            (
                [
                    "name: a, title: A, editable: true, fields: [{name: email, kind: email, identifier: true, label: E}]",
                    "name: b, title: B, fields: [{name: code, kind: code, proves: email, label: C}]",
                ], ""
            ),
            (
                [
                    "name: a, title: A, editable: true, fields: [{name: office, kind: email, label: E}]",
                    "name: b, title: B, fields: [{name: code, kind: code, proves: office, label: C}]",
                ], #": a code proves "office", so it cannot be changed"#
            ),
        ]
    )
    func `an editable step without a field that people can edit is refused`(steps: [String], messageEnd: String) {
        let error = #expect(throws: YAMLFileError.self) { try Self.editableFields(ofSteps: steps) }
        #expect(error?.description == "flow.yaml:4: the step has no field that people can change\(messageEnd)")
    }

    @Test(arguments: ["photos", "password", "sessions"])
    func `an editable step must not have the name of a path below /account that the service uses`(name: String) {
        let step = "name: \(name), title: A, editable: true, fields: [{name: note, kind: text, label: N}]"
        let error = #expect(throws: YAMLFileError.self) { try Self.editableFields(ofSteps: [step]) }
        #expect(error?.reason == "the service uses the path /account/\(name): rename the step")
    }
}
