import Accounts
import Foundation
import HummingbirdTesting
import TestSupport
import Testing

@testable import accounts_api

/// Sends the requests that Envoy sends (`RawHttpClientImpl::check` in its ext_authz_http_impl.cc): the browser's method
/// and `Host`, the prefix before the path, `content-length: 0`, and the browser's headers that envoy.yaml allows.
@Suite("Forward-auth for Envoy", .freshDatabase)
struct EnvoyTests {
    private static let navigation = ["sec-fetch-mode: navigate"]

    private static func with(
        hosts: Set<String> = ["app.example", "other.example"],
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with(
            .socket,
            publicURL: "https://app.example",
            allowedOrigins: ["https://friend.example"],
            forwardAuthHosts: hosts,
            body
        )
    }

    private struct Reply {
        let status: Int
        /// The values of the headers, by their names in lower case.
        let headers: [String: String]
        let body: String

        init(_ text: String) throws {
            let end = try #require(text.range(of: "\r\n\r\n"), "\(text)")
            let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
            status = try #require(lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) })
            let fields = lines.dropFirst().map {
                $0.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            }
            headers = Dictionary(
                fields.map { ($0[0].lowercased(), $0[1].trimmingCharacters(in: .whitespaces)) },
                uniquingKeysWith: { "\($0), \($1)" }
            )
            body = String(text[end.upperBound...])
        }

        var namesNobody: Bool {
            ["remote-user", "remote-email", "remote-name", "x-identity", "cookie"].allSatisfy { headers[$0] == nil }
        }
    }

    private static func ask(
        _ site: TestServer,
        _ method: String,
        _ target: String,
        _ headers: [String] = [],
        host: String = "app.example"
    ) async throws -> Reply {
        let head =
            ["\(method) /session/check/ext-authz\(target) HTTP/1.1", "host: \(host)", "content-length: 0"] + headers
            + ["x-envoy-internal: true", "x-envoy-expected-rq-timeout-ms: 10000", "connection: close"]
        let request = head.joined(separator: "\r\n") + "\r\n\r\n"
        let port = try #require(site.client.port)
        return try Reply(await onThread { try RawClient(port: port).exchange(request) })
    }

    /// The `Cookie` header of Kim's browser, with a new session between two other cookies.
    private static func cookie(_ site: TestServer) async throws -> String {
        try await site.readyAccount()
        let kim = Browser(site)
        _ = try await kim.signIn("kim")
        return "cookie: theme=dark; __Host-session=\(try #require(kim["__Host-session"])); size=2"
    }

    @Test func `Envoy learns who is signed in, whatever the method is`() async throws {
        try await Self.with { site in
            let cookie = try await Self.cookie(site)
            let session = try DatabaseSession()
            try session.letPass("10 minutes")
            func lastSeen() throws -> Date {
                try session.query("SELECT last_seen_at FROM sessions").only.decode(Date.self)
            }
            let before = try lastSeen()
            let account = try session.query("SELECT id FROM accounts").only.decode(ID<Account>.self)
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
                let answer = try await Self.ask(site, method, "/orders?page=2", [cookie])
                #expect(answer.status == 200 && answer.body.isEmpty, "\(method)")
                #expect(answer.headers["remote-user"] == "\(account)", "\(method)")
                #expect(answer.headers["remote-email"] == "kim@example.com" && answer.headers["remote-name"] == "kim")
                #expect(answer.headers["x-identity"]?.hasPrefix("ey") == true)
                #expect(answer.headers["cookie"] == "theme=dark; size=2")
                #expect(answer.headers["cache-control"] == "no-store" && answer.headers["set-cookie"] == nil)
            }
            #expect(try lastSeen() == before)
            #expect(try session.query("SELECT count(*)::int FROM sessions").only.decode(Int.self) == 1)
        }
    }

    @Test(
        arguments: [
            ("GET", "/orders?page=2", navigation, 303, "return_to=https%3A%2F%2Fapp.example%2Forders%3Fpage%3D2"),
            ("GET", "/", navigation, 303, "return_to=https%3A%2F%2Fapp.example%2F"),
            ("GET", "/account", navigation, 303, "return_to=https%3A%2F%2Fapp.example%2Faccount"),
            ("GET", "//evil.example/", navigation, 303, "return_to=https%3A%2F%2Fapp.example%2F%2Fevil.example%2F"),
            ("GET", "/../../session", navigation, 303, "return_to=https%3A%2F%2Fapp.example%2F..%2F..%2Fsession"),
            (
                "GET", "/session/check?a=b", navigation, 303,
                "return_to=https%3A%2F%2Fapp.example%2Fsession%2Fcheck%3Fa%3Db"
            ),
            // The sign-in does not return to an ambiguous address.
            ("GET", "/a|b", navigation, 303, ""), ("GET", "/orders", [], 401, nil),
            ("GET", "/orders", ["sec-fetch-mode: cors"], 401, nil), ("HEAD", "/orders", navigation, 401, nil),
            ("POST", "/orders", navigation, 401, nil), ("OPTIONS", "/orders", navigation, 401, nil),
            (
                "GET", "/orders", ["sec-fetch-mode: navigate", "cookie: __Host-session=nonsense"], 303,
                "return_to=https%3A%2F%2Fapp.example%2Forders"
            ),
        ] as [(String, String, [String], Int, String?)]
    )
    func `only a navigation is sent to the sign-in`(
        method: String,
        target: String,
        headers: [String],
        status: Int,
        query: String?
    ) async throws {
        try await Self.with { site in
            let answer = try await Self.ask(site, method, target, headers)
            #expect(answer.status == status && answer.namesNobody)
            #expect(answer.headers["location"] == query.map { $0.isEmpty ? "/sign-in" : "/sign-in?\($0)" })
            #expect(status != 401 || answer.headers["www-authenticate"] == "Bearer")
        }
    }

    @Test(arguments: ["evil.example", "app.example.evil.example", "app.example:444", "app.example@evil.example", ""])
    func `requests for other hosts learn nothing about the person`(host: String) async throws {
        try await Self.with { site in
            let answer = try await Self.ask(site, "GET", "/orders", [try await Self.cookie(site)], host: host)
            #expect([400, 404].contains(answer.status) && answer.namesNobody)
        }
    }

    @Test func `headers that a client forges have no influence`() async throws {
        try await Self.with { site in
            let cookie = try await Self.cookie(site)
            let invented = [
                "x-original-url: https://other.example/", "x-original-method: GET", "x-forwarded-host: other.example",
                "x-forwarded-uri: /other", "x-forwarded-method: GET", "x-forwarded-proto: http",
                "origin: https://evil.example", "sec-fetch-site: cross-site",
                "authorization: Bearer of-the-application",
                "content-type: application/x-www-form-urlencoded", "accept: image/png",
            ]
            for method in ["GET", "POST"] {
                let answer = try await Self.ask(site, method, "/orders", [cookie] + invented)
                #expect(answer.status == 200)
                let identity = try #require(answer.headers["x-identity"])
                let keys = SigningKeys(database: site.service.database, keys: try KeyRing(TestSignups.keys))
                let claims = try await keys.verify(identity, type: .identity).claims
                #expect(claims["aud"] == "app.example")
                let other = try await Self.ask(site, method, "/orders", [cookie] + invented, host: "evil.example")
                #expect(other.status == 404 && other.namesNobody)
            }
            let page = try await Self.ask(site, "GET", "/orders", Self.navigation + invented)
            #expect(page.headers["location"] == "/sign-in?return_to=https%3A%2F%2Fapp.example%2Forders")
        }
    }

    @Test func `a session token in Authorization does not count, because the application uses this header`()
        async throws
    {
        try await Self.with { site in
            let cookie = try await Self.cookie(site)
            let match = try #require(cookie.firstMatch(of: /__Host-session=([^;]+)/))
            let answer = try await Self.ask(site, "GET", "/orders", ["authorization: Bearer \(match.1)"])
            #expect(answer.status == 401 && answer.namesNobody)
        }
    }

    @Test func `a preflight of an application gets past Envoy only with a session`() async throws {
        try await Self.with { site in
            let headers = ["origin: https://friend.example", "access-control-request-method: GET"]
            let answer = try await Self.ask(site, "OPTIONS", "/orders", headers)
            #expect(answer.status == 401 && answer.namesNobody)
        }
    }

    @Test func `without the setting, the path does not exist`() async throws {
        try await Self.with(hosts: []) { site in
            let answer = try await Self.ask(site, "GET", "/orders")
            #expect(answer.status == 404)
        }
    }
}
