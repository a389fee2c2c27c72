import Accounts
import Foundation
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import accounts_api

@Suite("Authorization requests of applications", .freshDatabase)
struct AuthorizeTests {
    @Test func `a person who is signed in goes straight back with a code`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let redirect = try await shop.authorize(kim)
            #expect(redirect.address == shop.redirectURI && redirect.query["state"] == "a state &=?")
            #expect(redirect.query["iss"] == "http://localhost:8080" && redirect.query["code"]?.count == 64)
        }
    }

    @Test func `a redirect URI keeps its query`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            var other = shop
            other.redirectURI = "https://shop.example/other?from=accounts"
            let redirect = try await other.authorize(kim)
            #expect(redirect.query["from"] == "accounts" && redirect.query["code"] != nil)
            let code = try #require(redirect.query["code"])
            #expect(try await other.redeem(code).status == 200)
        }
    }

    @Test func `a person who is not signed in signs in first, and then goes back with a code`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try await kim.send(.delete, "/session")
            let signIn = try await shop.authorize(kim)
            #expect(signIn.address == "/sign-in")
            let back = try #require(signIn.query["return_to"])
            #expect(back.hasPrefix("/oauth/authorize/continue?request="))
            _ = try await kim.signIn()
            let redirect = try await RelyingParty.Redirect(kim.send(.get, back))
            #expect(redirect.address == shop.redirectURI && redirect.query["code"] != nil)
            #expect(redirect.query["state"] == "a state &=?")
        }
    }

    @Test func `the pages of the sign-in pass the request on, without script`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site)
            let page = try await kim.open(shop.url(["login_hint": "kim@example.com"]))
            #expect(page.path.hasPrefix("/sign-in?return_to=") && page.has("value=\"kim@example.com\""))
            // Browsers apply `form-action` also to the redirects after a form.
            let policy = page.headers[.contentSecurityPolicy]
            #expect(policy?.contains("form-action 'self' https://shop.example;") == true)
            #expect(page.has("&amp;sign-up=1"))
            let target = try #require(page.html.firstMatch(of: /name="return_to" value="([^"]+)"/)?.1)
            let form = "identifier=kim&password=a+pass+phrase+of+mine&return_to=\(String(target).formEncoded)"
            let signedIn = try await kim.send(.post, "/sign-in", form)
            let next = try #require(signedIn.headers[.location])
            #expect(signedIn.status == 303 && next.hasPrefix("/oauth/authorize/continue?request="))
            let back = try await RelyingParty.Redirect(kim.send(.get, next))
            #expect(back.address == shop.redirectURI && back.query["code"] != nil)
        }
    }

    @Test func `a confirmation of the password leads back to the application, too`() async throws {
        try await RelyingParty.with { shop in
            let kim = PageVisitor(shop.site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            try DatabaseSession().letPass("5 minutes")
            let page = try await kim.open(shop.url(["prompt": "login"]))
            #expect(page.path.hasPrefix("/account/confirm?return_to="))
            let target = try #require(page.html.firstMatch(of: /name="return_to" value="([^"]+)"/)?.1)
            let form = "password=a+pass+phrase+of+mine&next=&return_to=\(String(target).formEncoded)"
            #expect(try await kim.send(.post, "/account/confirm", form).headers[.location] == String(target))
            #expect(try await RelyingParty.Redirect(kim.send(.get, String(target))).query["code"] != nil)
        }
    }

    @Test func `a recovery in place of a confirmation leads back to the application, too`() async throws {
        try await RelyingParty.with { shop in
            let kim = PageVisitor(shop.site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            try DatabaseSession().run("DELETE FROM credentials")
            try DatabaseSession().letPass("5 minutes")
            let confirm = try #require(await kim.send(.get, shop.url(["prompt": "login"])).headers[.location])
            let recovery = try #require(await kim.send(.get, confirm).headers[.location])
            #expect(recovery.hasPrefix("/oauth/authorize/continue?request=") && recovery.hasSuffix("&recover=1"))
            let page = try #require(await kim.send(.get, recovery).headers[.location])
            #expect(page.hasPrefix("/recovery?request="))
        }
    }

    @Test func `the longest request fits in the URLs of the pages`() async throws {
        let uri = "https://shop.example/" + String(repeating: "a", count: 1979)
        let file = RelyingParty.file.replacingOccurrences(
            of: "redirect_uris: [https",
            with: "redirect_uris: [\(uri), https"
        )
        try await RelyingParty.with(file: file) { shop in
            var shop = shop
            shop.redirectURI = uri
            let longest = String(repeating: "x", count: 1024)
            let signIn = try await shop.authorize(
                Browser(shop.site),
                ["state": longest, "nonce": longest, "login_hint": longest]
            )
            let back = try #require(signIn.query["return_to"])
            let kim = Browser(shop.site)
            try await kim.signUp()
            let redirect = try await RelyingParty.Redirect(kim.send(.get, back))
            #expect(redirect.address == uri && redirect.query["state"] == longest)
            // JSON writes a quotation mark as two bytes.
            for name in ["state", "nonce", "login_hint"] {
                let quotes = String(repeating: "\"", count: 513)
                let refused = try await shop.authorize(kim, [name: quotes])
                #expect(refused.address == uri && refused.query["error"] == "invalid_request", "\(name)")
                #expect(refused.query["error_description"] == "The \(name) has more than 1024 bytes as JSON.")
            }
        }
    }

    @Test func `a session that ends during the request leads to the sign-in`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let database = try DatabaseSession()
            try database.run("BEGIN; DELETE FROM sessions")
            async let response = kim.send(.get, shop.url())
            _ = try await DatabaseSession().waitUntilSomebodyIsBlocked()
            try database.run("COMMIT")
            #expect(try await RelyingParty.Redirect(response).address == "/sign-in")
        }
    }

    @Test func `a request by POST is redirected to the same request by GET`() async throws {
        try await RelyingParty.with { shop in
            let form = RelyingParty.form(shop.parameters())
            let headers: HTTPFields = [
                .contentType: "application/x-www-form-urlencoded", .origin: "https://shop.example",
                .secFetchSite: "cross-site",
            ]
            let response = try await shop.site.send(.post, "/oauth/authorize", bytes: Array(form.utf8), headers)
            #expect(response.status == 303 && response.headers[.location] == "/oauth/authorize?\(form)")
        }
    }

    @Test func `a request by POST may be as long as one by GET`() async throws {
        try await RelyingParty.with { shop in
            let headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let form = RelyingParty.form(shop.parameters()) + "&padding="
            let longest = 8192 - "/oauth/authorize?".utf8.count
            for (length, status) in [(longest, 303), (longest + 1, 413)] {
                let bytes = Array(form.utf8) + Array(repeating: UInt8(ascii: "a"), count: length - form.utf8.count)
                let response = try await shop.site.send(.post, "/oauth/authorize", bytes: bytes, headers)
                #expect(response.status == status)
                if let address = response.headers[.location] {
                    let next = try await PageVisitor(shop.site).send(.get, address)
                    #expect(next.status != 414)
                }
            }
        }
    }

    @Test func `a wrong application, redirect URI, prompt or request URI gets an error without a redirect`()
        async throws
    {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let changes: [[String: String?]] = [
                ["client_id": nil], ["client_id": "other"], ["redirect_uri": nil],
                ["redirect_uri": "https://shop.example/callback/"], ["redirect_uri": "https://evil.example/"],
                ["prompt": "registration"], ["prompt": "none unknown"], ["request_uri": "https://evil.example/request"],
            ]
            for change in changes {
                let response = try await kim.send(.get, shop.url(change))
                #expect(response.status == 400 && response.headers[.location] == nil, "\(change)")
                #expect(response.json["detail"]?.string?.hasPrefix("invalid_request: ") == true)
            }
            let twice = try await kim.send(.get, shop.url() + "&client_id=shop")
            #expect(twice.status == 400 && twice.headers[.location] == nil)
        }
    }

    @Test(
        arguments: [
            (["response_type": nil], "invalid_request"), (["response_type": "token"], "unsupported_response_type"),
            (["response_type": "code id_token"], "unsupported_response_type"), (["scope": nil], "invalid_scope"),
            (["scope": "email"], "invalid_scope"), (["code_challenge": nil], "invalid_request"),
            (["code_challenge": "short"], "invalid_request"), (["code_challenge_method": nil], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"), (["request": "eyJ"], "request_not_supported"),
            (["registration": "{}"], "registration_not_supported"), (["prompt": "none login"], "invalid_request"),
            (["prompt": "create login"], "invalid_request"), (["max_age": "-1"], "invalid_request"),
            (["max_age": "soon"], "invalid_request"), (["response_mode": "fragment"], "invalid_request"),
        ] as [([String: String?], String)]
    )
    func `every other error goes back to the application`(change: [String: String?], code: String) async throws {
        try await RelyingParty.with { shop in
            let redirect = try await shop.authorize(Browser(shop.site), change)
            #expect(redirect.address == shop.redirectURI && redirect.query["error"] == code)
            #expect(redirect.query["state"] == "a state &=?" && redirect.query["iss"] == "http://localhost:8080")
            #expect(redirect.query["code"] == nil)
        }
    }

    @Test func `unknown parameters, and preferences that the service cannot satisfy, are no error`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let wishes = [
                "display": "wap", "ui_locales": "tlh ko", "claims_locales": "tlh", "acr_values": "urn:none",
                "foo": "bar",
                "login_hint": "kim@example.com", "claims": "{}",
            ]
            #expect(try await shop.authorize(kim, wishes).query["code"] != nil)
        }
    }

    @Test func `a parameter without a value counts as missing, and no parameter may occur twice`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            for more in ["&", "&&display", "&login_hint&max_age=", "&prompt"] {
                let redirect = try await RelyingParty.Redirect(kim.send(.get, shop.url() + more))
                #expect(redirect.query["code"] != nil, "\(more)")
            }
            for more in ["&state", "&display&display=", "&nonce=&"] {
                let refused = try await kim.send(.get, shop.url() + more)
                #expect(refused.status == 400 && refused.headers[.location] == nil, "\(more)")
            }
            let form = Array("&grant_type=refresh_token&&refresh_token=x&client_id=reader&scope".utf8)
            let headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let answer = try await shop.site.send(.post, "/oauth/token", bytes: form, headers)
            #expect(answer.json["error"] == "invalid_grant")
        }
    }

    // MARK: Prompts

    @Test func `prompt=none shows no page`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            let refused = try await shop.authorize(kim, ["prompt": "none"])
            #expect(refused.address == shop.redirectURI && refused.query["error"] == "login_required")
            try await kim.signUp()
            #expect(try await shop.authorize(kim, ["prompt": "none"]).query["code"] != nil)
            try DatabaseSession().letPass("2 hours")
            let old = try await shop.authorize(kim, ["prompt": "none", "max_age": "3600"])
            #expect(old.query["error"] == "login_required")
        }
    }

    @Test(arguments: [["prompt": "login"], ["max_age": "60"], ["max_age": "0"]])
    func `prompt=login and a small max_age ask for the password once`(change: [String: String]) async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try DatabaseSession().letPass("5 minutes")
            let asked = try await shop.authorize(kim, change.mapValues { $0 })
            #expect(asked.address == "/account/confirm")
            let back = try #require(asked.query["return_to"])
            // The request does not continue before the confirmation.
            #expect(try await RelyingParty.Redirect(kim.send(.get, back)).address == "/account/confirm")
            let before = Int(Date().timeIntervalSince1970)
            try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
            let after = Int(Date().timeIntervalSince1970)
            let code = try #require(try await RelyingParty.Redirect(kim.send(.get, back)).query["code"])
            let tokens = try await shop.redeem(code)
            guard case .integer(let time)? = tokens.claims()["auth_time"] else { throw Missing() }
            #expect((before - 60...after + 60).contains(time))
        }
    }

    @Test func `a public application on the person's device gets no code before the person agrees`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try DatabaseSession().letPass("5 minutes")
            let page = try await kim.send(.get, shop.reader.url())
            #expect(page.status == 200 && page.body.contains("then continue to Reader."))
            let silent = try await RelyingParty.Redirect(kim.send(.get, shop.reader.url(["prompt": "none"])))
            #expect(silent.query["error"] == "account_selection_required")
        }
    }

    @Test func `a program that has asked before the person signed in for something else gets no code`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try await kim.send(.delete, "/session")
            let asked = try await RelyingParty.Redirect(kim.send(.get, shop.reader.url()))
            let ticket = try #require(asked.query["return_to"])
            _ = try await kim.signIn()
            let page = try await kim.send(.get, ticket)
            #expect(page.status == 200 && page.body.contains("then continue to Reader."))
            let chosen = try #require(RelyingParty.choice(on: page))
            #expect(try await RelyingParty.Redirect(kim.send(.get, chosen)).query["code"] != nil)
        }
    }

    @Test func `a person who signs in for a program goes back to it without another question`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site)
            let page = try await kim.open(shop.reader.url())
            let target = try #require(page.html.firstMatch(of: /name="return_to" value="([^"]+)"/)?.1)
            let form = "identifier=kim&password=a+pass+phrase+of+mine&return_to=\(String(target).formEncoded)"
            let next = try #require(try await kim.send(.post, "/sign-in", form).headers[.location])
            #expect(try await RelyingParty.Redirect(kim.send(.get, next)).query["code"] != nil)
        }
    }

    @Test(arguments: ["token", "par", "introspect", "revoke", "authorize", "logout"])
    func `a compressed body is refused`(path: String) async throws {
        try await RelyingParty.with { shop in
            let headers: HTTPFields = [
                .contentType: "application/x-www-form-urlencoded", .contentEncoding: "gzip",
            ]
            let answer = try await shop.site.send(.post, "/oauth/\(path)", bytes: Array("client_id=shop".utf8), headers)
            #expect(answer.status == 415 && answer.headers[.acceptEncoding] == "identity")
        }
    }

    @Test func `prompt=select_account and create let the person choose`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            try DatabaseSession().letPass("5 minutes")
            for prompt in ["select_account", "create"] {
                let page = try await kim.send(.get, shop.url(["prompt": prompt]))
                #expect(page.status == 200 && page.body.contains("kim@example.com"))
                #expect(page.body.contains("then continue to Example Shop."))
                let path = try #require(RelyingParty.choice(on: page))
                #expect(try await RelyingParty.Redirect(kim.send(.get, path)).query["code"] != nil)
            }
        }
    }

    @Test func `a changed, a shortened and a missing ticket are refused`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            let back = try #require(try await shop.authorize(kim).query["return_to"])
            let paths = ["\(back.dropLast(4))AAAA", "\(back.dropLast(40))", "/oauth/authorize/continue?request=x"]
            for path in paths { #expect(try await kim.send(.get, path).status == 404) }
            let missing = try await kim.send(.get, "/oauth/authorize/continue")
            let detail = "The authorization request has expired or is invalid. Start again at the application."
            #expect(missing.status == 404 && missing.json["detail"] == .string(detail))
        }
    }

    @Test func `without applications the paths do not exist`() async throws {
        try await TestServer.with { site in
            for path in ["/oauth/authorize", "/oauth/keys", "/.well-known/openid-configuration", "/oauth/userinfo"] {
                let response = try await site.client.execute(uri: path, method: .get) { Response($0) }
                #expect(response.status == 404, "\(path)")
            }
        }
    }

    @Test func `no answer of the provider can be framed or cached`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let response = try await kim.send(.get, shop.url())
            #expect(response.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
            #expect(response.headers[.cacheControl] == "no-store" && response.headers[.accessControlAllowOrigin] == nil)
            let tokens = try await shop.signIn(kim)
            #expect(tokens.headers[.cacheControl] == "no-store")
        }
    }

    @Test func `the list of sessions shows the applications that each session is used for`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            for application in [shop, shop.reader, shop] { _ = try await application.code(kim) }
            guard case .array(let sessions)? = try await kim.send(.get, "/account/sessions").json["sessions"] else {
                throw Missing()
            }
            #expect(sessions.map { $0["applications"] } == [["reader", "shop"]])
        }
    }

    @Test func `sixty requests of one session leave ten authorizations and one grant`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            for _ in 0..<60 { _ = try await shop.code(kim) }
            let session = try DatabaseSession()
            #expect(try session.query("SELECT FROM authorizations").count == 10)
            #expect(try session.query("SELECT FROM grants").count == 1)
        }
    }
}
