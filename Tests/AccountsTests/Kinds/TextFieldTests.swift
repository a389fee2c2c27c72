import TestSupport
import Testing

@testable import Accounts

@Suite("A text field")
struct TextFieldTests {
    let line: AskedField
    let lines: AskedField

    init() throws {
        line = try AskedField(["name: text, kind: text, min: 2, max: 5"])
        lines = try AskedField(["name: text, kind: text, max: 20, lines: many"])
    }

    @Test(arguments: [
        ("abc", "abc"), ("  abc\u{3000}", "abc"), ("a  b", "a  b"), ("cafe\u{301}", "caf\u{E9}"),
        ("\u{1112}\u{1161}\u{11AB}국", "한국"),
        ("\u{212B}b", "\u{C5}b"), ("\u{958}x", "\u{915}\u{93C}x"), ("a\u{301}\u{323}b", "\u{1EA1}\u{301}b"),
        ("\u{37E}x", ";x"),
        ("ｗｉｄｅ", "ｗｉｄｅ"), ("ß İ", "ß İ"), ("<b>", "<b>"), (" \u{301}ab", "\u{301}ab"), ("\u{2000}ab\u{2003}", "ab"),
    ])
    func `a line is composed and trimmed`(typed: String, form: String) throws {
        #expect(try line.canonical(.string(typed)) == .string(form))
        #expect(try line.isSettled(on: .string(form)))
    }

    @Test(arguments: [
        ("a\nb", "a\nb"), ("a\r\nb\r\n", "a\nb"), ("\n\na\n\nb\n", "a\n\nb"), ("a\tb", "a\tb"), ("\t a", "a"),
        ("e\u{301}\r\ne\u{301}", "\u{E9}\n\u{E9}"), ("\r\n\u{301}a", "\u{301}a"),
    ])
    func `line endings of a multi-line text are normalized`(typed: String, form: String) throws {
        #expect(try lines.canonical(.string(typed)) == .string(form))
        #expect(try lines.isSettled(on: .string(form)))
    }

    @Test(arguments: [
        ("a", Refusal("text", .tooShort, ["min": 2, "actual": 1])),
        (" a ", Refusal("text", .tooShort, ["min": 2, "actual": 1])),
        ("e\u{301}", Refusal("text", .tooShort, ["min": 2, "actual": 1])),
        ("ab", nil),
        ("abcde", nil),
        (" abcde ", nil),
        ("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", nil),
        ("abcdef", Refusal("text", .tooLong, ["max": 5, "actual": 6])),
        ("🇰🇷🇰🇷", nil),
        ("👨‍👩‍👧", nil),
        ("👨‍👩‍👧‍👦", Refusal("text", .tooLong, ["max": 5, "actual": 7])),
        ("x\u{1D160}x", nil),
        ("x\u{1D160}xx", Refusal("text", .tooLong, ["max": 5, "actual": 6])),
    ])
    func `the length is counted in Unicode scalars after composition and trimming`(typed: String, refusal: Refusal?) {
        #expect(line.refusals(.string(typed)) == [refusal].compactMap { $0 })
    }

    @Test func `the length of a decomposed text is the length of its composed form`() {
        // U+1F82 decomposes into alpha and three marks.
        let decomposed = "\u{3B1}\u{313}\u{300}\u{345}"
        #expect(line.refusals(.string(String(repeating: decomposed, count: 5))).isEmpty)
        let params: [String: JSON] = ["max": 5, "actual": 24]
        #expect(line.refusals(.string(String(repeating: decomposed, count: 6))) == [Refusal("text", .tooLong, params)])
        #expect(line.refusals(.string(String(repeating: " ", count: 1_000) + "ab\u{3000}")).isEmpty)
        #expect(line.refusals(.string(String(repeating: " ", count: 30_000) + "ab")).map(\.code) == [.tooLong])
    }

    @Test(arguments: [
        0x00, 0x01, 0x08, 0x0B, 0x0C, 0x0D, 0x1B, 0x1F, 0x7F, 0x80, 0x85, 0x9F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066,
        0x2069, 0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF,
    ])
    func `controls, separators, overrides and noncharacters are refused`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        for typed in ["\(scalar)ab", "a\(scalar)b", "ab\(scalar)"] {
            #expect(line.refusals(.string(typed)) == [Refusal("text", .badCharacters)])
            #expect(lines.refusals(.string(typed)) == [Refusal("text", .badCharacters)])
        }
    }

    @Test(arguments: [
        0x20, 0x7E, 0xA0, 0xA1, 0xAD, 0x200B, 0x200D, 0x200E, 0x200F, 0x2027, 0x202F, 0x2065, 0x206A, 0xFDCF, 0xFDF0,
        0xFEFF,
        0xFFFD, 0x10000, 0x1FFFD, 0x10FFFD,
    ])
    func `the code points next to the refused ones are accepted`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(line.refusals(.string("a\(scalar)b")).isEmpty)
        #expect(lines.refusals(.string("a\(scalar)b")).isEmpty)
    }

    @Test(arguments: [
        0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x2060,
        0x2065, 0x206F, 0x2800, 0x3164, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFF9, 0xFFFC, 0x1BCA0, 0x1D159, 0x1D173,
        0xE0000, 0xE0001, 0xE0020, 0xE0041, 0xE007F, 0xE01EF,
    ])
    func `a text of only invisible characters is refused`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        for typed in ["\(scalar)", "\(scalar)\(scalar)", " \(scalar)\u{3000}\(scalar) "] {
            #expect(line.refusals(.string(typed)) == [Refusal("text", .badCharacters)])
            #expect(lines.refusals(.string(typed)) == [Refusal("text", .badCharacters)])
            #expect(!lines.holds(.string(typed)) && !lines.field.kind.isBlank(.string(typed)))
        }
        #expect(try lines.canonical(.string("x\(scalar)")) == .string("x\(scalar)"))
    }

    @Test(arguments: [
        "👨\u{200D}👩\u{200D}👧", "می\u{200C}خواهم", "❤\u{FE0F}", "🏴\u{E0067}\u{E0062}\u{E007F}", "\u{200B}x", "\u{3164}나",
        // These are a mark without a letter, an unassigned code point, and a private-use code point.
        "\u{301}", "\u{378}", "\u{E000}",
    ])
    func `a text with a visible character is accepted unchanged`(text: String) throws {
        #expect(try lines.canonical(.string(text)) == .string(text))
    }

    @Test(arguments: ["a\nb", "a\tb", "a\r\nb", "ab\n"])
    func `line breaks and tabs are refused in a single-line text`(typed: String) {
        #expect(line.refusals(.string(typed)) == [Refusal("text", .badCharacters)])
    }

    @Test func `a missing answer is refused as required, and white space as too short`() {
        #expect(line.refusals("") == [Refusal("text", .required)])
        #expect(line.refusals("  ") == [Refusal("text", .tooShort, ["min": 2, "actual": 0])])
        #expect(lines.refusals(" \n\t\u{3000}") == [Refusal("text", .tooShort, ["min": 1, "actual": 0])])
    }

    @Test(arguments: [true, 123, .number(0.5), ["abc"], ["text": "abc"], .typed("abc")] as [FieldAnswer])
    func `an answer that is not a string is refused`(answer: FieldAnswer) {
        #expect(line.refusals(answer) == [Refusal("text", .wrongType, ["expected": "string"])])
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        for field in [line, lines] {
            #expect(field.refusals(.string(hostile.text)).count == 1)
            #expect(!field.holds(.string(hostile.text)))
        }
    }

    @Test(arguments: UInt64(0)..<100)
    func `parsing a canonical text does not change it`(seed: UInt64) throws {
        let field = try AskedField(["name: text, kind: text, max: 10000, lines: many"])
        var chance = SeededChance(seed: seed)
        let pieces = [
            "a", "é", "e", "\u{301}", "\u{323}", "\u{327}", "\u{308}", "\u{1112}", "\u{1161}", "\u{11AB}", "\u{AC00}",
            "\u{958}",
            "\u{2000}", " ", "\u{3000}", "\n", "\r\n", "\t", "\u{FB1D}", "\u{1D15E}", "\u{F900}", "\u{345}", "\u{3B1}",
            "👨‍👩‍👧",
        ]
        for _ in 0..<20 {
            let typed = "x" + (0..<12).map { _ in pieces.randomElement(using: &chance)! }.joined()
            let once = try field.canonical(.string(typed))
            #expect(try field.isSettled(on: once), "\(typed.unicodeScalars.map(\.value))")
        }
    }

    @Test(arguments: [nil, "", " abc", "cafe\u{301}", "abcdef", "a", 5] as [JSON?])
    func `a stored text that is not canonical is invalid`(stored: JSON?) {
        #expect(!line.holds(stored))
    }

    @Test(arguments: [
        ("AB-1", true), ("AB-1234", true), (" AB-12 ", true), ("ab-1", false), ("AB-", false), ("xAB-1x", false),
    ])
    func `the pattern must match the whole text`(typed: String, fits: Bool) throws {
        let plate = try AskedField(["name: plate, kind: text, pattern: '[A-Z]{2}-[0-9]+'"])
        #expect(plate.refusals(.string(typed)) == (fits ? [] : [Refusal("plate", .badFormat)]))
        #expect(plate.field.kind.rules(in: .english).last == .init("pattern", "[A-Z]{2}-[0-9]+"))
    }

    @Test func `the message about a text that does not match shows the example of the flow file`() throws {
        let plate = try AskedField(["name: plate, kind: text, pattern: '[A-Z]{2}-[0-9]+', example: AB-12"])
        let refusals = plate.refusals("12-AB")
        #expect(refusals == [Refusal("plate", .badFormat, ["example": "AB-12"])])
        let message = Language.english.messages.message(for: refusals[0], about: plate.field.kind.topic, label: "Plate")
        #expect(message == "Enter it like AB-12.")
        #expect(plate.field.kind.rules(in: .english).last == .init("example", "AB-12"))
        for rules in [
            "pattern: '[A-Z]{2}-[0-9]+', example: AB", "example: AB", "pattern: '[A-Z]+', min: 3, example: AB",
        ] {
            let error = #expect(throws: YAMLFileError.self) { try AskedField(["name: plate, kind: text, \(rules)"]) }
            #expect(error?.description.contains("\"example\" must be a text that the field accepts") == true)
        }
    }

    @Test func `a pattern that could backtrack exponentially is matched`() throws {
        let text = try AskedField(["name: text, kind: text, max: 10000, pattern: '(a*)*(a|aa)+b'"])
        #expect(text.refusals(.string(String(repeating: "a", count: 10_000))) == [Refusal("text", .badFormat)])
    }

    @Test func `thirty combining marks on a letter are accepted, and more are refused`() throws {
        let text = try AskedField(["name: text, kind: text"])
        let marks = { String(repeating: "\u{323}", count: $0) }
        #expect(text.refusals(.string("a" + marks(30))).isEmpty)
        #expect(text.refusals(.string("a" + marks(31))) == [Refusal("text", .badCharacters)])
        #expect(text.refusals(.string("a" + marks(30) + "b" + marks(30))).isEmpty)
        // The class of this mark is 0, so it is never moved.
        #expect(text.refusals(.string("\u{E01}" + String(repeating: "\u{E47}", count: 31))).isEmpty)
        // The combining class of U+0F73 is 0, but it consists of two marks.
        let vowels = String(repeating: "\u{F73}", count: 31)
        #expect(text.refusals(.string("\u{F40}\(vowels)")) == [Refusal("text", .badCharacters)])
    }

    @Test func `the rules tell clients the length and the number of lines`() throws {
        #expect(line.field.kind.rules(in: .english) == [.init("min", 2), .init("max", 5), .init("lines", "one")])
        #expect(lines.field.kind.rules(in: .english) == [.init("min", 0), .init("max", 20), .init("lines", "many")])
        let plain = try AskedField(["name: text, kind: text"])
        #expect(plain.field.kind.rules(in: .english) == [.init("min", 0), .init("max", 500), .init("lines", "one")])
        #expect(plain.shown("abc", at: .draft) == "abc")
    }
}
