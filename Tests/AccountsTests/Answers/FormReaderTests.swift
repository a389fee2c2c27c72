import TestSupport
import Testing

@testable import Accounts

@Suite("The form reader")
struct FormReaderTests {
    private func read(_ text: String, repeatable: Set<String> = []) throws(MalformedBody) -> JSON {
        try read(Array(text.utf8), repeatable: repeatable).json
    }

    private func read(
        _ bytes: [UInt8],
        secret: Set<String> = [],
        repeatable: Set<String> = [],
        maximumPairs: Int = .max,
        allowsBareNames: Bool = false
    ) throws(MalformedBody) -> Answers {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(MalformedBody) in
            try Answers.readForm(
                bytes,
                secretNames: secret,
                repeatableNames: repeatable,
                maximumPairs: maximumPairs,
                allowsBareNames: allowsBareNames
            )
        }
    }

    @Test func `more pairs than the maximum are refused`() throws {
        let form = Array("a=1&b=2&a=3".utf8)
        #expect(try read(form, repeatable: ["a"], maximumPairs: 3).json == ["a": ["1", "3"], "b": "2"])
        #expect(throws: MalformedBody(reason: .tooMany, offset: 8)) {
            try read(form, repeatable: ["a"], maximumPairs: 2)
        }
    }

    @Test(
        arguments: [
            ("", [:]), ("a=", ["a": ""]), ("a=b", ["a": "b"]), ("a=b&c=d", ["a": "b", "c": "d"]),
            ("a=b=c", ["a": "b=c"]), ("a=b+c", ["a": "b c"]), ("a=%2B%26%3d%25", ["a": "+&=%"]),
            ("%61=%6A", ["a": "j"]), ("a=%EA%B9%80", ["a": "김"]), ("a=김", ["a": "김"]), ("=b", ["": "b"]),
            ("a=%0D%0Ab", ["a": "\r\nb"]), ("a=1&%C3%A9=2&e%CC%81=3", ["a": "1", "\u{E9}": "2", "e\u{301}": "3"]),
        ] as [(String, JSON)]
    )
    func `pairs become members with string values`(text: String, json: JSON) throws {
        #expect(try read(text) == json)
    }

    @Test(
        arguments: [
            ("a", .unexpectedEnd, 1), ("a&b=c", .unexpectedByte, 1), ("a=b&", .unexpectedEnd, 4),
            ("a=b&&c=d", .unexpectedByte, 4), ("&a=b", .unexpectedByte, 0), ("a=%", .malformedEscape, 2),
            ("a=%4", .malformedEscape, 2), ("a=%4g", .malformedEscape, 2), ("a=%u0041", .malformedEscape, 2),
            ("a=%4&b=1", .malformedEscape, 2), ("%4=1", .malformedEscape, 0), ("a=%00", .nul, 2), ("a%00=b", .nul, 1),
            ("a=\0", .nul, 2), ("a=\n", .controlCharacter, 2), ("a=b&a=c", .duplicateName, 4),
            ("a=b&%61=c", .duplicateName, 4), ("a=%FF", .notUTF8, 2), ("a=%ED%A0%80", .notUTF8, 2),
            ("a=%C0%80", .notUTF8, 2), ("%EA%B9=b", .notUTF8, 0), ("a=\u{7F}", .controlCharacter, 2),
        ] as [(String, MalformedBody.Reason, Int)]
    )
    func `a malformed form is refused with the offset of the error`(
        text: String,
        reason: MalformedBody.Reason,
        offset: Int
    ) {
        #expect(throws: MalformedBody(reason: reason, offset: offset)) { try read(text) }
    }

    @Test(
        arguments: [
            ("a", ["a": ""]), ("a&b=c", ["a": "", "b": "c"]), ("a=b&", ["a": "b"]), ("&", [:]), ("", [:]),
            ("&&a=b&&c", ["a": "b", "c": ""]), ("%61", ["a": ""]),
        ] as [(String, JSON)]
    )
    func `a name without = has an empty text where bare names are allowed`(text: String, json: JSON) throws {
        let answers = try read(Array(text.utf8), allowsBareNames: true)
        #expect(answers.json == json)
    }

    @Test(
        arguments: [("a&a", .duplicateName, 2), ("a=1&&a", .duplicateName, 5), ("%&a", .malformedEscape, 0)]
            as [(String, MalformedBody.Reason, Int)]
    )
    func `a duplicate name or a malformed escape is refused in bare names too`(
        text: String,
        reason: MalformedBody.Reason,
        offset: Int
    ) {
        #expect(throws: MalformedBody(reason: reason, offset: offset)) {
            try read(Array(text.utf8), allowsBareNames: true)
        }
    }

    @Test func `a hundred combining marks in a row are refused`() throws {
        let marks = String(repeating: "\u{344}\u{316}", count: 50)
        let fewer = String(marks.unicodeScalars.dropLast())
        #expect(try read("a=b\(fewer)") == ["a": .string("b\(fewer)")])
        #expect(throws: MalformedBody(reason: .tooManyMarks, offset: 2)) { try read("a=\(marks)") }
        #expect(throws: MalformedBody(reason: .tooManyMarks, offset: 4)) { try read("a=1&\(marks)=b") }
        let escaped = String(repeating: "%CC%96", count: 100)
        #expect(throws: MalformedBody(reason: .tooManyMarks, offset: 2)) { try read("a=\(escaped)") }
    }

    @Test func `bytes that are not UTF-8 are refused and not repaired`() {
        #expect(throws: MalformedBody(reason: .notUTF8, offset: 2)) { try read([0x61, 0x3D, 0xFF]) }
    }

    @Test func `a member whose name may be repeated is always a list`() throws {
        #expect(try read("a=1&b=2&a=3", repeatable: ["a"]) == ["a": ["1", "3"], "b": "2"])
        #expect(try read("a=1", repeatable: ["a"]) == ["a": ["1"]])
    }

    @Test func `a secret member is read as a secret`() throws {
        guard case .secret(let shared)? = try read(Array("password=p%C3%A4ss+1".utf8), secret: ["password"])["password"]
        else {
            Issue.record("the answer is not a secret")
            return
        }
        shared.secret.withBytes { #expect(Array($0) == Array("päss 1".utf8)) }
        #expect(throws: MalformedBody(reason: .notUTF8, offset: 9)) {
            try read(Array("password=%FF".utf8), secret: ["password"])
        }
    }

    @Test func `a body with 21,845 pairs of one name is read as a list only if the name may be repeated`() throws {
        let one = String(repeating: "a=&", count: 21_845)
        #expect(throws: MalformedBody(reason: .duplicateName, offset: 3)) { try read(one) }
        guard case .array(let all)? = try read(String(one.dropLast()), repeatable: ["a"])["a"] else {
            Issue.record("the answer is not a list")
            return
        }
        #expect(all.count == 21_845)
    }
}

@Suite("Answers from a form")
struct FormAnswersTests {
    private static let step = Result {
        try Flow.asking([
            [
                "name: text, kind: text", "name: number, kind: number",
                "name: terms, kind: consent, version: v1, document: Be kind",
                "name: one, kind: choice, options: [{value: a, label: A}]",
                "name: many, kind: choice, choose: several, options: [{value: a, label: A}, {value: b, label: B}]",
            ]
        ]).steps[0]
    }

    @Test(
        arguments: [
            (["text": "abc"], ["text": "abc"]), (["text": ""], ["text": nil]), (["number": "42"], ["number": 42]),
            (["number": "-7"], ["number": -7]), (["number": "4.2"], ["number": "4.2"]),
            (["number": "٤"], ["number": "٤"]), (["terms": "on"], ["terms": true]),
            (["terms": "true"], ["terms": true]), (["terms": "false"], ["terms": false]),
            (["terms": "yes"], ["terms": "yes"]), (["one": "a"], ["one": "a"]),
            (["many": ["b", "a"]], ["many": ["b", "a"]]), (["many": [""]], ["many": nil]),
            (["many": ["", "a"]], ["many": ["a"]]), (["other": "x"], ["other": "x"]),
        ] as [(JSON, JSON)]
    )
    func `the kind of a field converts the text of a form`(form: JSON, answers: JSON) throws {
        #expect(try Self.step.get().answers(inForm: Answers(form)).json == answers)
    }

    @Test func `only the name of a multiple choice may be repeated`() throws {
        #expect(try Self.step.get().repeatableNames == ["many"])
    }
}
