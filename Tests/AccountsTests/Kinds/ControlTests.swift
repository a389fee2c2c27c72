import Testing

@testable import Accounts

@Suite("The control of a field")
struct ControlTests {
    @Test(
        arguments: [
            ("kind: username", .nothing, true), ("kind: email", .nothing, true),
            ("kind: text, autocomplete: nickname", .words, true),
            ("kind: text, autocomplete: name", .words, true), ("kind: text, autocomplete: organization", .words, true),
            ("kind: text, autocomplete: url", .nothing, true),
            ("kind: text, pattern: '[A-Z]{3}'", .nothing, true),
            ("kind: text, lines: many", .sentences, false), ("kind: text", nil, false),
        ] as [(String, Control.Capitalization?, Bool)]
    )
    func `phones capitalize names and sentences, and browsers check the spelling only of plain texts`(
        rules: String,
        capitalization: Control.Capitalization?,
        isUnspelled: Bool
    ) throws {
        let name = rules.hasPrefix("kind: text") ? "value" : String(rules.dropFirst("kind: ".count))
        let control = try AskedField(["name: \(name), \(rules)"]).field.control
        #expect(control.capitalization == capitalization && control.isUnspelled == isUnspelled)
    }
}
