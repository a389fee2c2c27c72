internal import Foundation

@testable import Accounts

/// Measures how many events one server delivers in a minute, how many while another application is down, and the costs
/// of such an application. The costs are measured for `DOWN_SECONDS` (180 by default) for each way to be down.
enum EventDelivery {
    private static let rounds = 3
    /// The number of accounts for each application. All have the same number of events, so the numbers of events below
    /// are multiples of this number.
    private static let accounts = 2000

    static func measure() throws {
        try measureRate()
        try measureFairness()
        try measureCost()
    }

    /// Events that wait for delivery to an application.
    private struct Waiting {
        let application: String
        let sink: WebhookSink
        let count: Int
    }

    private static func measureRate() throws {
        let count = 10_000
        let rates = try (0..<rounds).map { _ in
            let shop = Waiting(application: "shop", sink: try WebhookSink(.answers), count: count)
            return try delivering([shop]) { _ in try shop.sink.rate(of: count) }
        }
        var report = Report()
        report.add(Goal("\(count) events of \(accounts) accounts: delivered a minute", atLeast: 10_000, rates))
    }

    private static func measureFairness() throws {
        let count = 6000
        let others: [WebhookSink.Behavior?] = [nil, .refusesConnections, .isSilent]
        var rates = [[Double]](repeating: [], count: others.count)
        for _ in 0..<rounds {
            for (index, other) in others.enumerated() {
                var waiting = [Waiting(application: "up", sink: try WebhookSink(.answers), count: count)]
                if let other {
                    waiting.append(Waiting(application: "down", sink: try WebhookSink(other), count: 50_000))
                }
                rates[index].append(try delivering(waiting) { _ in try waiting[0].sink.rate(of: count) })
            }
        }
        var table = Table("beside an application that", "events a minute", "÷ alone")
        let alone = rates[0]
        for (other, rates) in zip(others, rates) {
            table.append(
                other?.name ?? "– (alone)",
                String(format: "%.0f", rates.median),
                String(format: "%.2f", zip(rates, alone).map { $0 / $1 }.median)
            )
        }
        table.print(under: "Delivery of \(count) events, while 50000 wait for another application; \(rounds) rounds")
    }

    private static func measureCost() throws {
        let seconds = seconds("DOWN_SECONDS", 180)
        var table = costs
        let designs: [(count: Int, behavior: WebhookSink.Behavior, seconds: Int)] = [
            (0, .refusesConnections, min(seconds, 60)), (100_000, .refusesConnections, seconds),
            (100_000, .isSilent, seconds),
        ]
        for design in designs {
            let down = Waiting(application: "down", sink: try WebhookSink(design.behavior), count: design.count)
            try delivering([down]) { service in
                try sample(service, for: design.seconds, every: 30, into: &table, design.count, design.behavior.name)
            }
        }
        table.print(under: "The costs of events that cannot be delivered")
    }

    /// Measures the memory of a server while two applications are down for `OUTAGE_SECONDS` (an hour by default), with
    /// 100,000 events waiting for each. One application refuses connections, and the other never answers.
    static func measureOutage() throws {
        let seconds = seconds("OUTAGE_SECONDS", 3600)
        let behaviors: [WebhookSink.Behavior] = [.refusesConnections, .isSilent]
        let waiting = try behaviors.enumerated().map { index, behavior in
            Waiting(application: "down\(index)", sink: try WebhookSink(behavior), count: 100_000)
        }
        var table = costs
        try delivering(waiting) { service in
            let names = behaviors.map(\.name).joined(separator: "; ")
            try sample(service, for: seconds, every: max(1, seconds / 12), into: &table, 200_000, names)
        }
        table.print(under: "An outage of two applications")
    }

    private static func seconds(_ variable: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? usual
    }

    private static var costs: Table {
        Table(
            "waiting events",
            "the application",
            "after s",
            "MiB",
            "failed attempts",
            "transactions a second",
            "server ms a second",
            "database ms a second"
        )
    }

    /// Appends a row to the table every `interval` seconds.
    private static func sample(
        _ service: Service,
        for seconds: Int,
        every interval: Int,
        into table: inout Table,
        _ count: Int,
        _ name: String
    ) throws {
        var before = try Sample(of: service)
        for time in stride(from: 0, through: seconds, by: interval) {
            if time > 0 { Thread.sleep(forTimeInterval: TimeInterval(interval)) }
            let sample = try Sample(of: service)
            let rates = sample.rates(since: before)
            table.append(
                "\(count)",
                name,
                "\(time)",
                String(format: "%.1f", sample.memory),
                "\(sample.attempts)",
                time == 0 ? "–" : String(format: "%.1f", rates.transactions),
                time == 0 ? "–" : String(format: "%.1f", rates.server),
                time == 0 ? "–" : String(format: "%.1f", rates.database)
            )
            before = sample
        }
    }

    private struct Sample {
        let time = ContinuousClock.now
        /// The memory of the server in MiB.
        let memory: Double
        let attempts, transactions: Int
        let processor: ProcessorTime

        init(of service: Service) throws {
            memory = service.memory.now
            (attempts, transactions) = try service.database.query(
                """
                SELECT (SELECT coalesce(sum(failures), 0) FROM applications)::bigint, xact_commit + xact_rollback
                  FROM pg_stat_database WHERE datname = current_database()
                """
            ).only.decode(Int.self, Int.self)
            processor = try ProcessorTime(of: service, postmaster: Service.postmaster(of: service.database))
        }

        /// The rates since the other sample: transactions a second, and milliseconds of processor time a second.
        func rates(since before: Sample) -> (transactions: Double, server: Double, database: Double) {
            let seconds = (time - before.time) / .seconds(1)
            let spent = (processor - before.processor) / seconds
            return (
                Double(transactions - before.transactions) / seconds, spent.server / .milliseconds(1),
                spent.database / .milliseconds(1)
            )
        }
    }

    // MARK: The server

    /// Runs a server on a new database with these waiting events while the body runs.
    private static func delivering<Result>(_ waiting: [Waiting], _ body: (Service) throws -> Result) throws -> Result {
        let conninfo = try Population.database("events")
        let database = try Connection(to: conninfo)
        for waiting in waiting { try database.run(insertion(of: waiting)) }
        try database.run("VACUUM ANALYZE")
        try database.run("CHECKPOINT")
        let applications = try ApplicationsFolder(
            Dictionary(uniqueKeysWithValues: waiting.map { ($0.application, $0.sink.url) })
        )
        defer { applications.remove() }
        let service = try Service(["APPLICATIONS_FILE": applications.file], on: conninfo)
        defer { withExtendedLifetime(service) {} }
        return try body(service)
    }

    /// SQL that inserts accounts and their events. Between two events of an account are events of all other accounts.
    private static func insertion(of waiting: Waiting) -> String {
        """
        WITH account AS (
            INSERT INTO accounts (id, email, profile, locale, flow)
            SELECT gen_random_uuid(), '\(waiting.application)' || number || '@example.com', '{}', 'en', 'default@1'
              FROM generate_series(1, \(accounts)) AS number RETURNING id
        ), event AS (
            INSERT INTO events (id, account, sequence, type)
            SELECT (left(draft_id_floor(now())::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
                   id, number, 'account.updated'
              FROM generate_series(1, \(waiting.count / accounts)) AS number, account RETURNING id, account, sequence
        )
        INSERT INTO deliveries (event, application, account, sequence, due_at)
        SELECT id, '\(waiting.application)', account, sequence,
               now() - interval '1 hour' + sequence * interval '1 second'
          FROM event
        """
    }
}

extension WebhookSink.Behavior {
    fileprivate var name: String {
        switch self {
        case .answers: "answers"
        case .refusesConnections: "refuses connections"
        case .isSilent: "never answers"
        }
    }
}
