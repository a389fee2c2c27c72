import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

/// Accounts lack the app that the flow requires if they were imported, or if an operator has removed a lost app.
@Suite("An app that the flow requires", .freshDatabase)
struct RequiredAuthenticatorTests {
    private static let password = "a+pass+phrase+of+mine"
    private static let page = "/account/authenticator"

    private static func flow() throws -> String {
        try standardFlow(with: "").replacing("    optional: true\n", with: "")
    }

    /// Makes an account that lacks the app.
    private static func makeAccount(_ site: TestServer) async throws {
        try await Browser(site).signUp(hasAuthenticator: true)
        try DatabaseSession().run(
            "DELETE FROM recovery_codes; DELETE FROM authenticators; DELETE FROM sessions"
        )
    }

    /// Makes an account that lacks the app. Returns a visitor who has signed in to it with the password alone.
    private static func visitor(_ site: TestServer) async throws -> PageVisitor {
        try await makeAccount(site)
        let kim = PageVisitor(site)
        let page = try await kim.post("/sign-in", "identifier=kim&password=\(password)")
        #expect(page.path == Self.page)
        return kim
    }

    /// The form that adds the app which the page shows.
    private static func form(on page: PageVisitor.Page) throws -> String {
        let secret = try #require(page.html.firstMatch(of: /secret=([A-Z2-7]+)/)?.1)
        let target = try target(on: page)
        return "code=\(SignedUp(secret: String(secret).base32Bytes).code)&return_to=\(target.formEncoded)"
    }

    private static func target(on page: PageVisitor.Page) throws -> String {
        try #require(page.html.firstMatch(of: /name="return_to" value="([^"]+)"/).map { String($0.1) })
    }

    /// Confirms on the page with the recovery codes that they are saved, which leads to the target.
    private static func save(
        _ codes: PageVisitor.Page,
        _ kim: PageVisitor,
        leadingTo target: String
    ) async throws {
        #expect(codes.status == 200 && codes.has("action=\"\(page)/saved\""))
        #expect(try Self.target(on: codes) == target)
        let saved = try await kim.send(.post, "\(page)/saved", "return_to=\(target.formEncoded)")
        #expect(saved.status == 303 && saved.headers[.location] == target)
    }

    // MARK: OpenID Connect

    @Test func `the person sets up the app, and then goes back to the application`() async throws {
        try await RelyingParty.with(flow: Self.flow()) { shop in
            let kim = try await Self.visitor(shop.site)
            let page = try await kim.open(shop.url())
            #expect(page.path.hasPrefix("\(Self.page)?return_to="))
            #expect(page.has("Every account needs an authenticator app."))
            let target = try Self.target(on: page)
            let early = try await RelyingParty.Redirect(kim.send(.get, target))
            #expect(early.address == Self.page, "without the app the person goes no further")
            let codes = try await kim.post(Self.page, Self.form(on: page))
            try await Self.save(codes, kim, leadingTo: target)
            let back = try await RelyingParty.Redirect(kim.send(.get, target))
            #expect(back.address == shop.redirectURI)
            let tokens = try await shop.redeem(#require(back.query["code"]))
            #expect(tokens.claims()["acr"] == "aal2")
        }
    }

    @Test func `a person whose session has ended signs in again, and then goes back to the application`() async throws {
        try await RelyingParty.with(flow: Self.flow()) { shop in
            let kim = try await Self.visitor(shop.site)
            let first = try await kim.open(shop.url())
            let target = try Self.target(on: first).formEncoded
            try DatabaseSession().run("DELETE FROM sessions")
            let page = try await kim.post(Self.page, Self.form(on: first))
            #expect(page.path == "/sign-in?ended&return_to=\(target)")
            #expect(page.has("Sign in again to continue."))
            let late = try await kim.post("/sign-in/second-factor", "code=123456&return_to=\(target)")
            #expect(late.path == "/sign-in?over&return_to=\(target)" && late.has("That sign-in has ended."))
        }
    }

    @Test func `a confirmation of the password leads back to the page, and then to the application`() async throws {
        try await RelyingParty.with(flow: Self.flow()) { shop in
            let kim = try await Self.visitor(shop.site)
            let first = try await kim.open(shop.url())
            let target = try Self.target(on: first)
            try DatabaseSession().letPass("11 minutes")
            let asked = try await kim.post(Self.page, Self.form(on: first))
            #expect(asked.path == "/account/confirm?authenticator&return_to=\(target.formEncoded)")
            #expect(asked.has("name=\"next\" value=\"authenticator\""))
            let opened = try await kim.open("\(Self.page)?return_to=\(target.formEncoded)")
            #expect(opened.path == asked.path, "also for the page itself")
            let form = "next=authenticator&return_to=\(target.formEncoded)&password="
            let wrong = try await kim.send(.post, "/account/confirm", form + "not+the+pass+phrase")
            #expect(wrong.status == 422 && wrong.body.contains("name=\"next\" value=\"authenticator\""))
            let page = try await kim.post("/account/confirm", form + Self.password)
            #expect(page.path == "\(Self.page)?return_to=\(target.formEncoded)")
            let codes = try await kim.post(Self.page, Self.form(on: page))
            try await Self.save(codes, kim, leadingTo: target)
            #expect(try await RelyingParty.Redirect(kim.send(.get, target)).query["code"] != nil)
        }
    }

    @Test func `prompt=none gets an error, and the account page works`() async throws {
        try await RelyingParty.with(flow: Self.flow()) { shop in
            let kim = try await Self.visitor(shop.site)
            let silent = try await RelyingParty.Redirect(kim.send(.get, shop.url(["prompt": "none"])))
            #expect(silent.address == shop.redirectURI && silent.query["error"] == "interaction_required")
            let account = try await kim.open("/account")
            #expect(account.path == "/account" && account.status == 200)
        }
    }

    @Test func `where the flow requires no app, none is asked for`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            #expect(try await shop.authorize(kim, ["prompt": "none"]).query["code"] != nil)
        }
    }

    @Test func `the app that a sign-up without a password has set up is enough for the application`() async throws {
        var flow = try Self.flow() + "sign_in: [code]\n"
        let start = try #require(flow.firstRange(of: "  - name: password\n")).lowerBound
        let end = try #require(flow.firstRange(of: "  - name: profile\n")).lowerBound
        flow.removeSubrange(start..<end)
        try await RelyingParty.with(flow: flow) { shop in
            let kim = Browser(shop.site)
            try await kim.send(.post, "/signup", [:])
            try await kim.send(.put, "/signup/email", ["email": "kim@example.com"])
            let code = try await shop.site.service.readCode(for: "kim@example.com")
            try await kim.send(.put, "/signup/code", ["code": .string(code)])
            try await kim.send(.put, "/signup/profile", ["username": "kim"])
            try await kim.send(.put, "/signup/contact", ["birth_date": "2001-02-28"])
            let secret = try await kim.send(.get, "/signup/totp").json["secret"]?.string?.base32Bytes ?? []
            try await kim.send(.put, "/signup/totp", ["totp": .string(SignedUp(secret: secret).code)])
            try await kim.send(.put, "/signup/terms", ["terms": true])
            #expect(try await kim.send(.post, "/signup/commit").status == 201)
            let session = try await kim.send(.get, "/session").json
            #expect(session["next"] == .null)
            #expect(try await shop.authorize(kim, ["prompt": "none"]).query["code"] != nil)
        }
    }

    // MARK: Forward-auth

    private static let host = "app.example"

    private static func behindProxy(_ body: @escaping @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.with(publicURL: "https://\(host)", flow: flow(), forwardAuthHosts: [host], body)
    }

    private static func ask(_ site: TestServer, _ browser: Browser, _ headers: HTTPFields) async throws -> Response {
        var headers = headers
        headers[.cookie] = "__Host-session=\(try #require(browser["__Host-session"]))"
        return try await site.send(.get, "/session/check", headers)
    }

    private static let nginx: HTTPFields = [
        .originalURL: "https://app.example/orders", .originalMethod: "GET", .secFetchMode: "navigate",
    ]
    private static let traefik: HTTPFields = [
        .forwardedHost: "app.example", .forwardedURI: "/orders", .forwardedMethod: "GET", .secFetchMode: "navigate",
    ]

    @Test func `a proxy learns nothing of the person before the app is set up, and sends the browser to the page`()
        async throws
    {
        try await Self.behindProxy { site in
            try await Self.makeAccount(site)
            let kim = Browser(site)
            #expect(try await kim.signIn().status == 201)
            let location = "\(Self.page)?return_to=https%3A%2F%2Fapp.example%2Forders"
            for (headers, status) in [(Self.nginx, 401), (Self.traefik, 303)] {
                let page = try await Self.ask(site, kim, headers)
                #expect(page.status == status && page.headers[.location] == location)
                #expect(page.headers[.remoteUser] == nil && page.headers[.identity] == nil)
                var script = headers
                script[.secFetchMode] = "cors"
                let refused = try await Self.ask(site, kim, script)
                #expect(refused.status == 401 && refused.headers[.location] == nil)
                #expect(refused.slug == "no-session" && refused.json["reason"] == "authenticator")
                #expect(refused.json["next"] == ["step": "authenticator", "href": "/account/totp"])
            }
            let secret = try await kim.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes ?? []
            let code: JSON = ["code": .string(SignedUp(secret: secret).code)]
            #expect(try await kim.send(.put, "/account/totp", code).status == 200)
            #expect(try await Self.ask(site, kim, Self.nginx).status == 204)
        }
    }

    @Test func `the page leads back to the application behind the proxy`() async throws {
        try await Self.behindProxy { site in
            let kim = try await Self.visitor(site)
            let page = try await kim.open("\(Self.page)?return_to=https%3A%2F%2Fapp.example%2Forders")
            let codes = try await kim.post(Self.page, Self.form(on: page))
            try await Self.save(codes, kim, leadingTo: "https://app.example/orders")
        }
    }
}
