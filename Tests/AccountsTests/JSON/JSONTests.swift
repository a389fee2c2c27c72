import TestSupport
import Testing

@testable import Accounts

private func read(_ text: String) throws(MalformedBody) -> JSON {
    try JSON.read(Array(text.utf8))
}

private func readAnswers(_ bytes: [UInt8], secretMembers: Set<String>) throws(MalformedBody) -> Answers? {
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(MalformedBody) in
        try Answers.readJSON(bytes, secretMembers: secretMembers)
    }
}

private func nested(_ levels: Int) -> String {
    String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
}

private func nestedObjects(_ levels: Int) -> String {
    String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)
}

@Suite("Reading JSON")
struct JSONReaderTests {
    @Test(
        arguments: [
            ("null", nil),
            ("true", true),
            ("false", false),
            (" \t\r\n[ ] \n", []),
            ("{ }", [:]),
            (#"[1, [2], {"a" : null}]"#, [1, [2], ["a": nil]]),
            (#"{"b":1,"a":2}"#, ["b": 1, "a": 2]),
            (#"{"":{"":""}}"#, ["": ["": ""]]),
        ] as [(String, JSON)]
    )
    func `well-formed text is read`(text: String, value: JSON) throws {
        #expect(try read(text) == value)
    }

    @Test(
        arguments: [
            ("0", .integer(0)),
            ("-0", .integer(0)),
            ("-12", .integer(-12)),
            ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("-9223372036854775809", .number(-9_223_372_036_854_775_808)),
            ("1.0", .number(1)),
            ("-0.0", .number(-0.0)),
            ("0.5", .number(0.5)),
            ("1e2", .number(100)),
            ("1E+2", .number(100)),
            ("25e-1", .number(2.5)),
            ("0e0", .number(0)),
            ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
            ("5e-324", .number(.leastNonzeroMagnitude)),
            ("1e-400", .number(0)),
        ] as [(String, JSON)]
    )
    func `an integer that fits is an integer, and any other number is a double`(text: String, value: JSON) throws {
        #expect(try read(text) == value)
    }

    @Test func `a number may have any number of digits`() throws {
        let zeros = String(repeating: "0", count: 60_000)
        #expect(try read("0.\(zeros)1") == .number(0))
        #expect(try read("1.\(zeros)") == .number(1))
    }

    @Test(arguments: [
        (#""""#, ""),
        (#""a""#, "a"),
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0041\u00e9\uD55C\uFFFF""#, "Aé한\u{FFFF}"),
        (#""\ud83d\ude00\uDBFF\uDFFF""#, "😀\u{10FFFF}"),
        (#""\ud800\udc00""#, "\u{10000}"),
        (#""x\u0001y""#, "x\u{1}y"),
        (
            "\"é한😀\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}\"",
            "é한😀\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}"
        ),
        ("\"\u{FEFF}\"", "\u{FEFF}"),
    ])
    func `strings are read with their escapes resolved`(text: String, value: String) throws {
        #expect(try read(text) == .string(value))
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd, 0),
            ("  ", .unexpectedEnd, 2),
            ("[", .unexpectedEnd, 1),
            (#"{"a""#, .unexpectedEnd, 4),
            ("[1,]", .unexpectedByte, 3),
            ("[,1]", .unexpectedByte, 1),
            ("[1 2]", .unexpectedByte, 3),
            ("[1}", .unexpectedByte, 2),
            (#"{"a":1,}"#, .unexpectedByte, 7),
            (#"{"a" 1}"#, .unexpectedByte, 5),
            (#"{"a":}"#, .unexpectedByte, 5),
            ("{a:1}", .unexpectedByte, 1),
            ("{1:1}", .unexpectedByte, 1),
            ("'a'", .unexpectedByte, 0),
            ("// a\n1", .unexpectedByte, 0),
            ("\u{FEFF}{}", .unexpectedByte, 0),
            ("\u{A0}1", .unexpectedByte, 0),
            ("\u{0}", .unexpectedByte, 0),
            ("\u{C}1", .unexpectedByte, 0),
            ("True", .unexpectedByte, 0),
            ("nulL", .unexpectedByte, 3),
            ("nul", .unexpectedEnd, 3),
            ("truee", .trailingBytes, 4),
            ("{} {}", .trailingBytes, 3),
            ("1\u{0}", .trailingBytes, 1),
        ] as [(String, MalformedBody.Reason, Int)]
    )
    func `malformed JSON is refused`(text: String, reason: MalformedBody.Reason, offset: Int) {
        #expect(throws: MalformedBody(reason: reason, offset: offset)) { try read(text) }
    }

    @Test(
        arguments: [
            ("+1", .unexpectedByte, 0),
            (".5", .unexpectedByte, 0),
            ("NaN", .unexpectedByte, 0),
            ("Infinity", .unexpectedByte, 0),
            ("-Infinity", .malformedNumber, 1),
            ("-", .unexpectedEnd, 1),
            ("1.", .unexpectedEnd, 2),
            ("[1.]", .malformedNumber, 3),
            ("1.e1", .malformedNumber, 2),
            ("1e", .unexpectedEnd, 2),
            ("1e+-1", .malformedNumber, 3),
            ("01", .malformedNumber, 0),
            ("-01", .malformedNumber, 0),
            ("00", .malformedNumber, 0),
            ("0x10", .trailingBytes, 1),
            ("1_000", .trailingBytes, 1),
            ("１", .unexpectedByte, 0),
            ("1e309", .numberOutOfRange, 0),
            ("-1e309", .numberOutOfRange, 0),
            ("1" + String(repeating: "0", count: 309), .numberOutOfRange, 0),
        ] as [(String, MalformedBody.Reason, Int)]
    )
    func `numbers outside the grammar or the range are refused`(
        text: String,
        reason: MalformedBody.Reason,
        offset: Int
    ) {
        #expect(throws: MalformedBody(reason: reason, offset: offset)) { try read(text) }
    }

    @Test(
        arguments: [
            (#""a"#, .unexpectedEnd, 2),
            (#""a\"#, .unexpectedEnd, 3),
            (#""a\""#, .unexpectedEnd, 4),
            ("\"a\nb\"", .controlCharacter, 2),
            ("\"\u{1F}\"", .controlCharacter, 1),
            ("\"a\u{0}\"", .nul, 2),
            (#""a\u0000""#, .nul, 2),
            ("{\"a\u{0}\":1}", .nul, 3),
            (#"{"\u0000":1}"#, .nul, 2),
            (#""\a""#, .malformedEscape, 1),
            (#""\é""#, .malformedEscape, 1),
            (#""\U0041""#, .malformedEscape, 1),
            (#""\u""#, .malformedEscape, 1),
            (#""\u004""#, .malformedEscape, 1),
            (#""\u00g1""#, .malformedEscape, 1),
            (#""\u+041""#, .malformedEscape, 1),
            (#""\u{41}""#, .malformedEscape, 1),
            (#""x\ud800""#, .loneSurrogate, 2),
            (#""\ud800x""#, .loneSurrogate, 1),
            (#""\ud800\n""#, .loneSurrogate, 1),
            (#""\ud800\ud800""#, .loneSurrogate, 1),
            (#""\ud800\u0041""#, .loneSurrogate, 1),
            (#""\ud800\u""#, .malformedEscape, 1),
            (#""\udc00""#, .loneSurrogate, 1),
            (#""\udc00\ud800""#, .loneSurrogate, 1),
            (#"{"\ud800":1}"#, .loneSurrogate, 2),
        ] as [(String, MalformedBody.Reason, Int)]
    )
    func `malformed strings are refused`(text: String, reason: MalformedBody.Reason, offset: Int) {
        #expect(throws: MalformedBody(reason: reason, offset: offset)) { try read(text) }
        #expect(throws: MalformedBody(reason: reason, offset: offset + 5)) {
            try readAnswers(Array((#"{"s":"# + text).utf8), secretMembers: ["s"])
        }
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xFF], [0xFE],
            [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xC3], [0xC3, 0x28], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28],
            [0xF0, 0x9F, 0x98], [0xF0, 0x28, 0x8C, 0xBC], [0xF0, 0x90, 0x28, 0xBC], [0xF0, 0x90, 0x8C, 0x28],
        ] as [[UInt8]]
    )
    func `bytes that are not UTF-8 are refused and not repaired`(sequence: [UInt8]) {
        let refusal = MalformedBody(reason: .notUTF8, offset: 2)
        #expect(throws: refusal) { try JSON.read(Array("\"a".utf8) + sequence + Array("\"".utf8)) }
        #expect(throws: refusal) { try JSON.read(Array("\"a".utf8) + sequence) }
    }

    @Test(arguments: ["\u{323}", "\u{344}", "\u{F73}", "\u{F75}\u{F73}", "\\u0344", "\\u0f75"])
    func `a hundred combining marks in a row are refused`(mark: String) throws {
        let count = mark.unicodeScalars.count == 2 ? 50 : 100
        let most = String(repeating: mark, count: count - 1)
        for text in ["\"a\(most)\"", "[\"\(most)b\(most)\"]", "{\"a\(most)\":1}"] {
            _ = try JSON.read(Array(text.utf8))
        }
        for (text, offset) in [("\"a\(most)\(mark)\"", 1), ("{\"\(most)\(mark)\":1}", 2)] {
            #expect(throws: MalformedBody(reason: .tooManyMarks, offset: offset)) { try JSON.read(Array(text.utf8)) }
        }
    }

    @Test(arguments: [true, false])
    func `UTF-16 is refused`(isBigEndian: Bool) {
        for text in ["{}", "\u{FEFF}{}", "1", #""a""#] {
            let bytes = text.utf16.flatMap { unit -> [UInt8] in
                let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
                return isBigEndian ? pair : pair.reversed()
            }
            #expect(throws: MalformedBody.self) { try JSON.read(bytes) }
        }
    }

    @Test func `32 nested levels are read, and 33 are refused`() throws {
        #expect(try read(nested(32)).text == nested(32))
        #expect(throws: MalformedBody(reason: .tooDeep, offset: 32)) { try read(nested(33)) }
        #expect(try read(nestedObjects(32)).text == nestedObjects(32))
        #expect(throws: MalformedBody(reason: .tooDeep, offset: 160)) { try read(nestedObjects(33)) }
    }

    @Test(arguments: [("[1,2,[]]", 4, 5), (#"{"a":{"b":1},"c":2}"#, 4, 17), ("[[[[4]]]]", 5, 4), ("7", 1, 0)])
    func `more values than the maximum are refused`(text: String, values: Int, last: Int) throws {
        func read(_ maximum: Int) throws(MalformedBody) -> JSON {
            try Array(text.utf8).span.bytes.withUnsafeBytes { (bytes) throws(MalformedBody) in
                try JSON.read(bytes, maximumValues: maximum)
            }
        }
        #expect(try read(values).text == text)
        #expect(throws: MalformedBody(reason: .tooMany, offset: last)) { try read(values - 1) }
    }

    @Test func `secret members count as values`() throws {
        let bytes = Array(#"{"a":"b","c":"d"}"#.utf8)
        func read(_ maximum: Int) throws {
            try bytes.withUnsafeBytes { bytes in
                _ = try Answers.readJSON(bytes, secretMembers: ["a", "c"], maximumValues: maximum)
            }
        }
        try read(3)
        #expect(throws: MalformedBody(reason: .tooMany, offset: 13)) { try read(2) }
    }

    @Test func `closed levels do not count towards the depth`() throws {
        let text = "[" + Array(repeating: nested(31), count: 100).joined(separator: ",") + "]"
        #expect(try read(text).text == text)
    }

    @Test(arguments: [
        (#"{"a":1,"a":1}"#, 7),
        (#"{"a":1,"\u0061":2}"#, 7),
        (#"{"":1,"b":2,"":3}"#, 12),
        (#"[{"x":{"é":1,"é":2}}]"#, 14),
    ])
    func `a duplicate name is refused`(text: String, offset: Int) {
        #expect(throws: MalformedBody(reason: .duplicateName, offset: offset)) { try read(text) }
    }

    @Test(arguments: [2, 7, 8, 9, 10, 100])
    func `a duplicate name is found among few names and among many`(count: Int) throws {
        let names = (1..<count).map { #""\#($0)":0"# }
        let distinct = "{" + names.joined(separator: ",") + "}"
        #expect(try read(distinct).text == distinct)
        for repeated in names {
            let text = "{" + (names + [repeated]).joined(separator: ",") + "}"
            let refusal = MalformedBody(reason: .duplicateName, offset: text.utf8.count - repeated.utf8.count - 1)
            #expect(throws: refusal) { try read(text) }
        }
    }

    @Test(arguments: [0, 20])
    func `names that look the same but differ in bytes are different`(others: Int) throws {
        let names = (0..<others).map { #""\#($0)":0,"# }.joined()
        let text = "{\(names)\"\u{E9}\":1,\"e\u{301}\":2}"
        #expect(try read(text).bytes == Array(text.utf8))
    }

    @Test func `different objects may have the same name`() throws {
        #expect(try read(#"{"a":{"a":[{"a":1},{"a":2}]}}"#) == ["a": ["a": [["a": 1], ["a": 2]]]])
    }

    @Test func `an error has only the reason and the offset`() {
        #expect(throws: MalformedBody.self) { try read(#"{"hunter2":1,"hunter2":2}"#) }
        #expect(MalformedBody(reason: .duplicateName, offset: 12).description == "duplicate name at byte 12")
        #expect("\(MalformedBody(reason: .nul, offset: 3))" == "NUL at byte 3")
    }
}

@Suite("Secrets in JSON")
struct JSONSecretTests {
    private func read(_ text: String, secretMembers: Set<String>) throws -> Answers {
        try #require(try readAnswers(Array(text.utf8), secretMembers: secretMembers))
    }

    private func bytes(of value: FieldAnswer?) -> [UInt8]? {
        guard case .secret(let shared) = value else { return nil }
        return shared.secret.withBytes { Array($0) }
    }

    @Test(arguments: [
        (#""""#, ""),
        (#""correct horse""#, "correct horse"),
        (#""한é😀""#, "한é😀"),
        (#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#, "\"\\/\u{8}\u{C}\n\r\té😀"),
    ])
    func `a secret holds the bytes of the text with escapes resolved`(literal: String, text: String) throws {
        let value = try read(#"{"a":1,"password":\#(literal)}"#, secretMembers: ["password"])
        #expect(bytes(of: value["password"]) == Array(text.utf8))
        #expect(value["a"]?.json == 1)
    }

    @Test func `a name spelled with escapes is the same name`() throws {
        let value = try read(#"{"pass\u0077ord":"x"}"#, secretMembers: ["password"])
        #expect(bytes(of: value["password"]) == Array("x".utf8))
    }

    @Test func `only the named members are secrets`() throws {
        let value = try read(
            #"{"password":"x","note":"y","confirmation":"z"}"#,
            secretMembers: ["password", "confirmation"]
        )
        #expect(bytes(of: value["password"]) == Array("x".utf8))
        #expect(bytes(of: value["confirmation"]) == Array("z".utf8))
        #expect(value["note"]?.json == "y")
    }

    @Test(arguments: ["null", "true", "1", "1.5", #"["x"]"#, #"{"password":"x"}"#])
    func `a secret member that is not a string is read as ordinary JSON`(literal: String) throws {
        let value = try read(#"{"password":\#(literal)}"#, secretMembers: ["password"])
        #expect(try value["password"]?.json == JSON.read(Array(literal.utf8)))
    }

    @Test(arguments: [#"{"a":{"password":"x"}}"#, #"{"a":[],"b":{"password":"x"}}"#])
    func `members of nested objects are not secrets`(text: String) throws {
        #expect(try read(text, secretMembers: ["password"]).json.text == text)
    }

    @Test(arguments: [#"[{"password":"x"}]"#, "null", "1", #""password""#])
    func `JSON other than an object has no answers`(text: String) throws {
        #expect(try readAnswers(Array(text.utf8), secretMembers: ["password"]) == nil)
    }

    @Test func `a duplicate secret is refused`() {
        #expect(throws: MalformedBody(reason: .duplicateName, offset: 16)) {
            try read(#"{"password":"x","password":"x"}"#, secretMembers: ["password"])
        }
    }
}

@Suite("Writing JSON")
struct JSONWriterTests {
    @Test(
        arguments: [
            (nil, "null"),
            (true, "true"),
            (false, "false"),
            (.integer(.min), "-9223372036854775808"),
            (.number(1), "1.0"),
            (.number(0.1), "0.1"),
            (.number(-0.0), "-0.0"),
            (.number(1e300), "1e+300"),
            (.number(.leastNonzeroMagnitude), "5e-324"),
            ([], "[]"),
            ([1, "a", []], #"[1,"a",[]]"#),
            ([:], "{}"),
            (["b": 1, "a": ["": nil]], #"{"b":1,"a":{"":null}}"#),
            (["\"\n": 1], #"{"\"\n":1}"#),
            ("\"\\/", #""\"\\/""#),
            ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\u{0}\u{1}\u{F}\u{10}\u{1F} \u{7F}", #""\u0000\u0001\u000f\u0010\u001f \u007f""#),
            ("a\u{2027}\u{2028}b\u{2029}\u{202A}", "\"a\u{2027}\\u2028b\\u2029\u{202A}\""),
            ("\u{80}\u{9B}31m\u{9F}\u{A0}\u{BF}", "\"\\u0080\\u009b31m\\u009f\u{A0}\u{BF}\""),
            ("é한😀", #""é한😀""#),
        ] as [(JSON, String)]
    )
    func `values are written compactly with few escapes`(value: JSON, text: String) {
        #expect(value.bytes == Array(text.utf8))
        #expect(value.text == text)
    }

    @Test func `writing appends to the output`() {
        var output = Array("data: ".utf8)
        JSON.array([1, 2]).write(into: &output)
        #expect(output == Array("data: [1,2]".utf8))
    }

    @Test func `infinity cannot be written`() async {
        await #expect(processExitsWith: .failure) {
            _ = JSON.number(.infinity).bytes
        }
    }

    @Test(arguments: UInt64(0)..<200)
    func `written JSON reads back as the same value`(seed: UInt64) throws {
        var chance = SplitMix(state: seed)
        let value = JSON.random(levels: 5, using: &chance)
        let written = value.bytes
        let back = try JSON.read(written)
        #expect(back == value)
        #expect(back.bytes == written)
    }
}

@Suite("Hostile JSON")
struct HostileJSONTests {
    private static let size = 64 * 1024

    @Test(arguments: ["[", "{", "\"", "\\", "-", #"{"a":"#, #"[{"":"#])
    func `a body that repeats one piece is refused`(piece: String) {
        let text = String(repeating: piece, count: Self.size / piece.utf8.count)
        #expect(throws: MalformedBody.self) { try read(text) }
    }

    @Test func `a body with thousands of names is read, and refused if the last name repeats the first`() throws {
        let names = (0..<Self.size / 10).map { #""\#(100_000 + $0)":1"# }
        let distinct = "{" + names.joined(separator: ",") + "}"
        #expect(try read(distinct).text == distinct)
        let text = "{" + (names + names.prefix(1)).joined(separator: ",") + "}"
        #expect(throws: MalformedBody(reason: .duplicateName, offset: text.utf8.count - 11)) { try read(text) }
    }

    @Test(arguments: [Set<String>(), ["name", "note"]])
    func `a truncated document is refused`(secretMembers: Set<String>) throws {
        let text =
            #"{"name":"Ann \"\u00e9\ud83d\ude00 한😀","note":"\\","list":[1,-2.5e+3,true,false,null,{"a":[]}],"é":{}}"#
        let bytes = Array(text.utf8)
        #expect(throws: Never.self) { try readAnswers(bytes, secretMembers: secretMembers) }
        for length in bytes.indices {
            #expect(throws: MalformedBody.self, "cut after \(length) bytes") {
                try readAnswers(Array(bytes[..<length]), secretMembers: secretMembers)
            }
        }
    }

    @Test(arguments: UInt64(0)..<50)
    func `a document with damaged bytes is refused or reads back the same`(seed: UInt64) throws {
        var chance = SplitMix(state: seed)
        let bytes = JSON.object([JSON.Member("a", .random(levels: 4, using: &chance))]).bytes
        for _ in 0..<100 {
            var damaged = bytes
            damaged[Int.random(in: bytes.indices, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
            guard let value = try? JSON.read(damaged) else { continue }
            #expect(try JSON.read(value.bytes) == value)
        }
    }
}

/// A generator that returns the same numbers for the same seed on all platforms (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", 2014).
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension JSON {
    fileprivate static func random(levels: Int, using chance: inout SplitMix) -> JSON {
        switch Int.random(in: 0..<(levels > 1 ? 9 : 6), using: &chance) {
        case 0: return nil
        case 1: return .bool(.random(using: &chance))
        case 2: return .integer(Int(truncatingIfNeeded: chance.next()))
        case 3:
            let number = Double(bitPattern: chance.next())
            return .number(number.isFinite ? number : 0.1)
        case 4, 5: return .string(randomText(using: &chance))
        case 6: return .array((0..<3).map { _ in random(levels: levels - 1, using: &chance) })
        default:
            return .object(
                (0..<12).map { index in
                    Member("\(index)" + randomText(using: &chance), random(levels: levels - 1, using: &chance))
                }
            )
        }
    }

    /// Random text without NUL. Small code points are more likely, so that all escapes and UTF-8 lengths occur.
    private static func randomText(using chance: inout SplitMix) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<12, using: &chance) {
            let bits = Int.random(in: 1...21, using: &chance)
            let value = UInt32.random(in: 1..<(1 << bits) + 1, using: &chance)
            if let scalar = Unicode.Scalar(value) { text.append(scalar) }
        }
        return String(text)
    }
}
