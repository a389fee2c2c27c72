import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Rate limits over HTTP", .freshDatabase, .timeLimit(.minutes(30)))
struct LimitTests {
    private static let oneStart = Limits(byName: [.starts: Limit(1, per: .seconds(600))], revisions: 600)

    @Test func `a start above the limit gets 429, with the limit and the wait in the headers`() async throws {
        try await TestServer.with(limits: Self.oneStart) { site in
            #expect(try await site.visitor().start().status == 201)
            let response = try await site.visitor().start()
            #expect(response.status == 429 && response.slug == "rate-limited")
            let wait = try #require(Int(response.headers[.retryAfter] ?? ""))
            #expect((500...600).contains(wait))
            #expect(response.headers[.rateLimitPolicy] == "\"starts\";q=1;w=600")
            #expect(response.headers[.rateLimit] == "\"starts\";r=0;t=\(wait)")
            let minutes = (wait + 59) / 60
            #expect(response.json["message"] == .string("Too many attempts. Try again in \(minutes) minutes."))
        }
    }

    @Test func `the address in X-Forwarded-For is used only if a trusted proxy has sent it`() async throws {
        for (trusted, statuses) in [([], [201, 429]), (["127.0.0.0/8"], [201, 201])] {
            try DatabaseSession().run("TRUNCATE limits")
            let proxies = trusted.compactMap { IPBlock($0) }
            try await TestServer.with(.socket, limits: Self.oneStart, trustedProxies: proxies) { site in
                var received: [Int] = []
                for client in ["192.0.2.1", "192.0.2.2"] {
                    received.append(try await site.visitor(headers: [.forwardedFor: client]).start().status)
                }
                #expect(received == statuses)
            }
        }
    }

    @Test func `servers share one limit, also after one of them is killed`() async throws {
        let flow = """
            flow: names
            version: 1
            limits: {starts: 3/10m}
            steps:
              - name: name
                title: Name
                fields: [{name: username, kind: username, identifier: true, label: Username}]
            """
        try await withFile(flow) { file in
            let settings = ["FLOW_FILE": file, "TRUSTED_PROXIES": ""]
            let database = FreshDatabase.current.conninfo
            let first = try await ServerProcess.start(database: database, settings: settings)
            let second = try await ServerProcess.start(database: database, settings: settings)
            func statusOfSignupStart(at server: ServerProcess) async throws -> String {
                let request = "POST /signup HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                return String(try await RawClient.exchange(request, at: server.port).dropFirst(9).prefix(3))
            }
            #expect(try await statusOfSignupStart(at: first) == "201")
            #expect(try await statusOfSignupStart(at: second) == "201")
            await first.end(by: SIGKILL)
            let third = try await ServerProcess.start(database: database, settings: settings)
            #expect(try await statusOfSignupStart(at: third) == "201")
            #expect(try await statusOfSignupStart(at: second) == "429")
            #expect(try await statusOfSignupStart(at: third) == "429")
            await second.end(by: SIGTERM)
            await third.end(by: SIGTERM)
        }
    }
}
