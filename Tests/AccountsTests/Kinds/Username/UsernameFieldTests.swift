import TestSupport
import Testing

@testable import Accounts

@Suite("A username field")
struct UsernameFieldTests {
    let username: AskedField

    init() throws {
        username = try AskedField(["name: username, kind: username"])
    }

    @Test(arguments: [
        ("ann", "ann"), ("Ann", "ann"), ("ANN-LEE", "ann-lee"), ("a.b_c-d", "a.b_c-d"), ("a1b2", "a1b2"),
        ("abc-", "abc-"),
        ("admin1", "admin1"), ("x" + String(repeating: "9", count: 29), "x" + String(repeating: "9", count: 29)),
    ])
    func `a username is lower-cased to its canonical form`(typed: String, form: String) throws {
        #expect(try username.canonical(.string(typed)) == .string(form))
        #expect(try username.isSettled(on: .string(form)))
    }

    @Test(arguments: [
        (1, Refusal.Code.tooShort), (2, .tooShort), (3, nil), (30, nil), (31, .tooLong), (65_536, .tooLong),
    ])
    func `a username has from 3 to 30 characters`(length: Int, code: Refusal.Code?) {
        let params: [String: JSON] = length < 3 ? ["min": 3] : ["max": 30]
        let refusal = code.map { Refusal("username", $0, params.merging(["actual": .integer(length)]) { $1 }) }
        #expect(username.refusals(.string(String(repeating: "q", count: length))) == [refusal].compactMap { $0 })
    }

    @Test(arguments: ["1ann", "9999", ".ann", "_ann", "-ann", "a..b", "a.-b", "a__b", "a-_b", "ann--", "..."])
    func `a username starts with a letter and has no two marks in a row`(typed: String) {
        #expect(username.refusals(.string(typed)) == [Refusal("username", .badFormat)])
    }

    @Test(arguments: [
        "ann lee", " ann", "ann ", "ann@b.example", "ann/lee", "ann+lee", "ann\0", "ann\n", "änn", "a\u{301}nn",
        "an\u{301}",
        "\u{212A}im", "\u{17F}am", "İan", "аnna", "ｋｉｍ", "김민서", "ann٣", "ann\u{200B}", "\u{202E}ann", "👨‍👩‍👧‍👦", "ann%00",
        "é",
    ])
    func `a username with other characters than ASCII letters, digits and three marks is refused`(typed: String) {
        #expect(username.refusals(.string(typed)) == [Refusal("username", .badCharacters)])
    }

    @Test(arguments: ["admin", "Admin", "ROOT", "postmaster", "no-reply", "mailer-daemon", "www", "review", "null"])
    func `names of roles and of parts of the service are reserved`(typed: String) {
        #expect(username.refusals(.string(typed)) == [Refusal("username", .reserved)])
        #expect(!username.holds(.string(typed)))
    }

    @Test(arguments: [
        "adm1n", "a.dmin", "a-d_m-i.n", "admln", "r00t", "roo7", "supp0rt", "postrnaster", "vvebmaster",
        "he1p",
        "secur1ty", "sy5tem", "no_reply", "b1og", "rnoderator", "officia1", "w-w-w", "vvvvvv", "b1ll1ng",
    ])
    func `a name that looks like a reserved one is reserved`(typed: String) {
        #expect(username.refusals(.string(typed)) == [Refusal("username", .reserved)])
    }

    @Test(arguments: ["admins", "myadmin", "rooted", "supporter", "kim.1", "mailman", "lnfo2", "teamwork", "adrian"])
    func `a name that only begins or ends like a reserved one is accepted`(typed: String) {
        #expect(username.refusals(.string(typed)).isEmpty)
    }

    @Test func `the published pattern accepts the same names as the service`() throws {
        let rules = username.field.kind.rules(in: .english)
        #expect(rules.map(\.name) == ["min", "max", "pattern"] && rules[0].value == 3 && rules[1].value == 30)
        let text = try #require(rules[2].value.string)
        #expect(!text.contains("_-]"), "browsers compile a pattern with the flag v, which forbids this hyphen")
        let pattern = try Regex(text)
        var chance = SeededChance(seed: 1)
        var accepted = 0
        for _ in 0..<2000 {
            let length = Int.random(in: 3...8, using: &chance)
            let typed = String((0..<length).map { _ in "abzAZ019._-".randomElement(using: &chance)! })
            let isAccepted = username.refusals(.string(typed)).isEmpty
            #expect(isAccepted == (typed.wholeMatch(of: pattern) != nil), "\(typed)")
            accepted += isAccepted ? 1 : 0
        }
        #expect((200..<1800).contains(accepted))
    }

    @Test func `a missing answer is refused as required`() {
        #expect(username.refusals("") == [Refusal("username", .required)])
    }

    @Test(arguments: [true, 1, .number(0.5), ["ann"], ["username": "ann"], .typed("ann")] as [FieldAnswer])
    func `an answer that is not a string is refused`(answer: FieldAnswer) {
        #expect(username.refusals(answer) == [Refusal("username", .wrongType, ["expected": "string"])])
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        #expect(username.refusals(.string(hostile.text)).count == 1)
        #expect(!username.holds(.string(hostile.text)))
    }

    @Test(arguments: [nil, "", "Ann", "an", "1ann", 5] as [JSON?])
    func `a stored username that is not canonical is invalid`(stored: JSON?) {
        #expect(!username.holds(stored))
    }

    @Test func `a password must not equal the username`() {
        #expect(username.field.kind.contextWords(ofJSON: "ann-lee") == ["ann-lee"])
        #expect(username.field.kind.contextWords(ofJSON: nil).isEmpty)
    }
}
