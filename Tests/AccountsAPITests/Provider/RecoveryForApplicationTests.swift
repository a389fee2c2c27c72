import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Recoveries on the way to an application", .freshDatabase)
struct RecoveryForApplicationTests {
    private static let password = "password=another+pass+phrase&confirmation=another+pass+phrase"

    /// The ticket of the request, by the link of the sign-in for a forgotten password.
    private func ticket(_ shop: RelyingParty, _ kim: PageVisitor) async throws -> String {
        let signIn = try await kim.open(shop.url(["login_hint": "kim@example.com"]))
        let link = try #require(signIn.html.firstMatch(of: /href="(\/oauth[^"]+;recover=1)"/)?.1)
        let start = try await kim.open(String(link).replacing("&amp;", with: "&"))
        return try #require(start.html.firstMatch(of: /name="request" value="([^"]+)"/).map { String($0.1) })
    }

    /// Answers the steps of the open recovery.
    private func recover(_ shop: RelyingParty, _ kim: PageVisitor) async throws -> PageVisitor.Page {
        _ = try await kim.post("/recovery/email", "email=kim%40example.com")
        _ = try await kim.post("/recovery/code", "code=\(try await shop.site.service.readCode(for: "kim@example.com"))")
        return try await kim.post("/recovery/password", Self.password)
    }

    @Test func `who chooses another password ends signed in at the application`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site)
            let ticket = try await ticket(shop, kim)
            _ = try await kim.post("/recovery", "locale=en&request=\(ticket)")
            let review = try await recover(shop, kim)
            // Browsers check the redirects after the form, too.
            let policy = review.headers[.contentSecurityPolicy]
            #expect(review.path == "/recovery/review" && policy?.contains(" https://shop.example;") == true)
            let commit = try await kim.send(.post, "/recovery/commit", "")
            let href = try #require(commit.headers[.location])
            #expect(commit.status == 303 && href.hasPrefix("/oauth/authorize/continue?request="))
            let back = try await RelyingParty.Redirect(kim.send(.get, href))
            #expect(back.address == shop.redirectURI && back.query["state"] == "a state &=?")
            let tokens = try await shop.redeem(#require(back.query["code"]))
            #expect(tokens.claims()["email"] == "kim@example.com" && tokens.claims()["account_created"] == nil)
        }
    }

    @Test func `a recovery that is open already goes on, and leads there`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site)
            _ = try await kim.post("/recovery", "locale=en")
            let ticket = try await ticket(shop, kim)
            _ = try await kim.post("/recovery", "request=\(ticket)")
            _ = try await recover(shop, kim)
            let commit = try await kim.send(.post, "/recovery/commit", "")
            #expect(commit.headers[.location]?.hasPrefix("/oauth/authorize/continue?request=") == true)
        }
    }

    /// Browsers check the redirects after the form. On another device it leads to where the application begins a sign-in.
    @Test func `the form of the review may lead to both addresses of the application`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site)
            let ticket = try await ticket(shop.reader, kim)
            _ = try await kim.post("/recovery", "locale=en&request=\(ticket)")
            let policy = try await recover(shop, kim).headers[.contentSecurityPolicy]
            let targets = "form-action 'self' http://127.0.0.1:5173 https://reader.example;"
            #expect(policy?.contains(targets) == true)
        }
    }

    @Test func `an old account need not prove more, whatever the application asks`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try await kim.send(.delete, "/session")
            try TestSupport.Session().run("UPDATE accounts SET created_at = created_at - interval '1 year'")
            let asked = try await shop.authorize(kim, ["prompt": "login select_account", "max_age": "0"])
            let ticket = try #require(asked.query["return_to"]?.split(separator: "=").last)
            try await kim.send(.post, "/recovery", ["request": .string(String(ticket))])
            try await kim.recover()
            let password: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
            try await kim.send(.put, "/recovery/password", password)
            let commit = try await kim.send(.post, "/recovery/commit")
            #expect(commit.json["continue"]?["application"] == "shop")
            let href = try #require(commit.json["continue"]?["href"]?.string)
            #expect(try await RelyingParty.Redirect(kim.send(.get, href)).query["code"] != nil)
        }
    }

    @Test func `without an application it ends at the account`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site)
            _ = try await kim.post("/recovery", "locale=en")
            _ = try await recover(shop, kim)
            #expect(try await kim.send(.post, "/recovery/commit", "").headers[.location] == "/account?password-changed")
        }
    }
}
