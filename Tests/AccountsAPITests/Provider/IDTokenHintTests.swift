import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Authorization requests with an id_token_hint", .freshDatabase)
struct IDTokenHintTests {
    /// Signs up two people. Returns their browsers, and the ID token that the shop has got for the first person.
    private func people(_ shop: RelyingParty) async throws -> (kim: Browser, lee: Browser, hint: String) {
        let (kim, lee) = (Browser(shop.site), Browser(shop.site))
        try await kim.signUp()
        try await lee.signUp("lee@example.com", "lee")
        let hint = try #require(try await shop.signIn(kim).json["id_token"]?.string)
        return (kim, lee, hint)
    }

    @Test func `the person of the hint gets a code`() async throws {
        try await RelyingParty.with { shop in
            let (kim, _, hint) = try await people(shop)
            for prompt in [nil, "none"] {
                let redirect = try await shop.authorize(kim, ["prompt": prompt, "id_token_hint": hint])
                #expect(redirect.query["code"] != nil)
            }
        }
    }

    @Test
    func `with another session, the person must sign in as the subject of the hint before a code is issued`()
        async throws
    {
        try await RelyingParty.with { shop in
            let (_, lee, hint) = try await people(shop)
            try DatabaseSession().letPass("5 minutes")
            let silent = try await shop.authorize(lee, ["prompt": "none", "id_token_hint": hint])
            #expect(silent.query["error"] == "login_required")
            let redirect = try await shop.authorize(lee, ["id_token_hint": hint])
            let returnTo = try #require(redirect.query["return_to"])
            #expect(redirect.address == "/sign-in" && redirect.query["anew"] != nil)
            // The request does not continue before the sign-in.
            #expect(try await RelyingParty.Redirect(lee.send(.get, returnTo)).address == "/sign-in")
            #expect(try await lee.signIn().status == 201)
            #expect(try await RelyingParty.Redirect(lee.send(.get, returnTo)).query["code"] != nil)
        }
    }

    @Test func `a person who signs in as somebody else goes back with an error`() async throws {
        try await RelyingParty.with { shop in
            let (_, lee, hint) = try await people(shop)
            try await lee.send(.delete, "/session")
            let redirect = try await shop.authorize(lee, ["id_token_hint": hint])
            #expect(redirect.address == "/sign-in" && redirect.query["anew"] == nil)
            let returnTo = try #require(redirect.query["return_to"])
            #expect(try await lee.signIn("lee@example.com").status == 201)
            let callback = try await RelyingParty.Redirect(lee.send(.get, returnTo))
            #expect(callback.address == shop.redirectURI && callback.query["error"] == "login_required")
            #expect(callback.query["state"] == "a state &=?")
        }
    }

    @Test(arguments: [nil, "none", "login", "select_account"])
    func `a hint that is no ID token for the application is an error, also in a pushed request`(prompt: String?)
        async throws
    {
        try await RelyingParty.with { shop in
            let (kim, _, hint) = try await people(shop)
            let tokens = try await shop.signIn(kim)
            let foreign = try #require(try await shop.reader.signIn(kim).json["id_token"]?.string)
            let access = try #require(tokens.json["access_token"]?.string)
            for other in ["x", "\(hint.dropLast(3))AAA", foreign, access] {
                let changes = ["prompt": prompt, "id_token_hint": other]
                let redirect = try await shop.authorize(kim, changes)
                #expect(redirect.address == shop.redirectURI && redirect.query["error"] == "invalid_request")
                let pushed = try await shop.post("/oauth/par", shop.parameters(changes))
                #expect(pushed.status == 400 && pushed.json["error"] == "invalid_request")
            }
        }
    }

    @Test func `the hint of a pushed request counts, too`() async throws {
        try await RelyingParty.with { shop in
            let (kim, lee, hint) = try await people(shop)
            for (browser, answer) in [(kim, "code"), (lee, "error")] {
                let parameters = shop.parameters(["prompt": "none", "id_token_hint": hint])
                let uri = try #require(try await shop.post("/oauth/par", parameters).json["request_uri"]?.string)
                let path = "/oauth/authorize?client_id=shop&request_uri=\(uri.formEncoded)"
                #expect(try await RelyingParty.Redirect(browser.send(.get, path)).query[answer] != nil)
            }
        }
    }

    @Test func `an expired ID token without a sid is accepted as a hint`() async throws {
        try await RelyingParty.with { shop in
            let (kim, _, _) = try await people(shop)
            let subject = try #require(try await shop.signIn(kim).claims()["sub"]?.string)
            let keys = SigningKeys(database: shop.site.service.database, keys: try KeyRing(TestSignups.keys))
            let claims: [JSON.Member] = [
                .init("iss", "http://localhost:8080"), .init("sub", .string(subject)), .init("aud", "shop"),
                .init("exp", 1_700_000_000),
            ]
            let old = try await keys.sign(claims, type: .idToken, by: .es256)
            #expect(try await shop.authorize(kim, ["prompt": "none", "id_token_hint": old]).query["code"] != nil)
        }
    }

    // MARK: Hints whose key is deleted

    @Test
    func `with prompt=none, a hint whose key is deleted is answered with login_required, also in a pushed request`()
        async throws
    {
        try await RelyingParty.with { shop in
            let (kim, _, hint) = try await people(shop)
            let changes = ["prompt": "none", "id_token_hint": try hint.withUnknownKeyID()]
            let redirect = try await shop.authorize(kim, changes)
            #expect(redirect.address == shop.redirectURI && redirect.query["error"] == "login_required")
            let pushed = try await shop.post("/oauth/par", shop.parameters(changes))
            let uri = try #require(pushed.json["request_uri"]?.string)
            let path = "/oauth/authorize?client_id=shop&request_uri=\(uri.formEncoded)"
            #expect(try await RelyingParty.Redirect(kim.send(.get, path)).query["error"] == "login_required")
        }
    }

    @Test func `without prompt=none the person signs in again, and gets a code only as the person of the hint`()
        async throws
    {
        try await RelyingParty.with { shop in
            let (kim, lee, hint) = try await people(shop)
            try DatabaseSession().letPass("5 minutes")
            let old = try hint.withUnknownKeyID()
            for (browser, email, answer) in [(kim, "kim@example.com", "code"), (lee, "lee@example.com", "error")] {
                let redirect = try await shop.authorize(browser, ["id_token_hint": old])
                #expect(redirect.address == "/sign-in" && redirect.query["anew"] != nil)
                let returnTo = try #require(redirect.query["return_to"])
                #expect(try await RelyingParty.Redirect(browser.send(.get, returnTo)).address == "/sign-in")
                #expect(try await browser.signIn(email).status == 201)
                let callback = try await RelyingParty.Redirect(browser.send(.get, returnTo))
                #expect(callback.address == shop.redirectURI && callback.query[answer] != nil, "\(email)")
            }
        }
    }

    @Test func `a hint with an unknown key and wrong claims is an error`() async throws {
        try await RelyingParty.with { shop in
            let (kim, _, hint) = try await people(shop)
            let foreign = try #require(try await shop.reader.signIn(kim).json["id_token"]?.string)
            let claims = ["iss": "https://evil.example", "aud": "shop", "sub": "01a1fdb4-8d11-7c6f-a2b7-5c1e2d3f4a5b"]
            let payload = JSON.object(claims.map { JSON.Member($0.key, .string($0.value)) }).bytes.base64URL
            for other in [
                try foreign.withUnknownKeyID(), try hint.withUnknownKeyID(payload: payload),
                // {}
                try hint.withUnknownKeyID(payload: "e30"),
            ] {
                let redirect = try await shop.authorize(kim, ["prompt": "none", "id_token_hint": other])
                #expect(redirect.address == shop.redirectURI && redirect.query["error"] == "invalid_request")
            }
        }
    }

    // MARK: Signing up

    @Test func `prompt=create makes a new account, whichever person the hint names`() async throws {
        try await RelyingParty.with { shop in
            let (_, _, hint) = try await people(shop)
            let new = Browser(shop.site)
            let redirect = try await shop.authorize(new, ["prompt": "create", "id_token_hint": hint])
            #expect(redirect.address == "/signup")
            try await new.send(.post, "/signup", ["request": .string(#require(redirect.query["request"]))])
            let commit = try #require(await new.signUp("min@example.com", "min").commit)
            let href = try #require(commit.json["continue"]?["href"]?.string)
            let callback = try await RelyingParty.Redirect(new.send(.get, href))
            let tokens = try await shop.redeem(#require(callback.query["code"]))
            #expect(tokens.claims()["account_created"] == true && tokens.claims()["email"] == "min@example.com")
        }
    }

    @Test
    func `with a hint, the sign-in page offers no sign-up, and no tampered link or form starts one for the shop`()
        async throws
    {
        try await RelyingParty.with { shop in
            let (_, _, hint) = try await people(shop)
            let visitor = PageVisitor(shop.site)
            #expect(try await visitor.open(shop.url()).has("sign-up=1"), "without a hint")
            let page = try await visitor.open(shop.url(["id_token_hint": hint]))
            #expect(page.path.hasPrefix("/sign-in?"))
            #expect(!page.has("sign-up=1") && !page.has("\"/signup\"") && page.has("recover=1"))
            let target = try #require(page.html.firstMatch(of: /name="return_to" value="([^"]+)"/).map { String($0.1) })
            #expect(try await visitor.open("\(target)&sign-up=1").path.hasPrefix("/sign-in?return_to="))
            // A form that posts the request of a hint still signs up, but does not lead back to the application.
            let items = URLComponents(string: target)?.queryItems ?? []
            let ticket = try #require(items.first { $0.name == "request" }?.value)
            let new = Browser(shop.site)
            try await new.send(.post, "/signup", ["request": .string(ticket)])
            let commit = try #require(await new.signUp("min@example.com", "min").commit)
            #expect(commit.status == 201 && commit.json["continue"] == nil)
        }
    }

    @Test func `with a hint, the account chooser offers no sign-up`() async throws {
        try await RelyingParty.with { shop in
            let (kim, _, hint) = try await people(shop)
            try DatabaseSession().letPass("5 minutes")
            let open = try await kim.send(.get, shop.url(["prompt": "select_account"]))
            #expect(open.status == 200 && open.body.contains("sign-up=1"))
            let page = try await kim.send(.get, shop.url(["prompt": "select_account", "id_token_hint": hint]))
            #expect(page.status == 200 && !page.body.contains("sign-up=1") && RelyingParty.choice(on: page) != nil)
        }
    }
}

extension String {
    /// Returns this token with the id of an unknown key, as if its key had been deleted.
    ///
    /// - Parameter payload: claims in base64url that replace those of the token.
    fileprivate func withUnknownKeyID(payload: String? = nil) throws -> String {
        let parts = split(separator: ".").map(String.init)
        let header = try #require([UInt8].fromBase64URL(parts[0].utf8).map { String(decoding: $0, as: UTF8.self) })
        let kid = try #require(try JSON.read(Array(header.utf8))["kid"]?.string)
        let other = String(repeating: "A", count: kid.utf8.count)
        return "\(Array(header.replacing(kid, with: other).utf8).base64URL).\(payload ?? parts[1]).\(parts[2])"
    }
}
