import Dispatch
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Concurrent requests", .freshDatabase, .timeLimit(.minutes(30)))
struct ConcurrentRequestTests {
    /// Over a socket, the requests share one connection and are answered one after the other, so there are fewer.
    @Test(arguments: [(TestServer.Mode.router, 100), (.socket, 30)])
    func `many concurrent commits of one draft create one account`(mode: TestServer.Mode, count: Int) async throws {
        try await TestServer.with(mode) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.fill()
            let responses = try await withThrowingTaskGroup(of: Response.self) { group in
                for _ in 0..<count { group.addTask { try await kim.commit() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(responses.count { $0.status == 201 } == 1)
            #expect(responses.count { $0.status == 200 } == count - 1)
            #expect(Set(responses.map(\.body)).count == 1)
            let rows = try DatabaseSession().query("SELECT count(*) FROM accounts")
            #expect(try rows.only.decode(Int.self) == 1)
        }
    }

    @Test(arguments: TestServer.Mode.allCases)
    func `fifty parallel writes of different steps lose nothing`(mode: TestServer.Mode) async throws {
        try await TestServer.with(mode) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.fill()
            // Each step is written several times at once. No write may overwrite the values of another step.
            let bodies = (0..<50).map { index -> (String, JSON) in
                switch index % 3 {
                case 0: ("contact", ["birth_date": .string("19\(70 + index % 10)-01-01")])
                case 1: ("terms", ["terms": true, "marketing": .bool(index % 2 == 0)])
                default: ("profile", ["username": "kim", "display_name": .string("Kim \(index)")])
                }
            }
            let responses = try await withThrowingTaskGroup(of: Response.self) { group in
                for (step, body) in bodies { group.addTask { try await kim.put(step, body) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(responses.allSatisfy { $0.status == 200 })
            // `start` and `fill` made eight revisions, and each of the fifty writes one more, so no write was lost.
            let last = try await kim.send(.get, "/signup/review")
            #expect(last.headers[.eTag] == "\"58\"")
            let values = last.json["values"]
            #expect(values?["birth_date"]?.string?.hasPrefix("197") == true)
            #expect(values?["display_name"]?.string?.hasPrefix("Kim ") == true)
            #expect(values?["marketing"]?["accepted"] != nil)
        }
    }

    @Test func `a full hashing queue refuses requests immediately, and queued requests are served`() async throws {
        let parameters = Argon2Parameters(memoryKiB: 7168, iterations: 5)
        let gate = DispatchSemaphore(value: 0)
        let pool = try HashingPool(parameters: parameters, workers: 1, queue: 1) {
            password,
            pepper,
            arena throws(Argon2Error) in
            gate.wait()
            return try Argon2.hash(password.secret, with: parameters, pepper: pepper, in: arena)
        }
        try await TestServer.with(hashing: pool) { site in
            // The requests to one draft are serialised, so the test needs three drafts.
            let people = [site.visitor(.bearer), site.visitor(.bearer), site.visitor(.bearer)]
            for (number, person) in people.enumerated() {
                try await person.start()
                try await person.fill(through: "code", email: "person\(number)@example.com")
            }
            let body: JSON = ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
            async let running = people[0].put("password", body)
            while pool.running < 1 { await Task.yield() }
            async let waiting = people[1].put("password", body)
            while pool.waiting < 1 { await Task.yield() }
            let refused = try await people[2].put("password", body)
            #expect(refused.status == 503)
            #expect(refused.slug == "busy")
            #expect(refused.headers[.retryAfter] != nil)
            #expect(
                try await people[2].send(.get, "/signup").status == 200,
                "a step that needs no hash is served meanwhile"
            )
            gate.signal()
            gate.signal()
            #expect(try await running.status == 200)
            #expect(try await waiting.status == 200)
        }
    }

    @Test func `one of eight concurrent requests for a new code is accepted`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.put("email", ["email": "kim@example.com"])
            try DatabaseSession().letPass("1 minute")
            let responses = try await withThrowingTaskGroup(of: Response.self) { group in
                for _ in 0..<8 { group.addTask { try await kim.send(.post, "/signup/code/resend") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(responses.count { $0.status == 202 } == 1)
            #expect(responses.count { $0.status == 429 } == 7)
        }
    }
}
