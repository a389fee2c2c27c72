import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Sign-ups that an application begins", .freshDatabase)
struct SignUpForApplicationTests {
    /// Asks for a new account. Returns the ticket of the request, which the sign-up's first page has in a hidden field.
    private func request(_ shop: RelyingParty, _ browser: Browser) async throws -> String {
        let asked = try await shop.authorize(browser, ["prompt": "create"])
        #expect(asked.address == "/signup")
        return try #require(asked.query["request"])
    }

    @Test func `after the sign-up the person is signed in at the application`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.send(.post, "/signup", ["request": .string(request(shop, kim))])
            let commit = try #require(await kim.signUp().commit)
            #expect(commit.json["continue"]?["application"] == "shop")
            #expect(commit.json["continue"]?["name"] == "Example Shop")
            let href = try #require(commit.json["continue"]?["href"]?.string)
            let redirect = try await RelyingParty.Redirect(kim.send(.get, href))
            #expect(redirect.address == shop.redirectURI && redirect.query["state"] == "a state &=?")
            let tokens = try await shop.redeem(#require(redirect.query["code"]))
            #expect(tokens.claims()["account_created"] == true && tokens.claims()["nonce"] == "a nonce")
            #expect(tokens.claims()["email"] == "kim@example.com")
        }
    }

    @Test func `the commit makes account, session and events at once, and the way back makes the grant and the code`()
        async throws
    {
        try await RelyingParty.with { shop in
            let types = ["account.created", "session.created"]
            try await shop.site.service.database.store([EventSubscriber(id: "shop", receiving: types)])
            let (kim, session) = (Browser(shop.site), try DatabaseSession())
            try await kim.send(.post, "/signup", ["request": .string(request(shop, kim))])
            let commit = try #require(await kim.signUp().commit)
            let transactions = try session.query(
                """
                SELECT xmin::text FROM accounts UNION ALL SELECT xmin::text FROM sessions
                 UNION ALL SELECT xmin::text FROM events
                """
            ).map { try $0.decode(String.self) }
            #expect(transactions.count == 4 && Set(transactions).count == 1)
            #expect(try session.number(of: "grants") == 0)
            let href = try #require(commit.json["continue"]?["href"]?.string)
            #expect(try await RelyingParty.Redirect(kim.send(.get, href)).query["code"] != nil)
            #expect(try session.number(of: "grants") == 1)
            #expect(try session.number(of: "authorizations WHERE code_use IS NULL") == 1)
        }
    }

    @Test func `a repeated commit and a reload of the last page lead to the application, too`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.send(.post, "/signup", ["request": .string(request(shop, kim))])
            try await kim.signUp()
            for response in [try await kim.send(.post, "/signup/commit"), try await kim.send(.get, "/signup")] {
                let href = try #require(response.json["continue"]?["href"]?.string)
                #expect(try await RelyingParty.Redirect(kim.send(.get, href)).query["code"] != nil)
            }
        }
    }

    @Test func `a later sign-in does not report a new account`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try DatabaseSession().letPass("1 minute")
            _ = try await kim.signIn()
            #expect(try await shop.signIn(kim).claims()["account_created"] == nil)
            #expect(try await shop.reader.signIn(kim).claims()["account_created"] == nil)
        }
    }

    @Test func `an open sign-up keeps its answers, and continues at the application of the last request`() async throws
    {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.send(.post, "/signup", [:])
            try await kim.send(.put, "/signup/email", ["email": "kim@example.com"])
            let page = try await kim.send(.get, shop.url(["prompt": "create", "state": "second"]))
            let request = try #require(page.body.firstMatch(of: /name="request" value="([^"]+)"/)?.1)
            let before = try await kim.send(.get, "/signup")
            for _ in 1...2 {
                let resumed = try await kim.send(.post, "/signup", ["request": .string(String(request))])
                #expect(resumed.status == 200 && resumed.headers[.eTag] != before.headers[.eTag])
            }
            let draft = try await kim.send(.get, "/signup")
            #expect(draft.json["values"]?["email"] == "kim@example.com")
            guard case .integer(let old)? = before.json["revision"] else { throw Missing() }
            #expect(draft.json["revision"] == .integer(old + 1), "the same request changes nothing")
            let commit = try #require(await kim.signUp().commit)
            let href = try #require(commit.json["continue"]?["href"]?.string)
            #expect(try await RelyingParty.Redirect(kim.send(.get, href)).query["state"] == "second")
        }
    }

    @Test func `the pages lead back to the application without script`() async throws {
        try await RelyingParty.with { shop in
            let kim = PageVisitor(shop.site)
            let first = try await kim.open(shop.url(["prompt": "create"]))
            let request = try #require(first.html.firstMatch(of: /name="request" value="([^"]+)"/)?.1)
            _ = try await kim.post("/signup", "locale=en&request=\(request)")
            _ = try await kim.fill(through: "terms")
            let end = try await kim.post("/signup/commit")
            #expect(end.path == "/signup" && end.has("Continue to Example Shop"))
            let link = try #require(end.html.firstMatch(of: /href="(\/oauth[^"]+)"/)?.1)
            let href = String(link).replacing("&amp;", with: "&")
            let back = try await kim.send(.get, href)
            #expect(back.status == 303 && back.headers[.location]?.hasPrefix("\(shop.redirectURI)?code=") == true)
        }
    }

    @Test func `a person who finishes on another device begins a sign-in at the application there`() async throws {
        try await RelyingParty.with { shop in
            let (kim, phone) = (Browser(shop.site), Browser(shop.site))
            try await kim.send(.post, "/signup", ["request": .string(request(shop, kim))])
            try await kim.send(.put, "/signup/email", ["email": "kim@example.com"])
            let digits = try await shop.site.service.readCode(for: "kim@example.com")
            try await kim.send(.put, "/signup/code", ["code": .string(digits)])
            phone["signup"] = try await moved(kim)
            let password: JSON = ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
            try await phone.send(.put, "/signup/password", password)
            try await phone.send(.put, "/signup/profile", ["username": "kim", "display_name": "Kim"])
            try await phone.send(.put, "/signup/contact", ["birth_date": "2001-02-28"])
            try await phone.send(.put, "/signup/totp", [:])
            try await phone.send(.put, "/signup/terms", ["terms": true])
            let commit = try await phone.send(.post, "/signup/commit")
            #expect(commit.status == 201)
            #expect(commit.json["continue"]?["href"] == "https://shop.example/login")
        }
    }

    /// Moves the draft to another device. Returns its new token.
    private func moved(_ browser: Browser) async throws -> String {
        #expect(try await browser.send(.post, "/signup/handoff").status == 202)
        let resume: JSON = [
            "code": .string(try await browser.site.linkCode()), "attempt": "an-attempt-of-the-phone",
            "transport": "bearer",
        ]
        let resumed = try await browser.site.visitor().send(.post, "/signup/resume", resume)
        return try #require(resumed.json["token"]?.string)
    }

    @Test func `without an application the last page leads to the address of the setting, or to the account`()
        async throws
    {
        for url in ["https://www.example.com/welcome", nil] {
            try await TestServer.with(afterSignupURL: url) { site in
                let kim = PageVisitor(site)
                _ = try await kim.fill(through: "terms", email: url == nil ? "lee@example.com" : "kim@example.com")
                let end = try await kim.post("/signup/commit")
                #expect(end.has("href=\"\(url ?? "/account")\""))
            }
            try DatabaseSession().run("DELETE FROM accounts")
        }
    }

    @Test func `a forged request is ignored, and the sign-up goes on`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            #expect(try await kim.send(.post, "/signup", ["request": "forged"]).status == 201)
            let commit = try #require(await kim.signUp().commit)
            #expect(commit.status == 201 && commit.json["continue"] == nil)
        }
    }
}
