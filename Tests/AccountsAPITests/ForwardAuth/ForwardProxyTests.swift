import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The proxies of docs/forward-auth.md", .freshDatabase, .timeLimit(.minutes(30)))
struct ForwardProxyTests {
    /// Runs a proxy in front of the service. The body gets the proxy, and the cookie of a session of Kim.
    private static func with(
        _ program: ForwardProxy.Program,
        _ body: (ForwardProxy, _ session: String) async throws -> Void
    ) async throws {
        try await TestSignups.with { _ = try await $0.signups.commit($0.readyDraft()) }
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["FORWARD_AUTH_HOSTS": "app.example"]
        )
        let proxy = try ForwardProxy(program, before: server.port)
        try await proxy.waitUntilItListens()
        let form = #"{"identifier":"kim","password":"a pass phrase of mine"}"#
        let signedIn = try await proxy.send("POST /session", ["Content-Type: application/json"], form)
        let match = try #require(try /session=[A-Za-z0-9_-]+/.firstMatch(in: signedIn), "\(signedIn)")
        try await body(proxy, String(match.output))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test(arguments: ForwardProxy.Program.allCases)
    func `without a session the proxy sends navigations to the sign-in, and refuses other requests`(
        program: ForwardProxy.Program
    ) async throws {
        try await Self.with(program) { proxy, _ in
            let page = try await proxy.send("GET /orders?page=2", ["Sec-Fetch-Mode: navigate"]).lowercased()
            let location = "/sign-in?return_to=http%3A%2F%2Fapp.example%2Forders%3Fpage%3D2"
            #expect(page.hasPrefix("http/1.1 303") && page.contains("location: \(location.lowercased())\r\n"))
            let form = try await proxy.send("GET \(location)", ["Accept: text/html"])
            #expect(form.hasPrefix("HTTP/1.1 200") && form.contains("name=\"return_to\""))
            for request in ["GET /orders", "POST /orders", "HEAD /", "OPTIONS *", "DELETE /account/../orders/1"] {
                let headers = ["Sec-Fetch-Mode: cors", "Accept: application/json", "Remote-User: evil"]
                let script = try await proxy.send(request, headers, request.hasPrefix("POST") ? "a=b" : "")
                #expect(!script.hasPrefix("HTTP/1.1 2") && !script.contains("user="), "\(request): \(script)")
                #expect(!script.lowercased().contains("\r\nlocation:"), "\(request): \(script)")
            }
            for session in ["session=", "session=nonsense"] {
                let script = try await proxy.send("GET /orders", ["Cookie: \(session)"])
                #expect(script.hasPrefix("HTTP/1.1 401"))
            }
            let keys = try await proxy.send("GET /oauth/keys")
            #expect(keys.hasPrefix("HTTP/1.1 200") && keys.contains("\"kid\""))
        }
    }

    @Test(arguments: ForwardProxy.Program.allCases)
    func `the application learns who the person is, and does not get the session`(program: ForwardProxy.Program)
        async throws
    {
        try await Self.with(program) { proxy, session in
            let forged = ["Remote-User: evil", "REMOTE-EMAIL: evil", "remote-name: evil", "X-Identity: evil"]
            let invented = ["X-Original-URL: https://evil.example/", "X-Forwarded-Host: evil.example"]
            let cookies = "Cookie: theme=dark; \(session); device=abc; size=2"
            let account = try DatabaseSession().query("SELECT id FROM accounts").only.decode(ID<Account>.self)
            for method in ["GET", "POST", "PUT"] {
                let body = method == "GET" ? "" : "a=b"
                let answer = try await proxy.send("\(method) /orders", [cookies] + forged + forged + invented, body)
                #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
                #expect(answer.contains("user=\(account) email=kim@example.com name=kim "))
                #expect(answer.contains("cookie=theme=dark; size=2 end"))
                let identity = try #require(try /identity=([^ ]+)/.firstMatch(in: answer))
                let claims = try await withDatabase { database in
                    try await SigningKeys(database: database, keys: KeyRing(TestSignups.keys))
                        .verify(String(identity.1), type: .identity).claims
                }
                #expect(claims["aud"] == "app.example" && claims["sub"] == .string("\(account)"))
            }
            let only = try await proxy.send("GET /orders", ["Cookie: \(session)"])
            #expect(only.contains("cookie= end"))
        }
    }

    @Test(arguments: ForwardProxy.Program.allCases)
    func `a client cannot reach the check of the service through the proxy`(program: ForwardProxy.Program) async throws
    {
        try await Self.with(program) { proxy, session in
            let headers = [
                "Cookie: \(session)", "X-Original-URL: http://app.example/", "X-Forwarded-Host: app.example",
            ]
            let paths = [
                "/session/check", "/session/check/", "//session//check", "/session/%63heck", "/session/check?a=b",
                "/session/check/ext-authz/", "/session/check/ext-authz/orders", "/%73ession/check/ext-authz/",
            ]
            for path in paths {
                for method in ["GET", "POST"] {
                    let answer = try await proxy.send("\(method) \(path)", headers).lowercased()
                    #expect(answer.hasPrefix("http/1.1 4"), "\(path): \(answer)")
                    #expect(!answer.contains("x-identity") && !answer.contains("remote-user"), "\(path)")
                }
            }
        }
    }

    @Test(arguments: ForwardProxy.Program.allCases)
    func `if the service gives no answer or does not know the host, the application gets no request`(
        program: ForwardProxy.Program
    ) async throws {
        try await Self.with(program) { proxy, session in
            let cookie = "Cookie: \(session)"
            let answer = try await proxy.send("GET /orders", [cookie], host: "other.example", attempts: 1)
            #expect(answer.hasPrefix("HTTP/1.1 5") && !answer.contains("user="), "the host is not in the list")
        }
        let proxy = try ForwardProxy(program, before: Balancer.freePort())
        try await proxy.waitUntilItListens()
        for headers in [["Cookie: session=x"], ["Sec-Fetch-Mode: navigate"]] {
            let answer = try await proxy.send("GET /orders", headers, attempts: 1)
            #expect(answer.hasPrefix("HTTP/1.1 5") && !answer.contains("user="), "\(answer)")
        }
    }

    @Test(arguments: [
        // The lengths of cookies in bytes. Each has its own header line, as browsers send cookies over HTTP/2.
        ([7000, 7500], "200"), ([7900, 7900], "200"),
        // The service refuses more than 16 KiB, and nginx a line of more than 8 KiB.
        ([7000, 7000, 7000], "431"), ([9000], "400"),
    ])
    func `nginx passes on long cookies, and refuses longer ones with the right status`(
        lengths: [Int],
        status: String
    ) async throws {
        try await Self.with(.nginx) { proxy, session in
            let cookies = lengths.map { "long=\(String(repeating: "a", count: $0))" }
            let headers = ([session] + cookies).map { "Cookie: \($0)" }
            let answer = try await proxy.send("GET /orders", headers)
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer.prefix(200))")
            #expect(answer.contains("cookie=\(cookies.joined(separator: "; ")) end") == (status == "200"))
        }
    }

    @Test func `HAProxy removes every header in which a client says who the person is`() async throws {
        try await Self.with(.haproxy) { proxy, session in
            let names = ["Remote_User", "REMOTE_EMAIL", "Remote.Name", "RemoteUser", "X_Identity", "X.Identity"]
            let answer = try await proxy.send("GET /orders", ["Cookie: \(session)"] + names.map { "\($0): evil" })
            #expect(answer.hasPrefix("HTTP/1.1 200") && !answer.contains("evil"))
            let headers = try #require(try /headers=([^ ]*)/.firstMatch(in: answer)).1.split(separator: ",")
            for name in names { #expect(!headers.contains { $0 == name.lowercased() }, "\(name)") }
            for name in ["remote-user", "remote-email", "remote-name", "x-identity"] {
                #expect(headers.filter { $0 == name }.count == 1, "\(name)")
            }
        }
    }

    @Test(arguments: [
        ("Connection: close, Remote-User, X-Identity", "", " connection= upgrade= "),
        // After an upgrade to HTTP/2, HAProxy would not see the requests.
        ("Connection: Upgrade, HTTP2-Settings", "h2c", " connection= upgrade= "),
        ("Connection: Upgrade, Remote-User", "websocket", " connection=Upgrade upgrade=websocket "),
    ])
    func `HAProxy passes on the upgrade to a WebSocket, and no other Connection or Upgrade header`(
        connection: String,
        upgrade: String,
        shown: String
    ) async throws {
        try await Self.with(.haproxy) { proxy, session in
            let upgrade = upgrade.isEmpty ? [] : ["Upgrade: \(upgrade)"]
            let key = ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"]
            // The second request ends the connection.
            let last = "GET /last HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\n\r\n"
            let headers = [connection, "Cookie: \(session)"] + upgrade + key
            let answer = try await proxy.send("GET /orders", headers + ["", last])
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            #expect(answer.contains("user=") && answer.contains(shown), "\(answer)")
            let refused = try await proxy.send("GET /orders", [connection] + upgrade + key + ["", last])
            #expect(refused.hasPrefix("HTTP/1.1 401") && !refused.contains("user="), "\(refused)")
        }
    }

    @Test func `HAProxy refuses ambiguous requests, TRACE, CONNECT and long headers, and checks every request`()
        async throws
    {
        try await Self.with(.haproxy) { proxy, session in
            let cookie = "Cookie: \(session)"
            let refused = [
                ("GET /orders", ["Cookie: a=b", cookie]), ("GET /orders", ["Host: evil.example", cookie]),
                ("GET http://evil.example/orders", [cookie]), ("GET /orders", ["Remote-User : evil", cookie]),
                ("TRACE /orders", [cookie]), ("CONNECT app.example", [cookie]),
                ("GET /orders", [cookie, "X: \(String(repeating: "a", count: 20_000))"]),
            ]
            for (line, headers) in refused {
                let answer = try await proxy.send(line, headers)
                #expect(answer.hasPrefix("HTTP/1.1 4") && !answer.contains("user="), "\(line): \(answer)")
            }
            // HAProxy checks each request of a connection.
            let long = "Cookie: \(session); long=\(String(repeating: "a", count: 10_000))"
            let second = "GET /second HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\n\r\n"
            let answers = try await proxy.send("GET /orders", ["Connection: keep-alive", long, "", second])
            let statuses = answers.matches(of: /HTTP\/1\.1 ([0-9]+)/).map { String($0.1) }
            #expect(statuses == ["200", "401"] && answers.contains("cookie=long=aaa"))
        }
    }
}
