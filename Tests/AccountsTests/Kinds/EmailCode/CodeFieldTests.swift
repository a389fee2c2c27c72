import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("A code that proves an address")
struct CodeFieldTests {
    let code: AskedField

    init() throws {
        code = try AskedField(["name: email, kind: email"], ["name: code, kind: code, proves: email"])
    }

    private static func asked(_ rules: String) throws -> AskedField {
        try AskedField(["name: email, kind: email"], ["name: code, kind: code, proves: email, \(rules)"])
    }

    @Test(arguments: [
        ("123456", "123456"), ("000000", "000000"), ("012345", "012345"), ("123 456", "123456"),
        (" 1 2 3 4 5 6 ", "123456"),
    ])
    func `six digits are a code, with spaces where they please`(typed: String, form: String) throws {
        #expect(try code.canonical(.string(typed)) == .string(form))
        #expect(try code.canonical(.string(form)) == .string(form))
    }

    @Test(arguments: [
        "12345", "1234567", "abcdef", "12345a", "-12345", "+12345", "12.456", "0x1234", "1e5000", "123-456", "123\n456",
        "123456\n", "\t123456", "123\u{A0}456", "١٢٣٤٥٦", "１２３４５６", "12345٦", "¹²³⁴⁵⁶", "123456\u{301}", "      ", " ",
        "\0" + "12345", "\u{202E}123456",
    ])
    func `anything else is malformed`(typed: String) {
        #expect(code.refusals(.string(typed)) == [Refusal("code", .badFormat, ["digits": 6])])
    }

    @Test(arguments: [6, 7, 10])
    func `the flow decides how many digits`(digits: Int) throws {
        let code = try Self.asked("digits: \(digits)")
        for length in 5...11 {
            let isAccepted = code.refusals(.string(String(repeating: "0", count: length))).isEmpty
            #expect(isAccepted == (length == digits))
        }
        #expect(code.field.kind.rules(in: .english) == [.init("proves", "email"), .init("digits", .integer(digits))])
    }

    @Test func `no answer is required`() {
        #expect(code.refusals("") == [Refusal("code", .required)])
    }

    @Test(
        arguments: [123_456, true, .number(123_456), ["123456"], ["code": "123456"], .typed("123456")] as [FieldAnswer]
    )
    func `only a text is a code`(answer: FieldAnswer) {
        #expect(code.refusals(answer) == [Refusal("code", .wrongType, ["expected": "string"])])
    }

    @Test(arguments: HostileText.all)
    func `a hostile text is refused`(hostile: HostileText) {
        #expect(code.refusals(.string(hostile.text)) == [Refusal("code", .badFormat, ["digits": 6])])
    }

    @Test func `it holds by its proof, whatever is stored`() {
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

    @Test func `without rules it lives ten minutes, bears five attempts, and comes again after a minute`() throws {
        let kind = try #require(code.field.kind as? CodeField)
        #expect(kind.digits == 6 && kind.attempts == 5)
        #expect(kind.lifetime == .seconds(600) && kind.resendAfter == .seconds(60))
    }

    @Test(arguments: [
        "digits: 5", "digits: 11", "attempts: 0", "attempts: 6", "lifetime: 59s", "lifetime: 601s", "lifetime: 11m",
        "resend: 29s", "resend: 61m", "digits: six",
    ])
    func `rules beyond their bounds are refused`(rule: String) {
        #expect(throws: FlowFileError.self) { try Self.asked(rule) }
    }

    @Test func `rules at their bounds are kept`() throws {
        let least = try Self.asked("digits: 6, attempts: 1, lifetime: 60s, resend: 30s").field.kind as? CodeField
        #expect(least?.attempts == 1 && least?.lifetime == .seconds(60) && least?.resendAfter == .seconds(30))
        let most = try Self.asked("digits: 10, attempts: 5, lifetime: 10m, resend: 1h").field.kind as? CodeField
        #expect(most?.digits == 10 && most?.lifetime == .seconds(600) && most?.resendAfter == .seconds(3600))
    }
}

@Suite("A code that is on its way")
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
            isForCurrentAddress: isForCurrentAddress
        )
        return proof.isUsable(by: code, at: sentAt + seconds)
    }

    @Test func `it can be given until its time, its attempts or the patience of the draft are spent`() throws {
        #expect(try isUsable())
        #expect(try isUsable(after: 599.999))
        #expect(try !isUsable(after: 600))
        #expect(try isUsable(attempts: 4))
        #expect(try !isUsable(attempts: 5))
        #expect(try isUsable(failures: 24))
        #expect(try !isUsable(failures: 25))
        #expect(try !isUsable(isForCurrentAddress: false))
    }

    @Test func `an address is proved only while the draft names it`() {
        #expect(Proof.proved().isProved)
        #expect(!Proof.pending.isProved)
        #expect(!Proof.proved(forCurrentAddress: false).isProved)
    }
}
