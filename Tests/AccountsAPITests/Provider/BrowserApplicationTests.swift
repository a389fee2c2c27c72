import Accounts
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import accounts_api

@Suite("Applications in a browser", .freshDatabase)
struct BrowserApplicationTests {
    /// The origin of the public application in `RelyingParty.file`.
    private static let origin = "http://127.0.0.1"
    private static let resourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy")!
    private static let endpoints = [
        "/oauth/token": "POST", "/oauth/userinfo": "GET, POST", "/oauth/revoke": "POST",
    ]
    private static let documents = [
        "/oauth/keys", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
    ]

    /// Sends the preflight that a browser sends before the request of a script.
    private func preflight(_ site: TestServer, _ path: String, _ origin: String) async throws -> Response {
        let headers: HTTPFields = [
            .origin: origin, .accessControlRequestMethod: "POST", .accessControlRequestHeaders: "content-type",
            .secFetchSite: "cross-site",
        ]
        return try await site.client.execute(uri: path, method: .options, headers: headers) { Response($0) }
    }

    @Test func `the script of an application may send requests to the endpoints for tokens`() async throws {
        try await RelyingParty.with { shop in
            for (path, methods) in Self.endpoints {
                let answer = try await preflight(shop.site, path, Self.origin)
                #expect(answer.status == 204 && answer.body.isEmpty)
                #expect(answer.headers[.accessControlAllowOrigin] == Self.origin, "\(path)")
                #expect(answer.headers[.accessControlAllowMethods] == methods)
                #expect(answer.headers[.accessControlAllowHeaders] == "authorization, content-type")
                #expect(answer.headers[.accessControlMaxAge] == "600")
                #expect(answer.headers[.vary]?.contains("Origin") == true)
                #expect(answer.headers[.accessControlAllowCredentials] == nil)
            }
        }
    }

    @Test func `the script signs in, reads the person's data, revokes its token, and can read errors`() async throws {
        try await RelyingParty.with { shop in
            let kim = Browser(shop.site)
            try await kim.signUp()
            let reader = shop.reader
            func send(_ path: String, _ form: [String: String], _ token: String? = nil) async throws -> Response {
                var headers: HTTPFields = [
                    .origin: Self.origin, .secFetchSite: "cross-site",
                    .contentType: "application/x-www-form-urlencoded",
                ]
                if let token { headers[.authorization] = "Bearer \(token)" }
                let bytes = Array(RelyingParty.form(form).utf8)
                return try await shop.site.send(.post, path, bytes: bytes, headers)
            }
            let exchange = [
                "grant_type": "authorization_code", "client_id": "reader", "redirect_uri": reader.redirectURI,
                "code_verifier": RelyingParty.verifier, "code": try await reader.code(kim),
            ]
            let tokens = try await send("/oauth/token", exchange)
            let access = try #require(tokens.json["access_token"]?.string)
            let person = try await send("/oauth/userinfo", [:], access)
            let ended = try await send("/oauth/revoke", ["client_id": "reader", "token": access])
            let refused = try await send("/oauth/token", exchange)
            let unknown = try await send("/oauth/userinfo", [:], access)
            let answers = [tokens, person, ended, refused, unknown]
            #expect(answers.map(\.status) == [200, 200, 200, 400, 401])
            for answer in answers {
                #expect(answer.headers[.accessControlAllowOrigin] == Self.origin)
                #expect(answer.headers[.accessControlAllowCredentials] == nil)
                #expect(answer.headers[Self.resourcePolicy] == "cross-origin")
                #expect(answer.headers[.vary]?.contains("Origin") == true)
            }
            #expect(refused.json["error"] == "invalid_grant")
            #expect(unknown.headers[.accessControlExposeHeaders]?.contains("WWW-Authenticate") == true)
        }
    }

    @Test(arguments: ["https://shop.example", "https://evil.example", "null", "http://127.0.0.1:5173", "*"])
    func `no other origin may send these requests, not even that of an application with a secret`(origin: String)
        async throws
    {
        try await RelyingParty.with { shop in
            for path in Self.endpoints.keys {
                let answer = try await preflight(shop.site, path, origin)
                #expect(answer.status == 405 && answer.headers[.accessControlAllowOrigin] == nil, "\(path)")
            }
            let answer = try await shop.site.send(.get, "/oauth/userinfo", [.origin: origin])
            #expect(answer.status == 401 && answer.headers[.accessControlAllowOrigin] == nil)
            #expect(answer.headers[Self.resourcePolicy] == "same-origin")
        }
    }

    @Test func `every site may read the documents, without credentials`() async throws {
        try await TestServer.with(allowedOrigins: ["https://app.example"], hasApplications: true) { site in
            for path in Self.documents {
                for origin in ["https://app.example", "https://other.example"] {
                    let asked = try await preflight(site, path, origin)
                    #expect(asked.status == 204 && asked.headers[.accessControlAllowMethods] == "GET")
                    let read = try await site.send(.get, path, [.origin: origin])
                    #expect(read.status == 200 && read.headers[Self.resourcePolicy] == "cross-origin")
                    for answer in [asked, read] {
                        #expect(answer.headers[.accessControlAllowOrigin] == "*", "\(path)")
                        #expect(answer.headers[.accessControlAllowCredentials] == nil)
                    }
                }
                let plain = try await site.send(.get, path)
                #expect(plain.headers[.accessControlAllowOrigin] == "*", "caches keep one answer for all")
            }
        }
    }

    @Test(arguments: ["/oauth/authorize", "/oauth/par", "/oauth/introspect", "/oauth/logout", "/session", "/signup"])
    func `the origin of the application can read no other answers`(path: String) async throws {
        try await RelyingParty.with { shop in
            let asked = try await preflight(shop.site, path, Self.origin)
            #expect(asked.status == 405 && asked.headers[.accessControlAllowOrigin] == nil)
            let answer = try await shop.site.client.execute(
                uri: path,
                method: .get,
                headers: [.origin: Self.origin]
            ) { Response($0) }
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            #expect(answer.headers[Self.resourcePolicy] == "same-origin")
        }
    }
}
