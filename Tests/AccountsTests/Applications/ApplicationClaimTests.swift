import Foundation
import Testing

@testable import Accounts

@Suite("The claims of an account that an application gets")
struct ApplicationClaimTests {
    private static func account(isEmailProved: Bool = true, profile: JSON = [:]) -> Account {
        Account(
            id: ID(),
            email: "kim@example.com",
            isEmailProved: isEmailProved,
            username: "kim",
            profile: profile,
            createdAt: Date(timeIntervalSince1970: 0)
        )
    }

    private static func application(_ claims: String) throws -> Application {
        try Applications.test(Applications.file("claims: [\(claims)]")).all[0]
    }

    @Test func `an application gets only the fields that it has registered`() throws {
        let account = Self.account(profile: [
            "display_name": "Kim", "birth_date": "2001-02-28", "phone": "+821012345678",
        ])
        let shop = try Self.application("username, birth_date")
        #expect(JSON.object(shop.claims(of: account)) == ["preferred_username": "kim", "birth_date": "2001-02-28"])
        #expect(try Applications.test(Applications.file()).all[0].claims(of: account).isEmpty)
    }

    @Test(arguments: [true, false])
    func `the claims say whether the address was proved`(isProved: Bool) throws {
        let claims = try Self.application("email").claims(of: Self.account(isEmailProved: isProved))
        #expect(JSON.object(claims) == ["email": "kim@example.com", "email_verified": .bool(isProved)])
    }

    @Test func `the claims lack a value that the account lacks, or that is invalid for its field`() throws {
        let shop = try Self.application("display_name, birth_date")
        #expect(shop.claims(of: Self.account()).isEmpty)
        let profile: JSON = ["display_name": ["set": true], "birth_date": "someday"]
        #expect(shop.claims(of: Self.account(profile: profile)).isEmpty)
    }

    /// The mistakes in an applications file with these claims. The flow has these fields, and none is an identifier.
    private static func mistakes(_ fields: [(name: String, kind: String)], claims: String) throws -> [String] {
        let fields = fields.map { "{name: \($0.name), kind: \($0.kind), label: Field}" }.joined(separator: ", ")
        let flow = try Flow(
            yaml: "flow: test\nversion: 1\nsteps: [{name: a, title: A, fields: [\(fields)]}]",
            file: "flow.yaml"
        )
        let yaml =
            "applications:\n  - id: a\n    name: A\n    redirect_uris: ['https://a.example/']\n    claims: [\(claims)]"
        do {
            _ = try Applications.parse(yaml, file: "apps.yaml", flow: flow, publicURL: "https://b.example")
            return []
        } catch {
            return error.mistakes.map(\.description)
        }
    }

    @Test(arguments: ["sub", "iss", "aud", "exp", "sid", "nonce", "amr"])
    func `a field whose name is a claim of the service cannot be a claim`(name: String) throws {
        #expect(
            try Self.mistakes([(name, "text")], claims: name) == [
                "apps.yaml:5: \"\(name)\" cannot be a claim: the service gives it another meaning"
            ]
        )
    }

    @Test(arguments: ["roles", "groups", "entitlements", "permissions", "email_verified", "phone_verified"])
    func `a field whose name applications would trust cannot be a claim`(name: String) throws {
        #expect(
            try Self.mistakes([(name, "text")], claims: name) == [
                "apps.yaml:5: the name \"\(name)\" is reserved for claims that applications trust: rename the field"
            ]
        )
    }

    @Test func `two fields cannot become the same claim`() throws {
        let addresses = [(name: "home", kind: "email"), (name: "work", kind: "email")]
        #expect(
            try Self.mistakes(addresses, claims: "home, work") == [
                "apps.yaml:5: another entry already gives the claim \"email\""
            ]
        )
        #expect(try Self.mistakes(addresses, claims: "work") == [])
        let names = [(name: "username", kind: "username"), (name: "preferred_username", kind: "text")]
        #expect(try Self.mistakes(names, claims: "username, preferred_username").count == 1)
    }

    @Test func `the claims never say that an address is verified if it does not identify the account`() throws {
        let flow = try Flow(
            yaml: "flow: t\nversion: 1\nsteps: [{name: a, title: A, fields: [{name: work, kind: email, label: W}]}]",
            file: "flow.yaml"
        )
        let yaml = "applications: [{id: a, name: A, redirect_uris: ['https://a.example/'], claims: [work]}]"
        let app = try Applications.parse(yaml, file: "apps.yaml", flow: flow, publicURL: "https://b.example").all[0]
        let claims = app.claims(of: Self.account(profile: ["work": "kim@work.example"]))
        #expect(JSON.object(claims) == ["email": "kim@work.example", "email_verified": false])
    }
}
