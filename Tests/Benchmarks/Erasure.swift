internal import Foundation
internal import Synchronization

@testable import Accounts

/// Measures how much the erasure of expired drafts slows steps down: the times of steps before, during and after it.
/// The server erases `DRAFTS` drafts (ten million by default), or as many as it can in `MINUTES`.
enum Erasure {
    /// The maximum ratio of the p99 of steps to their p99 before the erasure.
    private static let target = 1.3
    /// The duration of the measurements before and after, in seconds. It is long enough to contain a checkpoint of
    /// PostgreSQL, because there are checkpoints during the erasure, too.
    private static let phase = 300.0

    private static let flow = """
        flow: erasure
        version: 1
        steps:
          - name: profile
            title: {en: Profile}
            fields:
              - {name: introduction, kind: text, max: 400, label: {en: Introduction}}

        """

    static func measure() throws {
        let number = ProcessInfo.processInfo.environment["DRAFTS"].flatMap { Int($0) } ?? 10_000_000
        let file = FileManager.default.temporaryDirectory.appending(path: "erasure-\(UUID()).yaml")
        try Data(flow.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let service = try Service(["FLOW_FILE": file.path, "LOG_LEVEL": "notice"])

        let before = try SteadySteps(on: service).run { Thread.sleep(forTimeInterval: phase) }
        try fill(service.database, number)
        try wait(for: erasing, on: service.database)
        let start = ContinuousClock.now
        let end = ProcessInfo.processInfo.environment["MINUTES"].flatMap { Double($0) }.map {
            start + .seconds($0 * 60)
        }
        let during = try SteadySteps(on: service).run {
            try wait(for: "NOT EXISTS (\(expired))", until: end, on: service.database)
        }
        let time = ContinuousClock.now - start
        let left = try service.database.query(SQL(stringLiteral: "SELECT count(*) FROM (\(expired)) AS expired")).only
            .decode(Int.self)
        let after = try SteadySteps(on: service).run { Thread.sleep(forTimeInterval: phase) }

        var table = Table("\(SteadySteps.rate) steps a second", "steps", "p50 ms", "p99 ms", "p99 ÷ before")
        for (name, times) in [("before", before), ("during", during), ("after", after)] {
            let ratio = times.p99 / before.p99
            table.append(
                name,
                "\(times.count)  ",
                times.p50.text(in: .milliseconds(1)),
                times.p99.text(in: .milliseconds(1)),
                String(format: "%.2f", ratio) + (ratio > target ? " !" : "  ")
            )
        }
        table.print(under: "Erasing \(number - left) of \(number) drafts, which took \(Int(time / .seconds(1))) s")
    }

    private static let erasing = """
        (SELECT sum(n_tup_del) > 0 FROM pg_stat_user_tables WHERE relname ~ '^drafts_[0-9]')
        """
    private static let expired = "SELECT FROM drafts WHERE id < draft_id_floor(now() - interval '1 day')"

    /// Inserts drafts that began two to six days ago, as large as those of an unfinished sign-up.
    private static func fill(_ database: borrowing Connection, _ number: Int) throws {
        // The server erases nothing while this session holds the lock.
        try database.run("SELECT pg_advisory_lock('drafts'::regclass::oid::int, 1)")
        for day in 2...6 {
            try database.run("SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date - \(day))")
            try database.run(
                """
                INSERT INTO drafts (id, token_hash, created_at, ends_at, updated_at, locale, flow, step, sealed)
                SELECT \(Population.id),
                       sha256((number + \(day * number))::text::bytea), begun, begun + interval '7 days', begun, 'en',
                       'erasure@1', 'profile', decode(repeat(md5(number::text), 12), 'hex')
                  FROM generate_series(1, \(number / 5)) AS number,
                       LATERAL (SELECT (now() AT TIME ZONE 'UTC')::date::timestamp AT TIME ZONE 'UTC'
                                       - interval '\(day) days' + number * interval '1 day' / \(number / 5 + 1) AS begun)
                       AS time
                """
            )
        }
        try database.run("VACUUM ANALYZE drafts")
        try database.run("CHECKPOINT")
        try database.run("SELECT pg_advisory_unlock_all()")
    }

    private static func wait(
        for condition: String,
        until end: ContinuousClock.Instant? = nil,
        on database: borrowing Connection
    ) throws {
        while end.map({ $0 > .now }) ?? true,
            try !database.query(SQL(stringLiteral: "SELECT \(condition)")).only.decode(Bool.self)
        {
            Thread.sleep(forTimeInterval: 1)
        }
    }
}

/// Submits steps at a steady rate, far below the maximum of the machine, so that no request waits in a queue.
private final class SteadySteps: Sendable {
    static let rate = 200
    private static let clients = 8

    private let service: Service
    private let isStopped = Atomic(false)
    private let times = Mutex<[Duration]>([])
    private let failure = Mutex<(any Error)?>(nil)

    init(on service: Service) {
        self.service = service
    }

    /// Submits steps while the body runs. Returns the times from the planned start of each step to its response.
    func run(while body: () throws -> Void) throws -> Times {
        let threads = try (0..<Self.clients).map { number in
            // Each client needs many drafts, because each draft has a maximum number of revisions.
            let tokens = try (0..<400).map { try service.start(number * 1000 + $0 + Int.random(in: 0..<200) * 10_000) }
            return DedicatedThread(named: "client-\(number)") { self.submit(tokens) }
        }
        let outcome = Result { try body() }
        isStopped.store(true, ordering: .relaxed)
        for thread in threads { thread.join() }
        try outcome.get()
        if let failure = failure.withLock({ $0 }) { throw failure }
        return Times(times.withLock { $0 })
    }

    private func submit(_ tokens: [String]) {
        let client = Client(port: service.port)
        let pause = Duration.seconds(1) * Self.clients / Self.rate
        var due = ContinuousClock.now
        var number = 0
        while !isStopped.load(ordering: .relaxed) {
            due += pause
            let left = due - .now
            if left > .zero { Thread.sleep(forTimeInterval: left / .seconds(1)) }
            number += 1
            do {
                let response = try client.request(
                    "PUT",
                    "/signup/profile",
                    ["introduction": .string("\(String(repeating: "a word and ", count: 20))\(number)")],
                    ["Authorization": "Bearer \(tokens[number % tokens.count])"]
                )
                guard response.status == 200 else { throw Service.Failure(description: response.body) }
                times.withLock { $0.append(.now - due) }
            } catch {
                return failure.withLock { $0 = error }
            }
        }
    }
}

private struct Times {
    private let sorted: [Duration]

    init(_ times: [Duration]) {
        sorted = times.sorted()
    }

    var count: Int { sorted.count }
    var p50: Duration { sorted[count / 2] }
    var p99: Duration { sorted[count * 99 / 100] }
}
