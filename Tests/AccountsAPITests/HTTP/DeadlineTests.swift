import HTTPTypes
import Hummingbird
import HummingbirdTesting
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Deadlines of requests", .freshDatabase, .timeLimit(.minutes(30)))
struct RequestDeadlineTests {
    private static let impatient = Patience(request: .milliseconds(200), readiness: .milliseconds(200))

    @Test func `every request is answered while a table is locked, and served when it is unlocked`() async throws {
        try await TestServer.with(timeouts: .standard, patience: Self.impatient) { site in
            let kim = site.visitor(.bearer)
            kim.tokenText = try await site.service.signups.start(in: .english).token.text
            let holder = try DatabaseSession()
            try holder.run("BEGIN; LOCK TABLE drafts")
            let responses = try await Self.crowd(of: kim)
            #expect(responses.count == 20)
            for response in responses {
                #expect(response.status == 503 && response.slug == "unavailable")
                #expect(response.headers[.retryAfter] != nil)
            }
            // The lock is released only after all answers.
            try holder.run("COMMIT")
            var response = try await kim.send(.get, "/signup")
            while response.status == 503 { response = try await kim.send(.get, "/signup") }
            #expect(response.status == 200)
            response = try await kim.put("email", ["email": "kim@example.com"])
            while response.status == 503 { response = try await kim.put("email", ["email": "kim@example.com"]) }
            #expect(response.status == 200)
        }
    }

    @Test func `a locked table refuses the requests that need it, and the server is ready for others`() async throws {
        try await TestServer.with(timeouts: .standard, patience: Self.impatient) { site in
            let kim = site.visitor(.bearer)
            kim.tokenText = try await site.service.signups.start(in: .english).token.text
            let holder = try DatabaseSession()
            try holder.run("BEGIN; LOCK TABLE drafts")
            let refused = try await Self.crowd(of: kim)
            #expect(refused.allSatisfy { $0.status == 503 && $0.headers[.retryAfter] != nil })
            // The last statements of the crowd may still be waiting for the lock.
            var ready = try await kim.send(.get, "/health/ready")
            while ready.status == 503 { ready = try await kim.send(.get, "/health/ready") }
            #expect(ready.status == 200)
            #expect(try await kim.send(.get, "/health/live").status == 200)
            try holder.run("COMMIT")
            var served = try await kim.send(.get, "/signup")
            while served.status == 503 { served = try await kim.send(.get, "/signup") }
            #expect(served.status == 200)
        }
    }

    /// Sends 20 requests at once that read or start a sign-up, and returns the responses.
    private static func crowd(of kim: Visitor) async throws -> [Response] {
        try await withThrowingTaskGroup(of: Response.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await number.isMultiple(of: 2) ? kim.send(.get, "/signup") : kim.send(.post, "/signup")
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `four requests wait to write to one draft, and the fifth is refused`() async throws {
        try await TestServer.with(waitingRequests: Signups.waitingRequests) { site in
            let (draft, token) = try await site.service.signups.start(in: .english)
            let kim = site.visitor(.bearer)
            kim.tokenText = token.text
            let turns = site.service.signups.turns
            _ = try await turns.begin(draft.id)
            let waiting = (1...4).map { _ in Task { try await kim.put("email", ["email": "kim@example.com"]) } }
            while turns.waiting(for: draft.id) < 4 { await Task.yield() }
            let refused = try await kim.put("email", ["email": "kim@example.com"])
            #expect(refused.status == 503 && refused.slug == "unavailable" && refused.headers[.retryAfter] == "1")
            #expect(try await kim.send(.get, "/signup").status == 200, "a read does not wait for writes")
            turns.end(draft.id)
            for request in waiting { #expect(try await request.value.status == 200) }
        }
    }

    @Test func `a server works on an answer for eight seconds, and tells in one whether it is ready`() {
        #expect(Patience().request == .seconds(8) && Patience().readiness < .seconds(1))
    }

    @Test func `the listener of the metrics also serves /health/live`() async throws {
        try await TestSignups.with { service in
            let routes = MetricsRoutes(monitor: Monitor(of: service.signups, version: "1"))
            try await Application(router: routes.router()).test(.router) { client in
                let response = try await client.execute(uri: "/health/live", method: .get) { Response($0) }
                #expect(response.status == 200 && response.json["status"] == "live")
            }
        }
    }
}
