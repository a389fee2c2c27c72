import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Sign-outs that an application asks for", .freshDatabase)
struct ApplicationSignOutTests {
    private func url(_ parameters: [String: String]) -> String { "/oauth/logout?\(RelyingParty.form(parameters))" }

    @Test func `with a hint of the current session the person is signed out at once`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let hint = try #require(try await shop.signIn(kim).json["id_token"]?.string)
            let parameters = [
                "id_token_hint": hint, "post_logout_redirect_uri": "https://shop.example/", "state": "a b",
            ]
            let response = try await kim.send(.get, url(parameters))
            #expect(response.status == 303 && response.headers[.location] == "https://shop.example/?state=a%20b")
            #expect(try await kim.send(.get, "/session").status == 401)
            // Nobody is signed in any more, so there is nothing to ask.
            #expect(try await kim.send(.get, url(parameters)).headers[.location] == "https://shop.example/?state=a%20b")
        }
    }

    @Test func `a request by POST is redirected to the same request by GET, which signs the person out`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let hint = try #require(try await shop.signIn(kim).json["id_token"]?.string)
            let form = RelyingParty.form(["id_token_hint": hint, "post_logout_redirect_uri": "https://shop.example/"])
            let headers: HTTPFields = [
                .contentType: "application/x-www-form-urlencoded", .origin: "https://shop.example",
                .secFetchSite: "cross-site",
            ]
            // Browsers send no cookie of the session with this request.
            let response = try await shop.site.send(.post, "/oauth/logout", bytes: Array(form.utf8), headers)
            let next = try #require(response.headers[.location])
            #expect(response.status == 303 && next == "/oauth/logout?\(form)")
            #expect(try await kim.send(.get, "/session").status == 200)
            #expect(try await kim.send(.get, next).headers[.location] == "https://shop.example/")
            #expect(try await kim.send(.get, "/session").status == 401)
        }
    }

    @Test func `an expired hint is accepted, and with a hint whose key is deleted the person is asked`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let tokens = try await shop.signIn(kim)
            let keys = SigningKeys(database: shop.site.service.database, keys: try KeyRing(TestSignups.keys))
            let names = ["iss", "sub", "aud", "sid"]
            let known = names.map { JSON.Member($0, tokens.claims()[$0] ?? .null) }
            let claims = known + [JSON.Member("exp", 1_700_000_000)]
            let expired = try await keys.sign(claims, type: .idToken, by: .es256)
            let parts = expired.split(separator: ".").map(String.init)
            let header: JSON = ["alg": "ES256", "kid": "a key of long ago", "typ": "JWT"]
            let ancient = "\(header.bytes.base64URL).\(parts[1]).\(parts[2])"
            let target = ["post_logout_redirect_uri": "https://shop.example/"]
            let asked = try await kim.send(.get, url(target.merging(["id_token_hint": ancient]) { $1 }))
            #expect(asked.status == 200 && asked.isPage, "the person is asked")
            #expect(try await kim.send(.get, "/session").status == 200)
            let response = try await kim.send(.get, url(target.merging(["id_token_hint": expired]) { $1 }))
            #expect(response.status == 303 && response.headers[.location] == "https://shop.example/")
            #expect(try await kim.send(.get, "/session").status == 401)
        }
    }

    @Test func `without a hint, or with a hint of another session, the person is asked`() async throws {
        try await RelyingParty.with { shop in
            let (kim, lee) = (Browser(shop.site), Browser(shop.site))
            try await kim.signUp()
            try await lee.signUp("lee@example.com", "lee")
            let hint = try #require(try await shop.signIn(lee).json["id_token"]?.string)
            let target = ["post_logout_redirect_uri": "https://shop.example/"]
            for more in [["client_id": "shop"], ["id_token_hint": hint]] {
                let page = try await kim.send(.get, url(target.merging(more) { $1 }))
                #expect(page.status == 200 && page.isPage)
                #expect(page.body.contains("<a class=\"button\" href=\"/account\">Cancel</a>"))
                #expect(
                    page.headers[.contentSecurityPolicy]?.contains("form-action 'self' https://shop.example;") == true
                )
                #expect(try await kim.send(.get, "/session").status == 200)
            }
            let page = try await kim.send(.get, url(target.merging(["client_id": "shop"]) { $1 }))
            let hidden = try #require(page.body.firstMatch(of: /name="target" value="([^"]+)"/)?.1)
            let answer = try await kim.send(.post, "/oauth/logout/confirm", ["target": .string(String(hidden))])
            #expect(answer.status == 303 && answer.headers[.location] == "https://shop.example/")
            #expect(try await kim.send(.get, "/session").status == 401)
            // The session has ended, but the page with the question may still be open.
            let again = try await kim.send(.post, "/oauth/logout/confirm", ["target": .string(String(hidden))])
            #expect(again.status == 303 && again.headers[.location] == "https://shop.example/")
        }
    }

    @Test func `an unregistered target, and a hint that is no ID token for the application, are refused`() async throws
    {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let tokens = try await shop.signIn(kim)
            let hint = try #require(tokens.json["id_token"]?.string)
            let access = try #require(tokens.json["access_token"]?.string)
            let refused = [
                ["id_token_hint": hint, "post_logout_redirect_uri": "https://evil.example/"],
                ["id_token_hint": hint, "post_logout_redirect_uri": "https://shop.example"],
                ["post_logout_redirect_uri": "https://shop.example/"], ["id_token_hint": access],
                ["id_token_hint": "x"],
                ["id_token_hint": hint, "client_id": "reader"],
            ]
            for parameters in refused {
                let response = try await kim.send(.get, url(parameters))
                #expect(response.status == 400 && response.headers[.location] == nil, "\(parameters)")
            }
            #expect(try await kim.send(.get, "/session").status == 200)
        }
    }

    @Test func `the form of the question leads to no unregistered address`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let answer = try await kim.send(.post, "/oauth/logout/confirm", ["target": "https://evil.example/"])
            #expect(answer.headers[.location] == "/sign-in?signed-out")
        }
    }
}
