import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("A code field")
struct CodeFieldTests {
    let code: AskedField

    init() throws {
        code = try AskedField(["name: email, kind: email"], ["name: code, kind: code, proves: email"])
    }

    private static func codeField(_ rules: String) throws -> AskedField {
        try AskedField(["name: email, kind: email"], ["name: code, kind: code, proves: email, \(rules)"])
    }

    @Test(arguments: [
        ("123456", "123456"), ("000000", "000000"), ("012345", "012345"), ("123 456", "123456"),
        (" 1 2 3 4 5 6 ", "123456"), ("１２３４５６", "123456"), ("０９\u{3000}3４５6", "093456"),
    ])
    func `six digits are a code, with or without spaces, ASCII or full-width`(typed: String, form: String) throws {
        #expect(try code.canonical(.string(typed)) == .string(form))
        #expect(try code.canonical(.string(form)) == .string(form))
        let pattern = try Regex(#require(code.field.kind.answerSchema["pattern"]?.string))
        #expect(typed.wholeMatch(of: pattern) != nil, "the published pattern accepts the code, too")
    }

    @Test(arguments: [
        "12345", "1234567", "abcdef", "12345a", "-12345", "+12345", "12.456", "0x1234", "1e5000", "123-456", "123\n456",
        "123456\n", "\t123456", "123\u{A0}456", "١٢٣٤٥٦", "１２３４５", "12345٦", "¹²³⁴⁵⁶", "123456\u{301}", "      ", " ",
        "\0" + "12345", "\u{202E}123456",
    ])
    func `any other text is malformed`(typed: String) {
        #expect(code.refusals(.string(typed)) == [Refusal("code", .badFormat, ["digits": 6])])
    }

    @Test(arguments: [6, 7, 10])
    func `the flow sets the number of digits`(digits: Int) throws {
        let code = try Self.codeField("digits: \(digits)")
        for length in 5...11 {
            let isAccepted = code.refusals(.string(String(repeating: "0", count: length))).isEmpty
            #expect(isAccepted == (length == digits))
        }
        #expect(code.field.kind.rules(in: .english) == [.init("proves", "email"), .init("digits", .integer(digits))])
    }

    @Test func `a missing answer is refused as required`() {
        #expect(code.refusals("") == [Refusal("code", .required)])
    }

    @Test(
        arguments: [123_456, true, .number(123_456), ["123456"], ["code": "123456"], .typed("123456")] as [FieldAnswer]
    )
    func `an answer that is not a string is refused`(answer: FieldAnswer) {
        #expect(code.refusals(answer) == [Refusal("code", .wrongType, ["expected": "string"])])
    }

    @Test(arguments: HostileText.all)
    func `a 64 KiB text is refused`(hostile: HostileText) {
        #expect(code.refusals(.string(hostile.text)) == [Refusal("code", .badFormat, ["digits": 6])])
    }

    @Test func `a code field is complete if the current address is proved, whatever value is stored`() {
        var code = code
        for stored in [nil, "123456"] as [JSON?] {
            code.context = code.context.with(proofs: [:])
            #expect(!code.holds(stored))
            code.context = code.context.with(proofs: ["code": .pending])
            #expect(!code.holds(stored))
            code.context = code.context.with(proofs: ["code": .proved(forCurrentAddress: false)])
            #expect(!code.holds(stored))
            code.context = code.context.with(proofs: ["other": .proved()])
            #expect(!code.holds(stored))
            code.context = code.context.with(proofs: ["code": .proved()])
            #expect(code.holds(stored))
        }
        #expect(code.field.kind.keepsNothing)
    }

    @Test func `the defaults are six digits, five attempts, ten minutes and a resend after a minute`() throws {
        let kind = try #require(code.field.kind as? CodeField)
        #expect(kind.digits == 6 && kind.attempts == 5)
        #expect(kind.lifetime == .seconds(600) && kind.resendAfter == .seconds(60))
    }

    @Test(arguments: [
        "digits: 5", "digits: 11", "attempts: 0", "attempts: 6", "lifetime: 59s", "lifetime: 601s", "lifetime: 11m",
        "resend: 29s", "resend: 61m", "digits: six",
    ])
    func `rules out of bounds are refused`(rule: String) {
        #expect(throws: YAMLFileError.self) { try Self.codeField(rule) }
    }

    @Test func `rules at their bounds are accepted`() throws {
        let minimum = try Self.codeField("digits: 6, attempts: 1, lifetime: 60s, resend: 30s").field.kind as? CodeField
        #expect(minimum?.attempts == 1 && minimum?.lifetime == .seconds(60) && minimum?.resendAfter == .seconds(30))
        let maximum = try Self.codeField("digits: 10, attempts: 5, lifetime: 10m, resend: 1h").field.kind as? CodeField
        #expect(maximum?.digits == 10 && maximum?.lifetime == .seconds(600) && maximum?.resendAfter == .seconds(3600))
    }
}

@Suite("A pending code")
struct PendingCodeTests {
    private func isUsable(
        attempts: Int = 0,
        failures: Int = 0,
        after seconds: Double = 0,
        isForCurrentAddress: Bool = true
    ) throws -> Bool {
        let flow = try Flow.asking([["name: email, kind: email"], ["name: code, kind: code, proves: email"]])
        let code = try #require(flow.code(proving: "email")?.kind)
        let sentAt = Date.at("2026-01-01T12:00:00Z")
        let proof = Proof(
            generation: 1,
            addressDigest: [],
            attempts: attempts,
            failures: failures,
            sentAt: sentAt,
            expiresAt: sentAt + 600,
            provedAt: nil,
            acceptedCodeDigest: nil,
            isForCurrentAddress: isForCurrentAddress
        )
        return proof.isUsable(for: code, at: sentAt + seconds)
    }

    @Test func `a code is usable until it expires or the attempts of the code or the draft are used up`() throws {
        #expect(try isUsable())
        #expect(try isUsable(after: 599.999))
        #expect(try !isUsable(after: 600))
        #expect(try isUsable(attempts: 4))
        #expect(try !isUsable(attempts: 5))
        #expect(try isUsable(failures: 24))
        #expect(try !isUsable(failures: 25))
        #expect(try !isUsable(isForCurrentAddress: false))
    }

    @Test func `a proof counts only for the current address of the draft`() {
        #expect(Proof.proved().isProved)
        #expect(!Proof.pending.isProved)
        #expect(!Proof.proved(forCurrentAddress: false).isProved)
    }
}
