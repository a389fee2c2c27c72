import Accounts
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import accounts_api

@Suite("Killed processes", .timeLimit(.minutes(30)))
struct CrashTests {
    /// A hundred people sign up at once, while the server and backends of PostgreSQL are killed. A client without a
    /// response repeats its request. Afterwards the invariants of the storage hold.
    @Test func `kills lose no acknowledged step and create no account twice`() async throws {
        try await Cluster.withRunning { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            let server = try await RestartedServer(on: cluster)
            let people = (0..<100).map { SignupClient("person\($0)@example.com", mails: server.mails) }
            let accounts = try await withThrowingTaskGroup(of: String.self) { group in
                group.addTask {
                    try await server.killRepeatedly()
                    return ""
                }
                for person in people { group.addTask { try await Self.signUp(person, on: server) } }
                return try await group.reduce(into: [String]()) { if !$1.isEmpty { $0.append($1) } }
            }
            #expect(server.kills.server >= 3)
            #expect(server.kills.backends >= 2)
            #expect(Set(accounts).count == 100, "each acknowledged commit has its own account")
            try await server.end()
            try Self.checkInvariants(on: cluster, accounts: accounts)
        }
    }

    /// Signs one person up. Returns the id of the account.
    private static func signUp(_ person: SignupClient, on server: RestartedServer) async throws -> String {
        try await server.retry { try await person.begin(at: $0) }
        for step in ["email", "code", "password", "profile", "contact", "terms"] {
            try await server.retry { port in
                // The steps that were acknowledged are still there.
                let draft = try await person.draft(at: port)
                guard draft["id"] != nil else { throw SignupClient.Refused(status: 503, description: "no draft") }
                for acknowledged in person.acknowledgedSteps {
                    #expect(
                        draft["steps"]?.state(of: acknowledged) == "complete",
                        "\(person.email) lost \(acknowledged)"
                    )
                }
                try await person.step(step, at: port)
            }
            server.countAcknowledgement()
        }
        var account: String?
        // The loop runs twice, so each commit is repeated at least once.
        for _ in 0..<2 {
            try await server.retry { port in
                let response = try await person.commit(at: port)
                guard response.status == 200 || response.status == 201, let id = response.json["account"]?["id"]?.string
                else {
                    throw SignupClient.Refused(status: response.status, description: "commit: \(response.body)")
                }
                #expect(account == nil || account == id, "\(person.email) has two accounts")
                account = id
            }
            server.countAcknowledgement()
        }
        return try #require(account)
    }

    private static func checkInvariants(on cluster: Cluster, accounts: [String]) throws {
        let session = try DatabaseSession(to: cluster.conninfo)
        func count(_ sql: SQL) throws -> Int { try session.query(sql).only.decode(Int.self) }
        #expect(try count("SELECT count(*) FROM accounts") == 100)
        #expect(try count("SELECT count(DISTINCT email) FROM accounts WHERE email_proved_at IS NOT NULL") == 100)
        #expect(try count("SELECT count(*) FROM identifiers") == 200)
        #expect(
            try count("SELECT count(*) FROM credentials WHERE secret LIKE '$argon2id$v=19$m=7168,t=5,p=1,keyid=%'")
                == 100
        )
        #expect(try count("SELECT count(*) FROM consents WHERE accepted") == 100)
        #expect(try count("SELECT count(*) FROM drafts WHERE account_id IS NOT NULL AND sealed = ''") == 100)
        #expect(
            try count(
                "SELECT count(*) FROM accounts WHERE id NOT IN (SELECT account_id FROM drafts WHERE account_id IS NOT NULL)"
            )
                == 0
        )
        // The remaining drafts are those whose token did not reach its client. They have no proofs and no leases.
        #expect(try count("SELECT count(*) FROM proofs") == 0)
        #expect(try count("SELECT count(*) FROM leases") == 0)
        #expect(try count("SELECT count(*) FROM outbox WHERE template = 'account-created'") == 100)
        let known = try session.query("SELECT id::text FROM accounts").map { try $0.decode(String.self) }
        #expect(Set(known) == Set(accounts))
    }
}

/// A server that is killed and started again, on a cluster whose backends are killed too.
private final class RestartedServer: Sendable {
    let mails = Mails()
    private let cluster: Cluster
    private let state: Mutex<State>
    private let progress: AsyncStream<Int>
    private let report: AsyncStream<Int>.Continuation

    private struct State {
        var server: ServerProcess
        var steps = 0
        var kills: (server: Int, backends: Int) = (0, 0)
    }

    init(on cluster: Cluster) async throws {
        self.cluster = cluster
        state = Mutex(State(server: try await ServerProcess.start(database: cluster.conninfo, mails: mails)))
        (progress, report) = AsyncStream.makeStream()
    }

    var kills: (server: Int, backends: Int) { state.withLock { $0.kills } }

    /// Counts one more acknowledged request.
    func countAcknowledgement() {
        let steps = state.withLock { state in
            state.steps += 1
            return state.steps
        }
        report.yield(steps)
        if steps == 800 { report.finish() }
    }

    /// Repeats a request until it is acknowledged, each time on the current port of the server.
    func retry(_ request: (Int) async throws -> Void) async throws {
        var last: (any Error)?
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            try Task.checkCancellation()
            do {
                return try await request(state.withLock { $0.server.port })
            } catch let refusal as SignupClient.Refused where refusal.status != 503 {
                throw refusal
            } catch {
                last = error
                await Task.yield()
            }
        }
        throw last ?? CancellationError()
    }

    /// Kills the server after every 110 steps, and a backend of PostgreSQL halfway between.
    func killRepeatedly() async throws {
        for await steps in progress {
            if steps % 110 == 0 { try await killServer() }
            if steps % 110 == 55, state.withLock({ $0.kills.backends < 4 }) { try await killBackend() }
        }
    }

    private func killServer() async throws {
        let old = state.withLock { $0.server }
        #expect(await old.end(by: SIGKILL) == -SIGKILL)
        let new = try await ServerProcess.start(database: cluster.conninfo, mails: mails)
        state.withLock { state in
            state.server = new
            state.kills.server += 1
        }
    }

    private func killBackend() async throws {
        let select: SQL = """
            SELECT pid FROM pg_stat_activity
             WHERE application_name = 'accounts-api' AND pid <> pg_backend_pid() ORDER BY state, random() LIMIT 1
            """
        guard let pid = try? DatabaseSession(to: cluster.conninfo).query(select).first?.decode(Int.self) else { return }
        // The backend may have ended already, together with the server.
        guard (try? cluster.kill(backend: pid)) != nil else { return }
        state.withLock { $0.kills.backends += 1 }
    }

    func end() async throws {
        #expect(await state.withLock({ $0.server }).end(by: SIGTERM) == 0)
    }
}

extension JSON {
    fileprivate func state(of step: String) -> String? {
        guard case .array(let steps) = self else { return nil }
        return steps.first { $0["name"]?.string == step }?["state"]?.string
    }
}
