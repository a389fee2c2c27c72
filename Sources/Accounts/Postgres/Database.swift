package import Foundation
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// PostgreSQL as the acts see it: statements go in, rows come out, and a lost connection heals by itself.
///
/// Two kinds of traffic never wait for each other. Statements that write one row, or only read, are *grouped*: all
/// that wait at one moment share a transaction. Whatever may violate a constraint, or is more than one statement, goes
/// *alone*, on connections of its own.
package final class Database: Sendable {
    private let grouped: LaneQueue
    private let alone: LaneQueue
    private let threads: [DedicatedThread]
    private let isShutDown = Mutex(false)

    /// Opens the lanes at once, without waiting for them to connect.
    ///
    /// - Parameters:
    ///   - conninfo: a libpq connection string or URI.
    ///   - connections: at least two; half of them, but four at most, serve the groups, the others what goes alone.
    ///   - queue: how many statements of either kind may wait; one more is `unavailable`.
    package convenience init(
        _ conninfo: String,
        connections: Int = 5,
        queue: Int = 4096,
        metrics: Metrics = Metrics(),
        logger: Logger
    ) {
        precondition(connections >= 2, "grouped and lone statements need a connection each")
        let lanes = min(connections / 2, 4)
        let grouped = LaneQueue(capacity: queue, lanes: lanes)
        let alone = LaneQueue(capacity: queue, lanes: connections - lanes, groupLimit: 1)
        let threads = (0..<connections).map { index in
            let kind = index < lanes ? "grouped" : "alone"
            let lane = Lane(
                conninfo: conninfo,
                kind: kind,
                queue: index < lanes ? grouped : alone,
                metrics: metrics,
                logger: logger
            )
            return DedicatedThread(named: "lane-\(kind)-\(index)") { lane.run() }
        }
        self.init(grouped: grouped, alone: alone, threads: threads)
    }

    /// - Parameter threads: those that serve the two queues until they stop.
    init(grouped: LaneQueue, alone: LaneQueue, threads: [DedicatedThread]) {
        (self.grouped, self.alone, self.threads) = (grouped, alone, threads)
    }

    /// One statement that only reads. It is repeated where the connection was lost under it, once for each that there is:
    /// where PostgreSQL ends, all of them are lost, and not all at once.
    package func read(_ sql: SQL) async throws(DatabaseError) -> Rows {
        for _ in 0..<max(1, grouped.load.lanes) {
            do throws(DatabaseError) {
                return try await outcome(of: Job([sql]), on: grouped)[0]
            } catch .outcomeUnknown {
                continue
            }
        }
        return try await outcome(of: Job([sql]), on: grouped)[0]
    }

    /// One statement that writes the one row named, and can violate nothing. Another to the same row may overtake it, so the
    /// rule is in its WHERE.
    package func write(_ sql: SQL, to row: UUID) async throws(DatabaseError) -> Rows {
        try await outcome(of: Job([sql], writes: row), on: grouped)[0]
    }

    /// One transaction in one round trip. Returns the rows of each statement.
    package func transaction(_ statements: SQL...) async throws(DatabaseError) -> [Rows] {
        try await transaction(statements)
    }

    /// One transaction in one round trip. Returns the rows of each statement.
    package func transaction(_ statements: [SQL]) async throws(DatabaseError) -> [Rows] {
        try await outcome(of: Job(statements), on: alone)
    }

    /// Whether both kinds of traffic have a connection, and PostgreSQL answers on it. What goes alone may have to wait for
    /// others, so nothing is sent there: a busy server is ready.
    package var isUp: Bool {
        get async {
            guard alone.load.lanes > 0 else { return false }
            return (try? await read("SELECT 1")) != nil
        }
    }

    /// The settings of the server by which what people type may get into its log: values travel in parameters, and it
    /// writes those with the statements that it logs unless it is told not to. Only its superuser can tell it.
    package func settingsThatLogValues() async throws(DatabaseError) -> [String] {
        let rows = try await read(
            """
            SELECT name FROM pg_settings
             WHERE name = 'log_parameter_max_length_on_error' AND setting <> '0'
                OR name = 'log_parameter_max_length' AND setting <> '0'
                   AND (current_setting('log_statement') IN ('mod', 'all')
                        OR current_setting('log_min_duration_statement') <> '-1'
                        OR current_setting('log_min_duration_sample') <> '-1'
                        OR current_setting('log_transaction_sample_rate') <> '0')
             ORDER BY name
            """
        )
        var names: [String] = []
        for row in rows { names.append(try row.decode(String.self)) }
        return names
    }

    var families: [Family] {
        let loads = [("alone", alone.load), ("grouped", grouped.load)]
        return [
            .gauge(
                "accounts_lane_queue_depth",
                "Statements that wait for a connection.",
                by: "lane",
                loads.map { ($0, Double($1.jobs)) }
            ),
            .gauge(
                "accounts_lanes_up",
                "Connections to PostgreSQL that are up, or tried for the first time.",
                by: "lane",
                loads.map { ($0, Double($1.lanes)) }
            ),
        ]
    }

    private func outcome(of job: Job, on queue: LaneQueue) async throws(DatabaseError) -> [Rows] {
        queue.submit(job)
        return try await job.outcome().get()
    }

    /// Refuses what waits, lets what is on its way finish, and closes the connections.
    package func shutdown() async {
        let isFirst = isShutDown.withLock { isShutDown in
            defer { isShutDown = true }
            return !isShutDown
        }
        guard isFirst else { return }
        grouped.stop()
        alone.stop()
        var waiter: DedicatedThread?
        await withCheckedContinuation { finished in
            let threads = threads
            waiter = DedicatedThread(named: "lane-end") {
                for thread in threads { thread.join() }
                finished.resume()
            }
        }
        waiter?.join()
    }
}

extension Database: Service {
    package func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }
}
