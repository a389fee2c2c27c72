import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

/// Principle 4 of the design: strangers can neither guess a password nor keep its owner out.
@Suite("Guesses of strangers", .freshDatabase)
struct StrangerTests {
    private static let wrong = "not the pass phrase"

    @Test(arguments: ["kim@example.com", "kim", "nobody@example.com", "nobody"])
    func `fifty guesses from many networks are evaluated, then a new device needs a code`(identifier: String)
        async throws
    {
        try await TestServer.with { site in
            let owner = Browser(site)
            try await owner.signUp()
            var slugs: [String] = []
            for number in 0..<60 {
                let stranger = try Stranger(site, at: "198.51.100.\(number)")
                slugs.append(try await stranger.signIn(identifier, Self.wrong).slug)
            }
            #expect(slugs.prefix(50).allSatisfy { $0 == "sign-in-failed" })
            #expect(slugs.dropFirst(50).allSatisfy { $0 == "code-required" })
            let lucky = try await Browser(site).signIn(identifier)
            #expect(lucky.slug == "code-required" && lucky.json["next"]?["href"] == "/session/code")
            #expect(lucky.json["detail"]?.string?.hasSuffix("Request a code with POST /session/code.") == true)
            if identifier.hasPrefix("kim") {
                #expect(try await owner.signIn(identifier).status == 201, "a known device goes on")
            }
        }
    }

    @Test func `one network has ten guesses, and does not use up those of others`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let stranger = try Stranger(site, at: "2001:db8:1:2::3")
            var slugs: [String] = []
            for number in 1...70 {
                // The neighbour has another /64 of the same /48.
                let neighbour = try Stranger(site, at: "2001:db8:1:\(number)::3")
                slugs.append(try await neighbour.signIn("kim", Self.wrong).slug)
            }
            #expect(slugs.filter { $0 == "sign-in-failed" }.count == 10)
            #expect(try await stranger.signIn("kim").slug == "code-required")
            #expect(try await Stranger(site, at: "2001:db8:2::1").signIn().slug == "session")
            try DatabaseSession().letPass("61 minutes")
            #expect(try await stranger.signIn("kim").slug == "session")
        }
    }

    @Test func `the right password resets the failures of its device, and no others`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            for round in 1...3 {
                for _ in 1...9 { _ = try await kim.signIn("kim", Self.wrong) }
                #expect(try await kim.signIn("kim").status == 201, "round \(round)")
            }
            let counts = try DatabaseSession().query("SELECT count FROM sign_in_failures").only.decode(Int.self)
            #expect(counts == 9, "failures before the device was known stay")
        }
    }

    @Test func `a device that fails too often needs a code as well`() async throws {
        try await TestServer.with { site in
            let thief = Browser(site)
            try await thief.signUp()
            var slugs: [String?] = []
            for _ in 1...22 { slugs.append(try await thief.signIn("kim", Self.wrong).slug) }
            #expect(slugs.filter { $0 == "sign-in-failed" }.count == 20 && slugs.last == "code-required")
            #expect(try await Stranger(site, at: "198.51.100.1").signIn("kim").slug == "session")
        }
    }

    @Test func `parallel guesses do not exceed the maximum`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let slugs = try await atOnce(40) { _ in try await Browser(site).signIn("kim", Self.wrong).slug }
            #expect(slugs.filter { $0 == "sign-in-failed" }.count == 10)
            #expect(slugs.filter { $0 == "code-required" }.count == 30)
        }
    }

    @Test func `the owner signs in on a new device after one mail`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            for number in 0..<55 {
                _ = try await Stranger(site, at: "198.51.100.\(number)").signIn("kim@example.com", Self.wrong)
            }
            let owner = Browser(site)
            #expect(try await owner.signIn().slug == "code-required")
            let asked = try await owner.send(.post, "/session/code", ["identifier": "kim@example.com"])
            #expect(asked.status == 201 && asked.json["session"] == ["state": "code"])
            #expect(asked.json["next"] == ["step": "code", "href": "/session/code"])
            let code = try await site.service.readCode(for: "kim@example.com")
            let entered = try await owner.send(.put, "/session/code", ["code": .string(code)])
            #expect(entered.status == 200 && entered.json["session"] == .null)
            #expect(entered.json["next"] == ["step": "password", "href": "/session"])
            #expect(owner["session"] == nil && owner["device"] != nil)
            #expect(try await owner.signIn().status == 201)
        }
    }

    @Test func `a device that has failed too often signs in after one mail, too`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            for _ in 1...21 { _ = try await kim.signIn("kim", Self.wrong) }
            #expect(try await kim.signIn("kim").slug == "code-required")
            try await kim.send(.post, "/session/code", ["identifier": "kim"])
            let code = try await site.service.readCode(for: "kim@example.com")
            #expect(try await kim.send(.put, "/session/code", ["code": .string(code)]).status == 200)
            #expect(try await kim.signIn("kim").status == 201)
        }
    }

    /// Somebody who knows the password tries codes of the app.
    @Test func `guesses at the second factor do not keep the owner out on a new device`() async throws {
        let flow = try standardFlow(with: "sign_in: [password, code]")
        try await TestServer.with(flow: flow) { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let wrong = person.code == "000000" ? "000001" : "000000"
            for number in 0..<11 {
                _ = try await Stranger(site, at: "198.51.100.\(number)").guessSecondFactor(wrong)
            }
            let owner = Browser(site)
            _ = try await owner.signIn()
            let right: JSON = ["code": .string(person.code)]
            #expect(try await owner.send(.put, "/session/totp", right).slug == "code-required")
            try await owner.send(.post, "/session/code", ["identifier": "kim"])
            let code = try await site.service.readCode(for: "kim@example.com")
            let entered = try await owner.send(.put, "/session/code", ["code": .string(code)])
            #expect(entered.json["session"] == ["state": "second-factor"])
            #expect(try await owner.send(.put, "/session/totp", ["code": .string(person.code)]).status == 200)
        }
    }

    @Test func `failures are forgotten thirty days after the last one`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            for number in 0..<51 {
                _ = try await Stranger(site, at: "198.51.100.\(number)").signIn("kim", Self.wrong)
            }
            try DatabaseSession().letPass("29 days")
            #expect(try await Stranger(site, at: "192.0.2.1").signIn("kim").slug == "code-required")
            try DatabaseSession().letPass("30 days 1 minute")
            #expect(try await Stranger(site, at: "192.0.2.1").signIn("kim").slug == "session")
        }
    }

    /// The address and the username have separate counts, so nobody learns that they belong to the same account.
    @Test func `failures with the address do not count for the username`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            for number in 0..<51 {
                _ = try await Stranger(site, at: "198.51.100.\(number)").signIn("kim@example.com", Self.wrong)
            }
            #expect(try await Stranger(site, at: "192.0.2.1").signIn("kim", Self.wrong).slug == "sign-in-failed")
        }
    }

    @Test func `the password hashes of a network are limited as in the sign-up`() async throws {
        var limits = Limits.lavish
        limits.byName[.passwordHashesFromNetwork] = Limit(3, per: .seconds(600))
        try await TestServer.with(limits: limits) { site in
            var statuses: [Int] = []
            for number in 1...4 { statuses.append(try await Browser(site).signIn("nobody\(number)").status) }
            #expect(statuses == [401, 401, 401, 429])
        }
    }
}
