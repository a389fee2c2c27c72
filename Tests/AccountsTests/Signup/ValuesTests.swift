import Testing

@testable import Accounts

@Suite("Values of a draft")
struct ValuesTests {
    @Test func `a step that was emptied counts as seen`() throws {
        var values = Values()
        values.answered = ["email"]
        values.markEmptied("email")
        values.markEmptied("never")
        let opened = try #require(Values(sealable: values.sealable))
        #expect(opened == values && opened.answered.isEmpty)
        #expect(opened.hasSeen("email") && !opened.hasSeen("never"))
    }

    @Test(arguments: [
        Values(),
        Values([:], answered: ["profile", "email"]),
        Values(["email": "a@b.example"], answered: ["email"]),
        Values([
            "text": "한\u{1F600}\"\\\n\u{2028}e\u{301}", "": "",
            "consent": ["accepted": true, "at": "2026-01-01T00:00:00Z"],
            "list": [1, -1, .number(0.5), nil, false, [:], []], "big": .integer(.max),
        ]),
    ])
    func `sealable bytes decode to the same values`(values: Values) throws {
        let back = try #require(Values(sealable: values.sealable))
        #expect(back == values && back.sealable == values.sealable)
    }

    @Test(arguments: UInt64(0)..<50)
    func `random values survive encoding and decoding`(seed: UInt64) throws {
        var chance = SeededChance(seed: seed)
        var values = Values()
        for _ in 0..<Int.random(in: 0...8, using: &chance) {
            let text = String((0..<6).map { _ in "aé한😀\"\\\t\u{301}".randomElement(using: &chance)! })
            values[FieldName(text)] =
                Bool.random(using: &chance) ? text : Int.random(in: -9...9, using: &chance)
            if Bool.random(using: &chance) { values.answered.insert(StepName(text)) }
        }
        #expect(Values(sealable: values.sealable) == values)
    }

    @Test func `the encoding does not depend on the order of insertion`() {
        let one = Values(["b": 1, "a": 2], answered: ["y", "x"])
        var other = Values(["a": 2], answered: ["x"])
        other["b"] = 1
        other.answered.insert("y")
        #expect(one.sealable == other.sealable)
        #expect(one.sealable == Array(#"{"fields":{"a":2,"b":1},"answered":["x","y"]}"#.utf8))
        #expect(one.fields == ["a", "b"])
    }

    @Test func `a removed value leaves nothing behind`() {
        var values = Values(["a": 1])
        values["a"] = nil
        #expect(values == Values() && values.fields.isEmpty)
        values["a"] = ""
        #expect(values != Values() && values.json(of: "a") == "")
    }

    @Test(arguments: [
        "", "{}", "[]", "null", #"{"fields":{}}"#, #"{"answered":[]}"#, #"{"fields":[],"answered":[]}"#,
        #"{"fields":{},"answered":{}}"#, #"{"fields":{},"answered":[]"#, #"{"fields":{},"answered":[]}x"#,
        #"{"fields":{"a":1,"a":2},"answered":[]}"#,
    ])
    func `bytes in another format are refused`(text: String) {
        #expect(Values(sealable: Array(text.utf8)) == nil)
    }
}
