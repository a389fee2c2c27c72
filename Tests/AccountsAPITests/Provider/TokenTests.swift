import Crypto
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Tokens for applications", .freshDatabase)
struct TokenTests {
    @Test func `a code is exchanged for tokens that say who has signed in, and how`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            let commit = try #require(await kim.signUp(hasAuthenticator: true).commit)
            let answer = try await shop.signIn(kim)
            // The sign-up of this account was not begun by the shop.
            #expect(answer.claims()["account_created"] == nil)
            #expect(answer.status == 200 && answer.json["token_type"] == "Bearer" && answer.json["expires_in"] == 300)
            #expect(answer.json["scope"] == "openid email")
            let claims = answer.claims()
            #expect(claims["iss"] == "http://localhost:8080" && claims["aud"] == "shop" && claims["nonce"] == "a nonce")
            #expect(claims["sub"] == commit.json["account"]?["id"])
            #expect(claims["email"] == "kim@example.com" && claims["email_verified"] == true)
            #expect(claims["preferred_username"] == "kim" && claims["acr"] == "aal2")
            #expect(claims["amr"] == ["pwd", "otp", "mfa"])
            let access = try #require(answer.json["access_token"]?.string)
            let half = Data(SHA256.hash(data: Data(access.utf8)).prefix(16)).base64EncodedString()
            let hash = half.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(claims["at_hash"]?.string == hash)
            let accessClaims = answer.claims(of: "access_token")
            #expect(accessClaims["client_id"] == "shop" && accessClaims["sid"] == claims["sid"])
            #expect(accessClaims["email"] == nil)
        }
    }

    @Test func `userinfo returns the person's data, too, until the session ends`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let answer = try await shop.signIn(kim)
            let access = try #require(answer.json["access_token"]?.string)
            let shown = try await shop.userInfo(access)
            #expect(shown.status == 200 && shown.json["sub"] == answer.claims()["sub"])
            #expect(shown.json["email"] == "kim@example.com" && shown.json["display_name"] == "Kim")
            let bearer: HTTPFields = [.authorization: "Bearer \(access)"]
            let posted = try await shop.site.send(.post, "/oauth/userinfo", bearer)
            #expect(posted.status == 200 && posted.json == shown.json)
            let id = try #require(answer.json["id_token"]?.string)
            for text in ["x", id, "\(access.dropLast(2))AA"] {
                let refused = try await shop.userInfo(text)
                #expect(refused.status == 401 && refused.headers[.wwwAuthenticate]?.contains("invalid_token") == true)
            }
            for method in [HTTPRequest.Method.get, .post] {
                let refused = try await shop.site.send(method, "/oauth/userinfo")
                #expect(refused.status == 401 && refused.headers[.wwwAuthenticate] == "Bearer")
                #expect(refused.body == "{}", "RFC 6750 §3.1 wants no error code")
            }
            try await kim.send(.delete, "/session")
            #expect(try await shop.userInfo(access).status == 401)
        }
    }

    @Test(arguments: [[], ["api.example", "other.example"]])
    func `an access token names its type, issuer and end, itself, and one audience, the first of the file`(
        audiences: [String]
    ) async throws {
        let file = "issuer_audience: [\(audiences.joined(separator: ", "))]\n\(RelyingParty.file)"
        try await RelyingParty.with(file: file) { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let before = Int(Date().timeIntervalSince1970)
            let first = try await shop.signIn(kim)
            let second = try await shop.refresh(#require(first.json["refresh_token"]?.string))
            let after = Int(Date().timeIntervalSince1970)
            for answer in [first, second] {
                #expect(answer.header(of: "access_token")["typ"] == "at+jwt")
                let claims = answer.claims(of: "access_token")
                #expect(claims["iss"] == "http://localhost:8080")
                #expect(claims["aud"]?.string == audiences.first ?? "http://localhost:8080")
                guard case .integer(let issued)? = claims["iat"], case .integer(let end)? = claims["exp"] else {
                    throw Missing()
                }
                #expect(end - issued == 300 && (before - 60...after + 60).contains(issued))
                // The audience of an ID token is always its application.
                #expect(answer.header(of: "id_token")["typ"] == "JWT" && answer.claims()["aud"] == "shop")
                #expect(try await shop.userInfo(answer.json["access_token"]?.string ?? "").status == 200)
            }
            let ids = [first, second].map { $0.claims(of: "access_token")["jti"]?.string }
            #expect(ids.allSatisfy { $0?.isEmpty == false } && Set(ids).count == 2)
        }
    }

    @Test func `an access token that has expired is refused, although its session lasts`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            guard case .object(let claims) = try await shop.signIn(kim).claims(of: "access_token") else {
                throw Missing()
            }
            let keys = SigningKeys(database: shop.site.service.database, keys: try KeyRing(TestSignups.keys))
            let now = Int(Date().timeIntervalSince1970)
            for (end, isActive) in [(now + 120, true), (now - 1, false)] {
                let changed = claims.filter { $0.name != "exp" } + [JSON.Member("exp", .integer(end))]
                let token = try await keys.sign(changed, type: .accessToken, by: .es256)
                #expect(try await shop.userInfo(token).status == (isActive ? 200 : 401))
                #expect(try await shop.post("/oauth/introspect", ["token": token]).json["active"] == .bool(isActive))
            }
        }
    }

    @Test func `sub is the same after the application is registered anew, and another one for a new account`()
        async throws
    {
        @Sendable func subject(_ shop: RelyingParty, _ kim: Browser) async throws -> String {
            let answer = try await shop.signIn(kim)
            let access = try #require(answer.json["access_token"]?.string)
            let subject = try #require(answer.claims()["sub"]?.string)
            #expect(answer.claims(of: "access_token")["sub"]?.string == subject)
            #expect(try await shop.userInfo(access).json["sub"]?.string == subject)
            return subject
        }
        @Sendable func account() throws -> String {
            try "\(DatabaseSession().query("SELECT id FROM accounts").only.decode(ID<Account>.self))"
        }
        try await RelyingParty.with { shop in
            try await shop.site.service.database.store([EventSubscriber(id: "shop")])
            let kim = Browser(shop.site)
            try await kim.signUp()
            #expect(try await subject(shop, kim) == account())
        }
        let withoutShop = RelyingParty.file.replacing("id: shop", with: "id: wiki")
        try await RelyingParty.with(file: withoutShop) { shop in
            try await shop.site.service.database.store([EventSubscriber(id: "wiki")])
            let kim = Browser(shop.site)
            #expect(try await kim.signIn().status == 201)
            #expect(try await kim.send(.get, shop.url()).status == 400)
            var wiki = shop
            wiki.id = "wiki"
            #expect(try await subject(wiki, kim) == account(), "every application gets the same sub")
        }
        try await RelyingParty.with { shop in
            try await shop.site.service.database.store([EventSubscriber(id: "shop")])
            let kim = Browser(shop.site)
            #expect(try await kim.signIn().status == 201)
            let before = try account()
            #expect(try await subject(shop, kim) == before)
            #expect(try await kim.send(.delete, "/account").status == 204)
            let lee = Browser(shop.site)
            try await lee.signUp()
            let after = try await subject(shop, lee)
            #expect(try after == account() && after != before, "the address has another account now")
        }
    }

    // MARK: Codes

    @Test func `a second use of a code revokes its tokens`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let code = try await shop.code(kim)
            let first = try await shop.redeem(code)
            let second = try await shop.redeem(code)
            #expect(second.status == 400 && second.json["error"] == "invalid_grant")
            let access = try #require(first.json["access_token"]?.string)
            let refresh = try #require(first.json["refresh_token"]?.string)
            #expect(try await shop.userInfo(access).status == 401)
            #expect(try await shop.refresh(refresh).json["error"] == "invalid_grant")
            #expect(try await shop.signIn(kim).status == 200)
        }
    }

    @Test func `of two exchanges of a code at the same time one succeeds, and then its tokens are revoked`()
        async throws
    {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            for _ in 0..<10 {
                let code = try await shop.code(kim)
                async let one = shop.redeem(code)
                async let other = shop.redeem(code)
                let answers = try await [one, other]
                #expect(answers.map(\.status).sorted() == [200, 400])
                let access = try #require(answers.first { $0.status == 200 }?.json["access_token"]?.string)
                #expect(try await shop.userInfo(access).status == 401)
            }
        }
    }

    @Test func `a code is bound to its application, redirect URI and verifier, and is valid for a minute`() async throws
    {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let changes = [
                ["redirect_uri": "https://shop.example/other?from=accounts"],
                ["code_verifier": String(repeating: "a", count: 43)],
            ]
            for change in changes {
                let code = try await shop.code(kim)
                #expect(try await shop.redeem(code, change).json["error"] == "invalid_grant", "\(change)")
                // The wrong exchange ends the code, because somebody may have stolen it.
                #expect(try await shop.redeem(code).json["error"] == "invalid_grant")
            }
            for verifier in ["", "short", String(repeating: "a", count: 129), String(repeating: "é", count: 43)] {
                let refused = try await shop.redeem(shop.code(kim), ["code_verifier": verifier])
                #expect(refused.json["error"] == "invalid_request")
            }
            let code = try await shop.code(kim)
            var thief = shop.reader
            thief.redirectURI = shop.redirectURI
            #expect(try await thief.redeem(code).json["error"] == "invalid_grant")
            #expect(try await shop.redeem(code).status == 200)
            let old = try await shop.code(kim)
            try DatabaseSession().letPass("61 seconds")
            #expect(try await shop.redeem(old).json["error"] == "invalid_grant")
        }
    }

    // MARK: Applications

    @Test func `an application authenticates in exactly one way`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            func answer(_ change: (inout RelyingParty) -> Void, _ more: [String: String] = [:], hasBasic: Bool = true)
                async throws -> Response
            {
                var other = shop
                change(&other)
                return try await other.post(
                    "/oauth/token",
                    [
                        "grant_type": "authorization_code", "code": shop.code(kim), "redirect_uri": shop.redirectURI,
                        "code_verifier": RelyingParty.verifier,
                    ].merging(more) { $1 },
                    hasBasic: hasBasic
                )
            }
            #expect(try await answer { _ in }.status == 200)
            #expect(try await answer { $0.secret = RelyingParty.secrets[1] }.status == 200)
            let secret = ["client_secret": RelyingParty.secrets[0]]
            #expect(try await answer({ _ in }, secret, hasBasic: false).status == 200)
            let twice = try await answer({ _ in }, secret)
            let description = "The application authenticates in two ways, or its two client ids differ."
            #expect(twice.json["error"] == "invalid_request" && twice.json["error_description"] == .string(description))
            for wrong in [
                try await answer { $0.secret = "wrong" }, try await answer { $0.id = "nobody" },
                try await answer { $0.secret = nil },
                try await answer({ _ in }, ["client_secret": "wrong"], hasBasic: false),
            ] {
                #expect(wrong.status == 401 && wrong.json["error"] == "invalid_client")
                #expect(wrong.headers[.wwwAuthenticate]?.hasPrefix("Basic") == true)
                #expect(wrong.headers[.cacheControl] == "no-store")
            }
            let refused = shop.site.log.lines.filter { $0["status"] == 401 }
            #expect(refused.count == 4)
            for line in refused {
                #expect(line["event"] == "application_refused" && line["problem"] == "invalid_client")
                #expect(line["level"] == "notice" && line["network"]?.string?.isEmpty == false)
            }
        }
    }

    @Test func `a public application needs no secret, on any port of the loopback address`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let answer = try await shop.reader.signIn(kim)
            #expect(answer.status == 200 && answer.claims()["email"] == nil && answer.claims()["aud"] == "reader")
            let refresh = try #require(answer.json["refresh_token"]?.string)
            #expect(try await shop.reader.refresh(refresh).status == 200)
        }
    }

    @Test func `malformed requests get the error codes of OAuth`() async throws {
        try await RelyingParty.with { shop in
            #expect(try await shop.post("/oauth/token", [:]).json["error"] == "invalid_request")
            let password = try await shop.post("/oauth/token", ["grant_type": "password"])
            #expect(password.status == 400 && password.json["error"] == "unsupported_grant_type")
            let description = "The supported grant types are authorization_code and refresh_token."
            #expect(password.json["error_description"] == .string(description))
            let headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let twice = Array("grant_type=refresh_token&grant_type=refresh_token".utf8)
            let refused = try await shop.site.send(.post, "/oauth/token", bytes: twice, headers)
            #expect(refused.status == 400 && refused.json["error"] == "invalid_request")
            let json = try await shop.site.send(
                .post,
                "/oauth/token",
                bytes: Array("{}".utf8),
                [.contentType: "text/plain"]
            )
            #expect(json.status == 400 && json.json["error"] == "invalid_request")
        }
    }

    // MARK: Refreshing

    @Test func `a stolen refresh token ends the authorization at its second use`() async throws {
        try await RelyingParty.with { shop in
            try await shop.site.service.database.store([EventSubscriber(id: "shop", receiving: ["refresh.reused"])])
            let kim = Browser(shop.site)
            try await kim.signUp()
            let stolen = try #require(try await shop.signIn(kim).json["refresh_token"]?.string)
            let next = try #require(try await shop.refresh(stolen).json["refresh_token"]?.string)
            let newest = try await shop.refresh(next)
            // Moves all rotations to the year 1970, so the repeated token does not count as a retry.
            try DatabaseSession().run(
                """
                UPDATE authorizations SET refresh_tokens = regexp_replace(refresh_tokens, '@[0-9]+', '@0', 'g')
                """
            )
            #expect(try DatabaseSession().number(of: "events") == 0)
            let thief = try await shop.refresh(stolen)
            #expect(thief.status == 400 && thief.json["error"] == "invalid_grant")
            let events = "events WHERE type = 'refresh.reused' AND account = (SELECT id FROM accounts)"
            #expect(try DatabaseSession().number(of: events) == 1)
            #expect(
                try DatabaseSession().query("SELECT FROM outbox WHERE template = 'application-signed-out'").count
                    == 1
            )
            let owner = try #require(newest.json["refresh_token"]?.string)
            #expect(try await shop.refresh(owner).json["error"] == "invalid_grant")
            #expect(try DatabaseSession().number(of: events) == 1, "a further use finds nothing to end")
            #expect(try await shop.userInfo(newest.json["access_token"]?.string ?? "").status == 401)
        }
    }

    @Test func `a forged refresh token, one of another application, and a scope that was not granted are refused`()
        async throws
    {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let token = try #require(try await shop.signIn(kim).json["refresh_token"]?.string)
            for text in ["\(token.dropLast(2))xx", "\(token.dropLast(4))", "x"] where text != token {
                #expect(try await shop.refresh(text).json["error"] == "invalid_grant")
            }
            #expect(try await shop.reader.refresh(token).json["error"] == "invalid_grant")
            let more = ["grant_type": "refresh_token", "refresh_token": token, "scope": "openid profile"]
            #expect(try await shop.post("/oauth/token", more).json["error"] == "invalid_scope")
            #expect(try await shop.refresh(token).status == 200)
        }
    }

    @Test func `a refresh may ask for fewer scopes, and never for more`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let first = try await shop.signIn(kim, ["scope": "openid profile email"])
            var token = try #require(first.json["refresh_token"]?.string)
            func refresh(_ scope: String) async throws -> Response {
                let form = ["grant_type": "refresh_token", "refresh_token": token, "scope": scope]
                let answer = try await shop.post("/oauth/token", form)
                if let next = answer.json["refresh_token"]?.string { token = next }
                return answer
            }
            let steps = [
                ("email openid", "openid email"), ("openid", "openid"), ("", "openid profile email"),
                // The refresh token keeps all granted scopes.
                ("openid profile email", "openid profile email"),
            ]
            for (asked, given) in steps {
                let answer = try await refresh(asked)
                #expect(answer.status == 200 && answer.json["scope"]?.string == given)
                #expect(answer.claims(of: "access_token")["scope"]?.string == given)
            }
            for wider in ["openid offline_access", "admin"] {
                let refused = try await refresh(wider)
                #expect(refused.status == 400 && refused.json["error"] == "invalid_scope")
            }
        }
    }

    @Test func `a refresh counts as use of the session, and does not move its end`() async throws {
        try await RelyingParty.with { shop in
            let (kim, session) = (Browser(shop.site), try DatabaseSession())
            try await kim.signUp()
            let token = try #require(try await shop.signIn(kim).json["refresh_token"]?.string)
            try session.letPass("5 minutes")
            let end = try session.query("SELECT ends_at::text FROM sessions").only.decode(String.self)
            #expect(try await shop.refresh(token).status == 200)
            #expect(try session.query("SELECT ends_at::text FROM sessions").only.decode(String.self) == end)
            #expect(try session.number(of: "sessions WHERE last_seen_at > now() - interval '1 minute'") == 1)
        }
    }

    @Test(arguments: ["sign out", "erase", "disable", "expire", "idle", "change the password"])
    func `all tokens end with the session`(end: String) async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let answer = try await shop.signIn(kim)
            let code = try await shop.code(kim)
            switch end {
            case "sign out": try await kim.send(.delete, "/session")
            case "erase": try await kim.send(.delete, "/account")
            case "disable": try DatabaseSession().run("UPDATE accounts SET disabled_at = now()")
            case "change the password":
                let password: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
                #expect(try await kim.send(.put, "/account/password", password).status == 200)
            case "idle": try DatabaseSession().run("UPDATE sessions SET last_seen_at = last_seen_at - idle_after")
            default: try DatabaseSession().run("UPDATE sessions SET ends_at = now()")
            }
            let refresh = try #require(answer.json["refresh_token"]?.string)
            #expect(try await shop.refresh(refresh).json["error"] == "invalid_grant")
            #expect(try await shop.redeem(code).json["error"] == "invalid_grant")
            #expect(try await shop.userInfo(answer.json["access_token"]?.string ?? "").status == 401)
        }
    }

    // MARK: Introspection and revocation

    @Test func `introspection tells an application about its own tokens, and nothing else`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let access = try #require(try await shop.signIn(kim).json["access_token"]?.string)
            let mine = try await shop.post("/oauth/introspect", ["token": access])
            #expect(mine.json["active"] == true && mine.json["client_id"] == "shop")
            let foreign = try #require(try await shop.reader.signIn(kim).json["access_token"]?.string)
            for token in [foreign, "x", "\(access.dropLast(3))AAA"] {
                let answer = try await shop.post("/oauth/introspect", ["token": token])
                #expect(answer.status == 200 && answer.json == ["active": false])
            }
            #expect(try await shop.reader.post("/oauth/introspect", ["token": access]).status == 401)
        }
    }

    @Test(arguments: ["access_token", "refresh_token"])
    func `the revocation of one token ends the other tokens of its authorization`(kind: String) async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let answer = try await shop.signIn(kim)
            let token = try #require(answer.json[kind]?.string)
            #expect(try await shop.reader.post("/oauth/revoke", ["token": token]).status == 200)
            var stranger = shop
            stranger.secret = "wrong"
            #expect(try await stranger.post("/oauth/revoke", ["token": token]).status == 401)
            #expect(try await shop.userInfo(answer.json["access_token"]?.string ?? "").status == 200)
            #expect(try await shop.post("/oauth/revoke", ["token": token]).status == 200)
            #expect(try await shop.post("/oauth/revoke", ["token": "unknown"]).status == 200)
            #expect(try await shop.userInfo(answer.json["access_token"]?.string ?? "").status == 401)
            let refresh = try #require(answer.json["refresh_token"]?.string)
            #expect(try await shop.refresh(refresh).json["error"] == "invalid_grant")
        }
    }

    // MARK: Pushed requests

    @Test func `a pushed request can be used once, within a minute, by its application`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            func push() async throws -> String {
                let pushed = try await shop.post("/oauth/par", shop.parameters())
                #expect(pushed.status == 201 && pushed.json["expires_in"] == 60)
                return try #require(pushed.json["request_uri"]?.string)
            }
            func open(_ uri: String, by id: String = "shop") async throws -> Response {
                try await kim.send(.get, "/oauth/authorize?client_id=\(id)&request_uri=\(uri.formEncoded)")
            }
            let uri = try await push()
            #expect(try await open(uri, by: "reader").status == 400)
            let redirect = try await RelyingParty.Redirect(open(uri))
            #expect(redirect.query["code"] != nil && redirect.query["state"] == "a state &=?")
            #expect(try await open(uri).status == 400)
            let old = try await push()
            try DatabaseSession().letPass("61 seconds")
            #expect(try await open(old).status == 400)
        }
    }

    @Test func `mistakes in a pushed request are reported to the application at once`() async throws {
        try await RelyingParty.with { shop in
            for (change, error) in [
                (["redirect_uri": "https://evil.example/"], "invalid_request"), (["scope": "email"], "invalid_scope"),
                (["prompt": "unknown"], "invalid_request"), (["request_uri": "urn:x"], "invalid_request"),
            ] {
                let refused = try await shop.post("/oauth/par", shop.parameters(change.mapValues { $0 }))
                #expect(refused.status == 400 && refused.json["error"] == .string(error), "\(change)")
            }
            var other = shop
            other.secret = "wrong"
            #expect(try await other.post("/oauth/par", shop.parameters()).status == 401)
        }
    }

    // MARK: Documents

    @Test func `both metadata documents are equal, and the published keys have no private part`() async throws {
        try await RelyingParty.with { shop in
            let one = try await shop.site.send(.get, "/.well-known/openid-configuration")
            let other = try await shop.site.send(.get, "/.well-known/oauth-authorization-server")
            #expect(one.status == 200 && one.bytes == other.bytes && one.json["issuer"] == "http://localhost:8080")
            #expect(one.strings("prompt_values_supported") == ["none", "login", "create", "select_account"])
            #expect(one.strings("id_token_signing_alg_values_supported").contains("RS256"))
            #expect(one.headers[.accessControlAllowOrigin] == "*")
            let keys = try await shop.site.send(.get, "/oauth/keys")
            guard case .array(let all)? = keys.json["keys"] else { throw Missing() }
            #expect(Set(all.compactMap { $0["alg"]?.string }) == ["ES256", "RS256"])
            #expect(all.allSatisfy { $0["d"] == nil && $0["use"] == "sig" })
        }
    }
}
