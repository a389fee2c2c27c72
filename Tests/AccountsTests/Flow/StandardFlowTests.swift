import Foundation
import Testing

@testable import Accounts

@Suite("The built-in flow")
struct StandardFlowTests {
    @Test func `the steps have the expected order, and only totp is optional`() throws {
        let flow = try Flow.standard()
        #expect(flow.id == "default@1")
        #expect(flow.steps.map(\.name) == ["email", "code", "password", "profile", "contact", "totp", "terms"])
        #expect(flow.steps.filter(\.isOptional).map(\.name) == ["totp"])
        #expect(flow.steps.map(\.href).first == "/signup/email")
    }

    @Test func `a draft expires a day after its last change, and after a week at the latest`() throws {
        let flow = try Flow.standard()
        #expect(flow.expiry.idle == .seconds(86_400) && flow.expiry.absolute == .seconds(604_800))
        #expect(flow.zone.identifier == "Asia/Seoul" && flow.languages == [.english, .korean])
    }

    @Test(arguments: [
        ("email", "email", "email", true, true), ("code", "code", "code", true, false),
        ("password", "password", "password", true, false), ("password", "confirmation", "confirmation", true, false),
        ("profile", "username", "username", true, true), ("profile", "display_name", "text", false, false),
        ("profile", "introduction", "text", false, false), ("profile", "photo", "image", false, false),
        ("contact", "phone", "phone", false, false),
        ("contact", "birth_date", "date", true, false),
        ("totp", "totp", "totp", true, false), ("terms", "terms", "consent", true, false),
        ("terms", "marketing", "consent", false, false),
    ])
    func `the flow has each of the expected fields`(
        step: String,
        field: String,
        kind: String,
        isRequired: Bool,
        isIdentifier: Bool
    )
        throws
    {
        let flow = try Flow.standard()
        let found = try #require(flow.step(named: StepName(step))?.field(named: FieldName(field)))
        #expect(type(of: found.kind).name == kind)
        #expect(found.isRequired == isRequired && found.isIdentifier == isIdentifier)
        #expect(flow.field(named: FieldName(field))?.name == found.name)
    }

    @Test func `every help ends with a full stop in every language`() throws {
        let helps = try Flow.standard().fields.flatMap(\.helps.values)
        #expect(!helps.isEmpty && helps.allSatisfy { $0.hasSuffix(".") })
    }

    @Test func `the flow has no other fields`() throws {
        let flow = try Flow.standard()
        #expect(flow.fields.count == 13)
        #expect(flow.step(named: "review") == nil && flow.field(named: "avatar") == nil)
    }

    @Test(
        arguments: [
            ("email", [.init("max", 254)]),
            ("code", [.init("proves", "email"), .init("digits", 6)]),
            ("password", [.init("min", 15), .init("max", 256)]),
            ("confirmation", [.init("confirms", "password")]),
            ("display_name", [.init("min", 1), .init("max", 50), .init("lines", "one")]),
            ("introduction", [.init("min", 0), .init("max", 500), .init("lines", "many")]),
            ("birth_date", [.init("format", "YYYY-MM-DD"), .init("min_age", 14)]), ("phone", [.init("region", "KR")]),
        ] as [(String, [JSON.Member])]
    )
    func `each field has the expected rules`(field: String, rules: [JSON.Member]) throws {
        #expect(try Flow.standard().field(named: FieldName(field))?.kind.rules(in: .english) == rules)
    }

    @Test func `the code proves the address and has the default digits, attempts, lifetime and resend interval`() throws
    {
        let code = try #require(try Flow.standard().code(proving: "email"))
        #expect(code.field.name == "code" && code.kind.digits == 6 && code.kind.attempts == 5)
        #expect(code.kind.lifetime == .seconds(600) && code.kind.resendAfter == .seconds(60))
        #expect(try Flow.standard().code(proving: "username") == nil)
    }

    @Test func `every step and field has a text in every language`() throws {
        let flow = try Flow.standard()
        for texts in flow.steps.map(\.titles) + flow.fields.map(\.labels) {
            #expect(Set(texts.keys) == Set(Language.builtIn))
        }
    }
}
