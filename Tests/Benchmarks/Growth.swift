internal import Foundation

@testable import Accounts

/// Measures whether commits, sign-ins and checks of a session take longer beside ten million accounts, as many sessions
/// and as many drafts than beside ten thousand. `ACCOUNTS` sets another number than ten
/// million, at least 10,000.
enum Growth {
    private static let password = "a pass phrase of mine"

    static func measure() async throws {
        let largest = ProcessInfo.processInfo.environment["ACCOUNTS"].flatMap(Int.init) ?? 10_000_000
        let hashing = try HashingPool(workers: 1, queue: 1)
        let secret = SharedSecret(Secret(normalising: password))
        let hash = try await hashing.hash(secret, pepper: KeyRing(Population.keys).pepper)
        hashing.shutdown()
        let sites = try [10_000, largest].map { size in try Site(size, password: hash) }
        try Connection(to: Service.conninfo).run("CHECKPOINT")
        let extent = Extent.whole
        var report = Report()
        // The first round only warms the servers up.
        for _ in 0...extent.rounds {
            for site in sites { try site.measure(for: extent.run) }
        }
        for site in sites { site.rounds.removeFirst() }
        var table = Table("what", "rows of each kind", "p50 ms", "p95 ms")
        for (name, times) in [
            ("the commit of a sign-up", \Round.commits), ("a sign-in with the password", \.signIns),
        ] {
            let ratios = zip(sites[1].rounds, sites[0].rounds).map {
                $0[keyPath: times].quantile(0.5) / $1[keyPath: times].quantile(0.5)
            }
            report.add(Goal("p50 of \(name), \(largest) ÷ 10000", atMost: 1.3, ratios))
            for site in sites {
                let all = site.rounds.flatMap { $0[keyPath: times] }
                table.append(
                    name,
                    "\(site.size)",
                    all.quantile(0.5).text(in: .milliseconds(1)),
                    all.quantile(0.95).text(in: .milliseconds(1))
                )
            }
        }
        let ratios = zip(sites[1].rounds, sites[0].rounds).map { $0.checks.p99 / $1.checks.p99 }
        report.add(Goal("p99 of GET /session on 16 connections, \(largest) ÷ 10000", atMost: 1.3, ratios))
        for site in sites {
            let load = site.rounds.map(\.checks).median
            let p99 = "p99: \(load.p99.text(in: .milliseconds(1)))"
            table.append("GET /session on 16 connections", "\(site.size)", load.p50.text(in: .milliseconds(1)), p99)
        }
        report.add(table, under: "Beside many accounts, sessions and drafts, in turns")
        for site in sites { try? FileManager.default.removeItem(at: site.tokens) }
    }

    private struct Round {
        let commits, signIns: [Duration]
        let checks: Load
    }

    /// A server with this number of accounts, of sessions and of drafts.
    private final class Site {
        let size: Int
        /// A file with the tokens of 4096 sessions.
        let tokens: URL
        private let service: Service
        var rounds: [Round] = []

        init(_ size: Int, password: PHCString) throws {
            self.size = size
            let conninfo = try Population.database("growth_\(size)")
            // The server records which keys encrypt the database before there are drafts that no key decrypts.
            service = try Service(on: conninfo)
            let database = try Connection(to: conninfo)
            try Self.insertAccounts(size, password: password, on: database)
            tokens = try Population.file(of: Self.insertSessions(4096, on: database).map(\.text))
            try Population.insertOtherDrafts(size, within: 20, of: "default@1", at: "email", on: database)
            try database.run("VACUUM ANALYZE")
        }

        func measure(for time: Duration) throws {
            // Each round begins with unused limits of mails.
            try service.database.run("DELETE FROM limits")
            let first = Int.random(in: 0..<1_000_000_000)
            let numbers = first..<first + 100
            let commits = try numbers.map { try WholeSignups.signUp($0, with: service.client, at: service) }
            let signIns = try numbers.map { try signIn(Int.random(in: 0..<size), from: $0) }
            let checks = try Wrk(port: service.port, tokens: tokens, kind: .session).run(connections: 16, for: time)
            rounds.append(Round(commits: commits, signIns: signIns, checks: checks))
        }

        /// Returns how long the sign-in took.
        private func signIn(_ account: Int, from network: Int) throws -> Duration {
            let body: JSON = [
                "identifier": .string("registered\(account)@example.com"), "password": .string(password),
                "transport": "bearer",
            ]
            let start = ContinuousClock.now
            let response = try service.client.request(
                "POST",
                "/session",
                body,
                ["X-Forwarded-For": Service.address(network & 0xFF_FFFF)]
            )
            let time = ContinuousClock.now - start
            guard response.status == 201 else { throw Service.Failure(description: response.body) }
            return time
        }

        /// Inserts accounts that share one password, each with a session. Foreign keys are not checked, and triggers do
        /// not run.
        private static func insertAccounts(
            _ count: Int,
            password: PHCString,
            on database: borrowing Connection
        ) throws {
            try database.run("SET session_replication_role = replica")
            _ = try database.query(
                """
                INSERT INTO accounts (id, email, profile, locale, flow)
                SELECT \(SQL(stringLiteral: Population.id)), 'registered' || number || '@example.com', '{}', 'en',
                       'default@1'
                  FROM generate_series(0, \(count - 1)) AS number,
                       LATERAL (SELECT now() - number * interval '0.1 s' AS begun) AS time
                """
            )
            try database.run("INSERT INTO identifiers (kind, value, account) SELECT 'email', email, id FROM accounts")
            _ = try database.query(
                """
                INSERT INTO credentials (account, kind, secret)
                SELECT id, 'password', \(password.rawValue) FROM accounts
                """
            )
            try database.run(
                """
                INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
                SELECT gen_random_uuid(), id, sha256(id::text::bytea), 1, 'pwd', true, '14 days',
                       now() + interval '30 days', decode(repeat(md5(id::text), 6), 'hex')
                  FROM accounts
                """
            )
            try database.run("RESET session_replication_role")
        }

        /// Inserts sessions of different accounts, and returns their tokens.
        private static func insertSessions(
            _ count: Int,
            on database: borrowing Connection
        ) throws -> [Token<AccountSession>] {
            try (0..<count).map { number in
                let token = Token(for: ID<AccountSession>())
                _ = try database.query(
                    """
                    INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
                    SELECT \(token.id), account, \(token.hash), 1, 'pwd', true, '14 days', now() + interval '30 days', ''
                      FROM identifiers WHERE kind = 'email' AND value = \("registered\(number)@example.com")
                    """
                )
                return token
            }
        }
    }
}

extension [Duration] {
    /// The duration that this share of the durations does not exceed.
    fileprivate func quantile(_ share: Double) -> Duration { sorted()[Int(Double(count - 1) * share)] }
}
