import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import accounts_api

@Suite("CORS", .freshDatabase, .timeLimit(.minutes(3)))
struct CORSTests {
    private static let friend = "https://app.example"

    @Test func `a listed site may send requests and read the answers`() async throws {
        try await TestServer.with(allowedOrigins: [Self.friend]) { site in
            let asks: HTTPFields = [.origin: Self.friend, .accessControlRequestMethod: "PUT"]
            let preflight = try await site.client.execute(uri: "/signup/email", method: .options, headers: asks) {
                Answer($0)
            }
            #expect(preflight.status == 204)
            #expect(preflight.headers[.accessControlAllowOrigin] == Self.friend)
            #expect(preflight.headers[.accessControlAllowMethods] == "GET, POST, PUT, DELETE")
            #expect(preflight.headers[.accessControlAllowHeaders]?.contains("content-type") == true)
            for answer in [
                try await site.visitor(headers: [.origin: Self.friend]).start(),
                try await site.visitor(headers: [.origin: Self.friend]).send(.get, "/signup"),
            ] {
                #expect(answer.headers[.accessControlAllowOrigin] == Self.friend)
                #expect(answer.headers[.accessControlAllowCredentials] == "true")
                #expect(answer.headers[.accessControlExposeHeaders]?.contains("ETag") == true)
                #expect(answer.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site")
            }
        }
    }

    @Test(arguments: ["https://evil.example", "null", "https://app.example.evil.example", "http://app.example", "*"])
    func `another origin is not reflected`(origin: String) async throws {
        try await TestServer.with(allowedOrigins: [Self.friend]) { site in
            let asks: HTTPFields = [.origin: origin, .accessControlRequestMethod: "PUT"]
            let preflight = try await site.client.execute(uri: "/signup/email", method: .options, headers: asks) {
                Answer($0)
            }
            #expect(preflight.status == 405 && preflight.headers[.accessControlAllowOrigin] == nil)
            let answer = try await site.visitor(headers: [.origin: origin]).send(.get, "/signup/schema")
            #expect(answer.status == 200 && answer.headers[.accessControlAllowOrigin] == nil)
            #expect(answer.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site")
        }
    }

    @Test func `without a list no answer names an origin`() async throws {
        try await TestServer.with { site in
            let answer = try await site.visitor(headers: [.origin: Self.friend]).send(.get, "/signup/schema")
            #expect(
                answer.headers[.accessControlAllowOrigin] == nil
                    && answer.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site"
            )
        }
    }

    @Test func `Strict-Transport-Security is sent if PUBLIC_URL is https`() async throws {
        for (url, isStrict) in [("https://signup.example", true), ("http://localhost:8080", false)] {
            try await TestServer.with(publicURL: url) { site in
                let answer = try await site.visitor().send(.get, "/signup/schema")
                let strict = answer.headers[.strictTransportSecurity]
                #expect(strict == (isStrict ? "max-age=63072000; includeSubDomains" : nil))
            }
        }
    }
}
