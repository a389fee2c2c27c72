import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Limits on the wire", .freshDatabase, .timeLimit(.minutes(3)))
struct LimitTests {
    private static let few = Limits(byName: [.starts: Limit(1, per: .seconds(600))], revisions: 600)

    @Test func `who began too often hears for how long, and by which policy`() async throws {
        try await TestServer.with(limits: Self.few) { site in
            #expect(try await site.visitor().start().status == 201)
            let answer = try await site.visitor().start()
            #expect(answer.status == 429 && answer.slug == "rate-limited")
            let wait = try #require(Int(answer.headers[.retryAfter] ?? ""))
            #expect((500...600).contains(wait))
            #expect(answer.headers[.rateLimitPolicy] == "\"starts\";q=1;w=600")
            #expect(answer.headers[.rateLimit] == "\"starts\";r=0;t=\(wait)")
        }
    }

    @Test func `only a trusted proxy says for whom it asks`() async throws {
        for (trusted, statuses) in [([], [201, 429]), (["127.0.0.0/8"], [201, 201])] {
            try Session().run("TRUNCATE limits")
            let proxies = trusted.compactMap { IPBlock($0) }
            try await TestServer.with(.socket, limits: Self.few, trustedProxies: proxies) { site in
                var heard: [Int] = []
                for client in ["192.0.2.1", "192.0.2.2"] {
                    heard.append(try await site.visitor(headers: [.forwardedFor: client]).start().status)
                }
                #expect(heard == statuses)
            }
        }
    }

    @Test func `over two servers and a kill, the number is one`() async throws {
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
            func begin(at server: ServerProcess) throws -> String {
                let start = "POST /signup HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                return String(try RawClient(port: server.port).ask(start).dropFirst(9).prefix(3))
            }
            #expect(try begin(at: first) == "201")
            #expect(try begin(at: second) == "201")
            await first.end(by: SIGKILL)
            let third = try await ServerProcess.start(database: database, settings: settings)
            #expect(try begin(at: third) == "201")
            #expect(try begin(at: second) == "429")
            #expect(try begin(at: third) == "429")
            await second.end(by: SIGTERM)
            await third.end(by: SIGTERM)
        }
    }
}
