import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Recoveries on the way to an application", .freshDatabase)
struct RecoveryForApplicationTests {
    private static let password = "password=another+pass+phrase&confirmation=another+pass+phrase"

    /// Opens the link for a forgotten password on the sign-in page. Returns the ticket of the application's request.
    private func ticket(_ shop: RelyingParty, _ kim: PageVisitor) async throws -> String {
        let signIn = try await kim.open(shop.url(["login_hint": "kim@example.com"]))
        let link = try #require(signIn.html.firstMatch(of: /href="(\/oauth[^"]+;recover=1)"/)?.1)
        let start = try await kim.open(String(link).replacing("&amp;", with: "&"))
        return try #require(start.html.firstMatch(of: /name="request" value="([^"]+)"/).map { String($0.1) })
    }

    /// Submits the steps of the open recovery. Returns the page of the review.
    private func recover(_ shop: RelyingParty, _ kim: PageVisitor) async throws -> PageVisitor.Page {
        _ = try await kim.post("/recovery/email", "email=kim%40example.com")
        _ = try await kim.post("/recovery/code", "code=\(try await shop.site.service.readCode(for: "kim@example.com"))")
        return try await kim.post("/recovery/password", Self.password)
    }

    @Test func `a person who chooses another password is then signed in at the application`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site)
            let ticket = try await ticket(shop, kim)
            _ = try await kim.post("/recovery", "locale=en&request=\(ticket)")
            let review = try await recover(shop, kim)
            // Browsers apply `form-action` also to the redirects after a form.
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

    @Test func `an open recovery continues, and leads to the application`() async throws {
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

    /// Browsers apply `form-action` also to the redirects after a form. On another device the commit redirects to the
    /// application's `initiate_login_uri`.
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

    @Test func `a recovery satisfies prompt=login and max_age=0, also for an old account`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try await kim.send(.delete, "/session")
            try DatabaseSession().run("UPDATE accounts SET created_at = created_at - interval '1 year'")
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

    @Test func `a recovery without an application leads to the account page`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site)
            _ = try await kim.post("/recovery", "locale=en")
            _ = try await recover(shop, kim)
            #expect(try await kim.send(.post, "/recovery/commit", "").headers[.location] == "/account?password-changed")
        }
    }
}
