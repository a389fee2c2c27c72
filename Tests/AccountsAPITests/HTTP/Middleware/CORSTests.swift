import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import accounts_api

@Suite("CORS", .freshDatabase, .timeLimit(.minutes(30)))
struct CORSTests {
    private static let allowedOrigin = "https://app.example"

    @Test func `a listed site may send requests and read the responses`() async throws {
        try await TestServer.with(allowedOrigins: [Self.allowedOrigin]) { site in
            let preflightHeaders: HTTPFields = [.origin: Self.allowedOrigin, .accessControlRequestMethod: "PUT"]
            let preflight = try await site.client.execute(
                uri: "/signup/email",
                method: .options,
                headers: preflightHeaders
            ) {
                Response($0)
            }
            #expect(preflight.status == 204)
            #expect(preflight.headers[.accessControlAllowOrigin] == Self.allowedOrigin)
            #expect(preflight.headers[.accessControlAllowMethods] == "GET, POST, PUT, DELETE")
            #expect(preflight.headers[.accessControlAllowHeaders]?.contains("content-type") == true)
            for response in [
                try await site.visitor(headers: [.origin: Self.allowedOrigin]).start(),
                try await site.visitor(headers: [.origin: Self.allowedOrigin]).send(.get, "/signup"),
            ] {
                #expect(response.headers[.accessControlAllowOrigin] == Self.allowedOrigin)
                #expect(response.headers[.accessControlAllowCredentials] == "true")
                #expect(response.headers[.accessControlExposeHeaders]?.contains("ETag") == true)
                #expect(response.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site")
            }
        }
    }

    /// RFC 9700 §2.6.
    @Test(arguments: ["/oauth/authorize", "//oauth//authorize", "/oauth/authorize/continue", "/oauth/logout"])
    func `a listed site may not read the answers of the authorization endpoint`(path: String) async throws {
        try await TestServer.with(
            allowedOrigins: [Self.allowedOrigin],
            hasApplications: true,
            applicationsFile: RelyingParty.file
        ) { site in
            let headers: HTTPFields = [.origin: Self.allowedOrigin]
            let answer = try await site.client.execute(uri: path, method: .get, headers: headers) { Response($0) }
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            var preflight = headers
            preflight[.accessControlRequestMethod] = "GET"
            let refused = try await site.client.execute(uri: path, method: .options, headers: preflight) {
                Response($0)
            }
            #expect(refused.status == 405 && refused.headers[.accessControlAllowOrigin] == nil)
        }
    }

    @Test func `a cache distinguishes the answers to different origins`() async throws {
        try await TestServer.with(allowedOrigins: [Self.allowedOrigin]) { site in
            let page = try await PageVisitor(site).open("/signup")
            let style = try #require(page.html.firstMatch(of: /href="(\/assets\/[^"]+\.css)"/)?.1)
            for headers: HTTPFields in [[:], [.origin: Self.allowedOrigin]] {
                let response = try await site.client.execute(uri: String(style), method: .get, headers: headers) {
                    Response($0)
                }
                #expect(response.headers[.cacheControl]?.hasPrefix("public") == true)
                #expect(response.headers[.vary] == "Accept-Encoding, Origin")
                #expect(response.headers[.accessControlAllowOrigin] == headers[.origin])
            }
        }
    }

    @Test(arguments: ["https://evil.example", "null", "https://app.example.evil.example", "http://app.example", "*"])
    func `another origin is not reflected`(origin: String) async throws {
        try await TestServer.with(allowedOrigins: [Self.allowedOrigin]) { site in
            let preflightHeaders: HTTPFields = [.origin: origin, .accessControlRequestMethod: "PUT"]
            let preflight = try await site.client.execute(
                uri: "/signup/email",
                method: .options,
                headers: preflightHeaders
            ) {
                Response($0)
            }
            #expect(preflight.status == 405 && preflight.headers[.accessControlAllowOrigin] == nil)
            let response = try await site.visitor(headers: [.origin: origin]).send(.get, "/signup/schema")
            #expect(response.status == 200 && response.headers[.accessControlAllowOrigin] == nil)
            #expect(response.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site")
        }
    }

    @Test func `without a list of origins no response allows one`() async throws {
        try await TestServer.with { site in
            let response = try await site.visitor(headers: [.origin: Self.allowedOrigin]).send(.get, "/signup/schema")
            #expect(
                response.headers[.accessControlAllowOrigin] == nil
                    && response.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site"
            )
        }
    }

    @Test func `Strict-Transport-Security is sent if PUBLIC_URL is https`() async throws {
        for (url, isStrict) in [("https://signup.example", true), ("http://localhost:8080", false)] {
            try await TestServer.with(publicURL: url) { site in
                let response = try await site.visitor().send(.get, "/signup/schema")
                let strict = response.headers[.strictTransportSecurity]
                #expect(strict == (isStrict ? "max-age=63072000; includeSubDomains" : nil))
            }
        }
    }
}
