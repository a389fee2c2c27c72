internal import Foundation
internal import Logging

@testable import Accounts

/// Measures sign-ins inside this process: guesses of many strangers, the time of failures with and without an account,
/// checks of a session in tables of several sizes, the erasure of expired sessions, and sign-ins compared with the raw
/// hash rate.
enum SignIns {
    private static let password = "a pass phrase of mine"

    static func measure() async throws {
        let conninfo = try Service.conninfo
        _ = try Migrations().apply(to: conninfo)
        let administrator = try Connection(to: conninfo)
        let logger = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        let database = Database(conninfo, connections: 8, logger: logger)
        let hashing = try HashingPool(workers: 2, queue: 512)
        var flow = try Flow.standard()
        let lavish = Limit(1_000_000_000, per: .seconds(60))
        for name in Limits.Name.allCases where name.rawValue.hasPrefix("password") { flow.limits.byName[name] = lavish }
        let keys = try KeyRing(Population.keys)
        let signups = Signups(
            flow: flow,
            serviceName: "Acme",
            database: database,
            keys: keys,
            hashing: hashing,
            images: .none,
            outbox: Outbox(keys: keys)
        )
        let sessions = Sessions(signups: signups, failureTime: .zero)
        let hash = try await hashing.hash(secret(password), pepper: keys.pepper)
        try fill(administrator, accounts: 2000, hash)
        try await measureTimes(sessions)
        try await measureRate(sessions, hashing)
        try await measureGuesses(sessions, administrator)
        try await measureChecks(sessions, administrator)
        try await measureErasure(signups, administrator, logger)
        await database.shutdown()
        hashing.shutdown()
    }

    private static func secret(_ text: String) -> SharedSecret { SharedSecret(Secret(normalising: text)) }

    private static func network(_ number: Int) -> Network {
        Network(IPAddress("10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)")!)
    }

    private static func fill(_ database: borrowing Connection, accounts: Int, _ hash: PHCString) throws {
        try database.run("TRUNCATE accounts, sessions, sign_ins, sign_in_failures, limits, outbox, tickets CASCADE")
        _ = try database.query(
            """
            WITH account AS (
                INSERT INTO accounts (id, email, profile, locale, flow)
                SELECT gen_random_uuid(), 'registered' || number || '@example.com', '{}', 'en', 'default@1'
                  FROM generate_series(0, \(accounts - 1)) AS number RETURNING id, email
            ), identifier AS (
                INSERT INTO identifiers (kind, value, account) SELECT 'email', email, id FROM account
            )
            INSERT INTO credentials (account, kind, secret) SELECT id, 'password', \(hash.rawValue) FROM account
            """
        )
        try database.run("VACUUM ANALYZE")
    }

    // MARK: Enumeration

    private static let rounds = 1000

    /// Measures failures with and without an account, without the minimum time of failures, which would hide any
    /// difference.
    private static func measureTimes(_ sessions: Sessions) async throws {
        var times: [[Duration]] = [[], []]
        var codes: [[Duration]] = [[], []]
        var chance = SeededChance(seed: 1)
        for round in 0..<rounds {
            for kind in [0, 1].shuffled(using: &chance) {
                let name = "\(["new", "registered"][kind])\(round)@example.com"
                let stranger = sessions.from(network(round * 2 + kind), SessionClient(browser: nil, device: nil))
                let start = ContinuousClock.now
                _ = try? await stranger.signIn(as: SignInIdentifier(name), with: secret("not the pass phrase"))
                times[kind].append(ContinuousClock.now - start)
                let second = ContinuousClock.now
                _ = try await stranger.mailCode(to: SignInIdentifier(name), in: .english)
                codes[kind].append(ContinuousClock.now - second)
            }
        }
        var table = Table("request", "median ms without account", "with account", "difference", "KS p")
        for (name, times) in [("wrong password", times), ("mailed code", codes)] {
            let (new, registered) = (times[0].sorted(), times[1].sorted())
            table.append(
                name,
                new[rounds / 2].text(in: .milliseconds(1)),
                registered[rounds / 2].text(in: .milliseconds(1)),
                String(format: "%+.3f  ", (registered[rounds / 2] - new[rounds / 2]) / .milliseconds(1)),
                String(format: "%.3f  ", Enumeration.pValue(new, registered))
            )
        }
        table.print(under: "Requests for addresses with and without an account; \(rounds) each, no minimum time")
    }

    // MARK: Rates

    /// Runs the act repeatedly in this number of tasks for the given time. Returns the number of acts a second.
    private static func rate(
        _ tasks: Int,
        for time: Duration = .seconds(10),
        _ act: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let (start, end) = (ContinuousClock.now, ContinuousClock.now + time)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now < end {
                        try await act(task + count * tasks)
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private static func measureRate(_ sessions: Sessions, _ hashing: HashingPool) async throws {
        let pepper = sessions.keys.pepper
        let hashes = try await rate(8) { _ in _ = try await hashing.hash(secret(password), pepper: pepper) }
        let signIns = try await rate(8) { number in
            let person = sessions.from(network(number), SessionClient(browser: "benchmark", device: nil))
            let name = "registered\(number % 2000)@example.com"
            _ = try await person.signIn(as: SignInIdentifier(name), with: secret(password))
        }
        var table = Table("what", "a second", "÷ raw hashes")
        table.append("raw hashes", String(format: "%.1f", hashes), "1.00")
        table.append("sign-ins", String(format: "%.1f", signIns), String(format: "%.2f", signIns / hashes))
        table.print(under: "Sign-ins on two hashing threads, eight at a time; goal 0.85")
    }

    // MARK: Guesses

    private static func measureGuesses(_ sessions: Sessions, _ database: borrowing Connection) async throws {
        try database.run("TRUNCATE sign_in_failures, limits, sessions, devices CASCADE")
        let owner = DeviceToken()
        let identifier = SignInIdentifier("registered0@example.com")
        let known = sessions.from(network(1), SessionClient(browser: nil, device: owner))
        _ = try await known.signIn(as: identifier, with: secret(password))
        let (guesses, networks, tasks) = (100_000, 10_000, 16)
        let start = ContinuousClock.now
        let evaluated = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var evaluated = 0
                    for number in stride(from: task, to: guesses, by: tasks) {
                        let stranger = sessions.from(
                            network(1_000_000 + number % networks),
                            SessionClient(browser: nil, device: nil)
                        )
                        do throws(SignInError) {
                            _ = try await stranger.signIn(as: identifier, with: secret("guess \(number) of a stranger"))
                        } catch {
                            switch error {
                            case .failed: evaluated += 1
                            case .codeRequired: break
                            default: throw error
                            }
                        }
                    }
                    return evaluated
                }
            }
            return try await group.reduce(0, +)
        }
        let took = ContinuousClock.now - start
        let second = ContinuousClock.now
        _ = try await known.signIn(as: identifier, with: secret(password))
        let ownerTook = ContinuousClock.now - second
        var table = Table("guesses", "networks", "evaluated", "seconds", "the owner on a known device, ms")
        table.append(
            "\(guesses)",
            "\(networks)  ",
            "\(evaluated)  ",
            String(format: "%.0f  ", took / .seconds(1)),
            ownerTook.text(in: .milliseconds(1))
        )
        table.print(under: "Guesses at the password of one account; at most 50 may be evaluated")
    }

    /// Inserts sessions of one account. Foreign keys are not checked, and triggers do not run.
    private static func insert(_ number: Int, endingIn lifetime: String, _ database: borrowing Connection) throws {
        try database.run("SET session_replication_role = replica")
        _ = try database.query(
            """
            INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
            SELECT gen_random_uuid(), account, sha256(gen_random_uuid()::text::bytea), 1, 'pwd', true, '14 days',
                   now() + \(lifetime)::interval, decode(repeat(md5(number::text), 6), 'hex')
              FROM generate_series(1, \(number)) AS number, (SELECT id AS account FROM accounts LIMIT 1) AS one
            """
        )
        try database.run("RESET session_replication_role")
    }

    // MARK: Expired sessions

    /// Measures how many expired sessions the reaper erases in a second, with triggers, while others stay in the table.
    private static func measureErasure(
        _ signups: Signups,
        _ database: borrowing Connection,
        _ logger: Logger
    ) async throws {
        let expired = 1_000_000
        let left = try database.query("SELECT count(*) FROM sessions").only.decode(Int.self)
        try insert(expired, endingIn: "-1 minute", database)
        try database.run("VACUUM ANALYZE sessions")
        let start = ContinuousClock.now
        let erased = try await Reaper(signups: signups, logger: logger).sweep().rows
        let took = (ContinuousClock.now - start) / .seconds(1)
        let rest = try database.query("SELECT count(*) FROM sessions").only.decode(Int.self)
        guard erased >= expired, rest == left else {
            throw Service.Failure(description: "\(rest) sessions are left, not \(left)")
        }
        var table = Table("expired", "not expired", "seconds", "erased a second")
        table.append(
            "\(expired)",
            "\(left)  ",
            String(format: "%.0f  ", took),
            String(format: "%.0f  ", Double(expired) / took)
        )
        table.print(under: "Erasing expired sessions")
    }

    // MARK: Checks of a session

    private static func measureChecks(_ sessions: Sessions, _ database: borrowing Connection) async throws {
        var table = Table("sessions in the table", "checks a second", "one alone, ms")
        var existing = 0
        for size in [10_000, 1_000_000, 10_000_000] {
            if let largest = ProcessInfo.processInfo.environment["SESSIONS"].flatMap(Int.init), size > largest { break }
            try insert(size - existing, endingIn: "30 days", database)
            existing = size
            let tokens = (0..<64).map { _ in Token(for: ID<AccountSession>()) }
            for token in tokens {
                _ = try database.query(
                    """
                    INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
                    SELECT \(token.id), id, \(token.hash), 1, 'pwd', true, '14 days', now() + interval '30 days', ''
                      FROM accounts LIMIT 1
                    """
                )
            }
            try database.run("VACUUM ANALYZE sessions")
            let many = try await rate(64) { number in _ = try await sessions.find(tokens[number % 64]) }
            let alone = try await rate(1, for: .seconds(3)) { number in _ = try await sessions.find(tokens[number % 64])
            }
            table.append("\(size)", String(format: "%.0f  ", many), String(format: "%.3f  ", 1000 / alone))
        }
        table.print(under: "Checks of a session, 64 at a time")
    }
}
