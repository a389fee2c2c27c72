import Foundation
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Forward-auth", .freshDatabase)
struct ForwardAuthTests {
    private static let host = "app.example"
    private static let nginx: HTTPFields = [
        .originalURL: "https://app.example/orders?page=2", .originalMethod: "GET", .secFetchMode: "navigate",
    ]
    private static let traefik: HTTPFields = [
        .forwardedHost: "app.example", .forwardedURI: "/orders?page=2", .forwardedMethod: "GET",
        HTTPField.Name("X-Forwarded-Proto")!: "https", .secFetchMode: "navigate",
    ]
    private static let signIn = "/sign-in?return_to=https%3A%2F%2Fapp.example%2Forders%3Fpage%3D2"

    private static func with(
        _ hosts: Set<String> = [Self.host],
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with(publicURL: "https://app.example", forwardAuthHosts: hosts, body)
    }

    private static func ask(
        _ site: TestServer,
        _ headers: HTTPFields,
        session: String? = nil
    ) async throws -> Response {
        var headers = headers
        if let session { headers[.cookie] = "theme=dark; __Host-session=\(session)" }
        return try await site.send(.get, "/session/check", headers)
    }

    /// The token of a new session of Kim.
    private static func token(_ site: TestServer) async throws -> String {
        try await site.readyAccount()
        let kim = Browser(site)
        _ = try await kim.signIn("kim")
        return try #require(kim["__Host-session"])
    }

    @Test(arguments: [(nginx, 204), (traefik, 200)])
    func `the proxy learns who is signed in`(headers: HTTPFields, status: Int) async throws {
        try await Self.with { site in
            let token = try await Self.token(site)
            let response = try await Self.ask(site, headers, session: token)
            #expect(response.status == status && response.bytes.isEmpty)
            #expect(response.headers[.cacheControl] == "no-store")
            #expect(response.headers[.location] == nil && response.headers[.setCookie] == nil)
            let account = try DatabaseSession().query("SELECT id FROM accounts").only.decode(ID<Account>.self)
            #expect(response.headers[.remoteUser] == "\(account)")
            #expect(response.headers[.remoteEmail] == "kim@example.com" && response.headers[.remoteName] == "kim")
            #expect(response.headers[.cookie] == "theme=dark")

            let text = try #require(response.headers[.identity])
            let keys = SigningKeys(database: site.service.database, keys: try KeyRing(TestSignups.keys))
            let identity = try await keys.verify(text, type: .identity)
            await #expect(throws: SigningError.self) { try await keys.verify(text, type: .idToken) }
            let claims = identity.claims
            #expect(claims["iss"] == "https://app.example" && claims["aud"] == "app.example")
            #expect(claims["sub"] == .string("\(account)"))
            #expect(claims["acr"] == "aal1" && claims["amr"] == ["pwd"] && !identity.isExpired)
            guard case .integer(let start)? = claims["iat"], case .integer(let end)? = claims["exp"],
                case .integer(let proof)? = claims["auth_time"]
            else {
                Issue.record("no times: \(claims.text)")
                return
            }
            #expect(end - start == 60 && proof <= start)
        }
    }

    @Test(arguments: [
        ("", ""), ("theme=dark; size=2", "theme=dark; size=2"), ("a=1;__Host-device=x;b=2", "a=1; b=2"),
        ("__Host-device=x; __Host-signup=y; __Host-recovery=z; __Host-email-change=w; __Host-recovery-codes=v", ""),
        (
            "session=1; device=2; __Host-sessions=3; __host-session=4",
            "session=1; device=2; __Host-sessions=3; __host-session=4"
        ),
        ("a=b=c; d; e=", "a=b=c; d; e="),
        // U+0600 and the semicolon after it are one Character.
        ("theme=dark\u{600}", "theme=dark\u{600}"),
    ])
    func `the application gets all cookies but those of the service`(sent: String, passedOn: String) async throws {
        try await Self.with { site in
            let token = try await Self.token(site)
            for own in ["\(sent); __Host-session=\(token)", "__Host-session=\(token); \(sent)"] {
                var headers = Self.traefik
                headers[.cookie] = own
                let response = try await Self.ask(site, headers)
                #expect(response.status == 200 && response.headers[.cookie] == passedOn)
            }
        }
    }

    /// Asks about a session. Returns the signed identity header of the answer, and its claims.
    private static func identity(
        _ site: TestServer,
        host: String = Self.host,
        session: String
    ) async throws -> (text: String, claims: JSON) {
        let response = try await ask(site, [.forwardedHost: host], session: session)
        let text = try #require(response.headers[.identity])
        let parts = text.split(separator: ".")
        try #require(parts.count == 3)
        return (text, try JSON.read(#require([UInt8].fromBase64URL(Array(parts[1].utf8)))))
    }

    @Test func `the same identity header is sent for half a minute, unless one of its claims changes`() async throws {
        try await Self.with([Self.host, "other.example"]) { site in
            let token = try await Self.token(site)
            let first = try await Self.identity(site, session: token)
            let second = try await Self.identity(site, session: token)
            if second.text != first.text {
                guard case .integer(let start)? = first.claims["iat"], case .integer(let later)? = second.claims["iat"]
                else {
                    Issue.record("no times: \(first.claims.text) \(second.claims.text)")
                    return
                }
                #expect(later - start >= 30)
            }
            let other = try await Self.identity(site, host: "other.example", session: token)
            #expect(other.claims["aud"] == "other.example" && other.claims["sub"] == first.claims["sub"])
            let lee = Browser(site)
            try await lee.signUp("lee@example.com", "lee")
            let leeToken = try #require(lee["__Host-session"])
            let leeIdentity = try await Self.identity(site, session: leeToken)
            #expect(leeIdentity.claims["sub"] != first.claims["sub"] && leeIdentity.claims["sub"] != nil)

            let session = try DatabaseSession()
            try session.run("UPDATE sessions SET assurance = 2, methods = 'pwd otp mfa'")
            let raised = try await Self.identity(site, session: token)
            #expect(raised.claims["acr"] == "aal2" && raised.claims["amr"] == ["pwd", "otp", "mfa"])
            try session.run("UPDATE sessions SET auth_time = auth_time - interval '1 hour'")
            let older = try await Self.identity(site, session: token)
            #expect(older.claims["auth_time"] != raised.claims["auth_time"])
            try session.run("DELETE FROM sessions")
            let ended = try await Self.ask(site, Self.traefik, session: token)
            #expect(ended.status == 303 && ended.headers[.identity] == nil)
        }
    }

    @Test func `the published keys verify the identity header`() async throws {
        try await Self.with { site in
            let token = try await Self.token(site)
            let identity = try #require(try await Self.ask(site, Self.nginx, session: token).headers[.identity])
            let header = try #require(identity.split(separator: ".").first)
            let bytes = try #require([UInt8].fromBase64URL(Array(header.utf8)))
            let kid = try #require(try JSON.read(bytes)["kid"])
            let published = try await site.send(.get, "/oauth/keys")
            #expect(published.status == 200)
            #expect(published.headers[.cacheControl] == "public, max-age=900")
            guard case .array(let keys)? = published.json["keys"] else {
                Issue.record("no keys: \(published.body)")
                return
            }
            #expect(keys.contains { $0["kid"] == kid && $0["alg"] == "ES256" })
        }
    }

    @Test(
        arguments: [
            (nginx, [:], 401, signIn), (traefik, [:], 303, signIn), (nginx, [.secFetchMode: "cors"], 401, nil),
            (traefik, [.secFetchMode: "cors"], 401, nil), (nginx, [.secFetchMode: "no-cors"], 401, nil),
            (nginx, [.originalMethod: "POST"], 401, nil), (traefik, [.forwardedMethod: "POST"], 401, nil),
            (nginx, [.accept: "text/html"], 401, signIn), (traefik, [.accept: "text/html"], 303, signIn),
            (traefik, [.accept: "image/png", .secFetchMode: "no-cors"], 401, nil),
            // The sign-in does not return to an ambiguous address.
            (nginx, [.originalURL: "https://app.example/a b"], 401, "/sign-in"),
            (traefik, [.forwardedURI: "/\\evil.example"], 303, "/sign-in"),
            (traefik, [.forwardedURI: "/" + String(repeating: "a", count: 3000)], 303, "/sign-in"),
            // Without a slash, the path would become part of the host.
            (traefik, [.forwardedURI: ".evil.example/"], 303, "/sign-in"),
            (nginx, [.originalURL: "http://APP.example"], 401, "/sign-in?return_to=https%3A%2F%2Fapp.example"),
        ] as [(HTTPFields, HTTPFields, Int, String?)]
    )
    func `only a navigation is sent to the sign-in`(
        headers: HTTPFields,
        others: HTTPFields,
        status: Int,
        location: String?
    ) async throws {
        try await Self.with { site in
            var headers = headers
            for field in others { headers[field.name] = field.value }
            let response = try await Self.ask(site, headers)
            #expect(response.status == status)
            #expect(response.headers[.location] == location)
            #expect(response.headers[.identity] == nil && response.headers[.remoteUser] == nil)
            if status == 401 {
                #expect(response.slug == "no-session" && response.headers[.wwwAuthenticate] == "Bearer")
            }
        }
    }

    @Test(
        arguments: [
            ([:], 400), ([.originalURL: "/orders"], 400), ([.originalURL: "//app.example/"], 400),
            ([.originalURL: "https://evil.example/"], 404), ([.originalURL: "https://app.example@evil.example/"], 404),
            ([.originalURL: "https://app.example:444/"], 404),
            ([.originalURL: "https://app.example.evil.example/"], 404),
            ([.originalURL: "https://"], 404), ([.forwardedHost: "evil.example"], 404),
            ([.forwardedHost: "app.example, evil.example"], 404),
            // The header of nginx takes precedence over a header that a client sends through nginx.
            ([.originalURL: "https://evil.example/", .forwardedHost: "app.example"], 404),
        ] as [(HTTPFields, Int)]
    )
    func `requests for other hosts learn nothing about the person, even with a session`(
        headers: HTTPFields,
        status: Int
    )
        async throws
    {
        try await Self.with { site in
            let token = try await Self.token(site)
            let response = try await Self.ask(site, headers, session: token)
            #expect(response.status == status)
            #expect(response.headers[.identity] == nil && response.headers[.remoteUser] == nil)
        }
    }

    @Test func `the answer follows the current state of the session, and does not prolong the session`() async throws {
        try await Self.with { site in
            let token = try await Self.token(site)
            let session = try DatabaseSession()
            try session.letPass("10 minutes")
            func lastSeen() throws -> Date {
                try session.query("SELECT last_seen_at FROM sessions").only.decode(Date.self)
            }
            let before = try lastSeen()
            #expect(try await Self.ask(site, Self.nginx, session: token).status == 204)
            #expect(try lastSeen() == before)
            try session.run("UPDATE sessions SET assurance = 2, idle_after = interval '1 hour'")
            #expect(try await Self.ask(site, Self.nginx, session: token).status == 204)
            try session.letPass("51 minutes")
            #expect(try await Self.ask(site, Self.nginx, session: token).status == 401, "idle")
            try session.run("UPDATE sessions SET last_seen_at = now()")
            #expect(try await Self.ask(site, Self.nginx, session: token).status == 204)
            try session.run("UPDATE accounts SET disabled_at = now()")
            #expect(try await Self.ask(site, Self.nginx, session: token).status == 401, "disabled")
            try session.run("UPDATE accounts SET disabled_at = NULL; DELETE FROM sessions")
            #expect(try await Self.ask(site, Self.nginx, session: token).status == 401, "ended")
            #expect(try await Self.ask(site, Self.nginx, session: "nonsense").status == 401)
        }
    }

    @Test func `without the setting, the paths do not exist`() async throws {
        try await TestServer.with { site in
            for path in ["/session/check", "/oauth/keys"] {
                let status = try await site.client.execute(uri: path, method: .get, headers: Self.nginx) {
                    $0.status.code
                }
                #expect(status == 404)
            }
        }
    }

    // MARK: - Returning

    @Test(arguments: [
        ("https://app.example", true), ("https://app.example/", true), ("https://app.example/a/b?c=d&e=%2F#f", true),
        ("https://app.example?a", true), ("https://app.example:8443/", true), ("https://other.example/", false),
        ("http://app.example/", false), ("HTTPS://app.example/", false), ("//app.example/", false), ("/orders", false),
        ("https:/app.example/", false), ("https:///app.example/", false), ("https://app.example.evil.example/", false),
        ("https://app.example@evil.example/", false), ("https://evil.example@app.example/", false),
        ("https://evil.example\\@app.example/", false), ("https://app.example\\.evil.example/", false),
        ("https://app.example/\\evil", false), ("https://app.example/\r\nSet-Cookie: a=b", false),
        ("https://app.example/\t", false), (" https://app.example/", false), ("https://app.example/é", false),
        ("https://app.example:443/", false), ("https://app.example:8443@evil.example/", false),
        ("https://[app.example]/", false), ("javascript:alert(1)//https://app.example/", false), ("", false),
        ("https://app.example/" + String(repeating: "a", count: 2000), false),
    ])
    func `the sign-in returns only to https URLs of listed hosts`(url: String, isAllowed: Bool) {
        let hosts = ForwardAuthHosts([Self.host, "app.example:8443"], publicURL: "https://accounts.example")
        #expect(hosts.allowed(url) == (isAllowed ? url : nil))
    }

    @Test func `the pages of the sign-in lead back to the application`() async throws {
        try await Self.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            let form = try await kim.send(.get, Self.signIn)
            #expect(form.body.contains("name=\"return_to\" value=\"https://app.example/orders?page=2\""))
            let target = "&return_to=https%3A%2F%2Fapp.example%2Forders%3Fpage%3D2"
            let wrong = try await kim.send(.post, "/sign-in", "identifier=kim&password=not+the+pass+phrase" + target)
            #expect(wrong.status == 401 && wrong.body.contains("return_to"))
            let right = try await kim.send(.post, "/sign-in", "identifier=kim&password=a+pass+phrase+of+mine" + target)
            #expect(right.status == 303 && right.headers[.location] == "https://app.example/orders?page=2")
            let again = try await kim.send(.get, Self.signIn)
            #expect(again.status == 303 && again.headers[.location] == "https://app.example/orders?page=2")
        }
    }

    @Test func `a second factor comes before the application`() async throws {
        try await Self.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = PageVisitor(site)
            let target = "return_to=https%3A%2F%2Fapp.example%2Forders"
            let asked = try await kim.send(
                .post,
                "/sign-in",
                "identifier=kim&password=a+pass+phrase+of+mine&\(target)"
            )
            #expect(asked.headers[.location] == "/sign-in/second-factor?\(target)")
            let page = try await kim.send(.get, "/sign-in/second-factor?\(target)")
            #expect(page.body.contains("name=\"return_to\""))
            #expect(page.body.contains("/sign-in/recovery-code?return_to"), "the link to the recovery code")
            let done = try await kim.send(.post, "/sign-in/second-factor", "code=\(person.code)&\(target)")
            #expect(done.status == 303 && done.headers[.location] == "https://app.example/orders")
            let late = try await kim.send(.get, "/sign-in/second-factor?\(target)")
            #expect(late.status == 303 && late.headers[.location] == "https://app.example/orders")
        }
    }

    @Test(arguments: ["https%3A%2F%2Fevil.example%2F", "%2F%2Fevil.example", "javascript%3Aalert(1)", ""])
    func `the sign-in leads to no other host`(target: String) async throws {
        try await Self.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            let page = try await kim.send(.get, "/sign-in?return_to=\(target)").body
            // Only the switch of languages has the address of the page.
            #expect(page.firstMatch(of: /(name|href|action)="[^"]*return_to/) == nil)
            let form = "identifier=kim&password=a+pass+phrase+of+mine&return_to=\(target)"
            #expect(try await kim.send(.post, "/sign-in", form).headers[.location] == "/account")
            #expect(try await kim.send(.get, "/sign-in?return_to=\(target)").headers[.location] == "/account")
        }
    }

    // MARK: - Returning from a sign-up or a recovery

    private static let page = "https://app.example/orders?page=2"
    private static let returning = "return_to=https%3A%2F%2Fapp.example%2Forders%3Fpage%3D2"

    /// Follows the link of the sign-in page to the first page of the flow.
    private static func follow(_ path: String, from signIn: String, _ kim: PageVisitor) async throws -> PageVisitor.Page
    {
        let link = "\(path)?\(returning)"
        let form = try await kim.open(signIn)
        #expect(form.has("href=\"\(link)\""))
        return try await kim.open(link)
    }

    @Test func `a sign-up that begins at the sign-in leads back to the application, also after a reload`() async throws
    {
        try await Self.with { site in
            let kim = PageVisitor(site)
            let first = try await Self.follow("/signup", from: Self.signIn, kim)
            #expect(first.path.hasPrefix("/signup?") && first.has("name=\"return_to\" value=\"\(Self.page)\""))
            #expect(first.has("href=\"\(Self.signIn)\""), "and back to the sign-in")
            _ = try await kim.post("/signup", "locale=en&\(Self.returning)")
            _ = try await kim.fill(through: "terms")
            for end in [try await kim.post("/signup/commit"), try await kim.open("/signup")] {
                #expect(end.path == "/signup" && end.has("href=\"\(Self.page)\"") && end.has("Continue to app.example"))
            }
            #expect(try await kim.send(.get, Self.signIn).headers[.location] == Self.page, "signed in")
        }
    }

    @Test func `a recovery that begins at the sign-in leads back to the application`() async throws {
        try await Self.with([Self.host, "intranet.example"]) { site in
            try await Browser(site).signUp()
            let kim = PageVisitor(site)
            let first = try await Self.follow("/recovery", from: Self.signIn, kim)
            #expect(first.has("name=\"return_to\" value=\"\(Self.page)\""))
            // A later request replaces an earlier one.
            _ = try await kim.post("/recovery", "locale=en&\(Self.returning)")
            _ = try await kim.post("/recovery", "return_to=https%3A%2F%2Fintranet.example%2Fa")
            _ = try await kim.post("/recovery/email", "email=kim%40example.com")
            _ = try await kim.post("/recovery/code", "code=\(try await site.service.readCode(for: "kim@example.com"))")
            let review = try await kim.post(
                "/recovery/password",
                "password=another+pass+phrase&confirmation=another+pass+phrase"
            )
            // Browsers check the redirects after the form, too.
            let policy = review.headers[.contentSecurityPolicy]
            #expect(review.path == "/recovery/review" && policy?.contains(" https://intranet.example;") == true)
            let commit = try await kim.send(.post, "/recovery/commit", "")
            #expect(commit.status == 303 && commit.headers[.location] == "https://intranet.example/a")
        }
    }

    @Test func `a sign-up that is open goes on after a question, and one that is over does not come back`() async throws
    {
        try await Self.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            let question = try await Self.follow("/signup", from: Self.signIn, kim)
            #expect(question.has("name=\"return_to\" value=\"\(Self.page)\"") && question.has("action=\"/signup\""))
            let step = try await kim.post("/signup", Self.returning)
            #expect(step.path == "/signup/code", "with its answers")
            #expect(try await kim.open("/signup?\(Self.returning)").path == "/signup/code", "asked only once")
            _ = try await kim.fill(through: "terms")
            #expect(try await kim.post("/signup/commit").has("href=\"\(Self.page)\""))
            let other = try await kim.open("/signup?return_to=https%3A%2F%2Fapp.example%2Fother")
            #expect(other.has("value=\"https://app.example/other\""), "the first page of another sign-up")
            #expect(try await kim.post("/signup", Self.returning).path == "/signup/email")
        }
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example", "javascript:alert(1)", "https://app.example@evil.example/", "",
    ])
    func `a sign-up leads to no other host`(target: String) async throws {
        try await Self.with { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup?return_to=\(target.formEncoded)")
            // Only the switch of languages has the address of the page.
            #expect(
                first.status == 200 && first.html.firstMatch(of: /(name|href|action)="[^"]*(return_to|evil)/) == nil
            )
            _ = try await kim.post("/signup", "locale=en&return_to=\(target.formEncoded)")
            _ = try await kim.fill(through: "terms")
            #expect(try await kim.post("/signup/commit").has("href=\"/account\""))
        }
    }

    @Test func `a program gets the page in the answer to the commit, while the host is in the list`() async throws {
        try await Self.with { site in
            let kim = Browser(site)
            try await kim.send(.post, "/signup", ["return_to": .string(Self.page)])
            let commit = try #require(await kim.signUp().commit)
            #expect(commit.json["continue"] == ["name": "app.example", "href": .string(Self.page)])
            #expect(try DatabaseSession().query("SELECT FROM drafts WHERE sealed::text LIKE '%orders%'").isEmpty)
            let token = try #require(kim["__Host-signup"])
            try await Self.with(["other.example"]) { later in
                let shown = try await later.send(.get, "/signup", [.cookie: "__Host-signup=\(token)"])
                #expect(shown.json["state"] == "committed" && shown.json["continue"] == nil)
            }
        }
    }
}
