package import Foundation
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Runs statements on PostgreSQL, over a fixed number of connections. Restores connections that are lost.
///
/// There are two kinds of jobs, which use different connections, so that they do not wait for each other. Statements
/// that write one row, or only read, are *grouped*: those that wait at the same time share a transaction. Statements
/// that may violate a constraint, and transactions of several statements, run *alone*.
///
/// A job that has waited for a lock for 200 ms in a group, or for 100 ms alone, runs once more, alone, and may then
/// wait for 5 s. If several connections for jobs that run alone are up, all but one may run repeated jobs. Further
/// repeated jobs wait until one of these has ended, at most until their own deadline.
package final class Database: Sendable {
    private let grouped: LaneQueue
    private let alone: LaneQueue
    private let threads: [DedicatedThread]
    private let watch = DeadlineWatch()
    private let watcher: DedicatedThread
    private let isShutDown = Mutex(false)

    /// Starts a ``Lane`` for each connection, and does not wait until they are connected.
    ///
    /// - Parameters:
    ///   - conninfo: a libpq connection string or URI.
    ///   - connections: at least two. Half of them, rounded down and at most four, serve groups; the others serve jobs
    ///     that run alone.
    ///   - queue: the maximum number of waiting jobs of each kind; further jobs fail with `unavailable`.
    package convenience init(
        _ conninfo: String,
        connections: Int = 5,
        queue: Int = 4096,
        timeouts: StatementTimeouts = .standard,
        metrics: Metrics = Metrics(),
        logger: Logger
    ) {
        precondition(connections >= 2, "each kind of job needs a connection")
        let lanes = min(connections / 2, 4)
        let grouped = LaneQueue(capacity: queue, lanes: lanes)
        let alone = LaneQueue(capacity: queue, lanes: connections - lanes, groupLimit: 1)
        let threads = (0..<connections).map { index in
            let isGrouped = index < lanes
            let kind = isGrouped ? "grouped" : "alone"
            let lane = Lane(
                conninfo: conninfo,
                kind: kind,
                queue: isGrouped ? grouped : alone,
                timeouts: timeouts,
                lockTimeout: isGrouped ? timeouts.groupedLock : timeouts.aloneLock,
                parkingQueue: alone,
                metrics: metrics,
                logger: logger
            )
            return DedicatedThread(named: "lane-\(kind)-\(index)") { lane.run() }
        }
        self.init(grouped: grouped, alone: alone, threads: threads)
    }

    /// - Parameter threads: the threads that serve the two queues until the queues stop.
    init(grouped: LaneQueue, alone: LaneQueue, threads: [DedicatedThread]) {
        (self.grouped, self.alone, self.threads) = (grouped, alone, threads)
        watcher = DedicatedThread(named: "lane-deadlines") { [watch] in
            watch.run { now in [grouped, alone].compactMap { $0.expire(at: now) }.min() }
        }
    }

    /// Runs one statement that only reads. If the connection is lost, runs the statement again, at most once for each
    /// connection that serves groups and is up (once if none is): when PostgreSQL stops, all connections are lost, but
    /// not at the same moment.
    package func read(_ sql: SQL) async throws(DatabaseError) -> Rows {
        for _ in 0..<max(1, grouped.load.lanes) {
            do throws(DatabaseError) {
                return try await run(Job([sql]), on: grouped)[0]
            } catch .outcomeUnknown {
                continue
            }
        }
        return try await run(Job([sql]), on: grouped)[0]
    }

    /// Runs one statement that writes only the given row and cannot violate a constraint. Another statement may write
    /// the same row first, so the WHERE of this statement must state when it may take effect.
    package func write(_ sql: SQL, to row: UUID) async throws(DatabaseError) -> Rows {
        try await run(Job([sql], writes: row), on: grouped)[0]
    }

    /// Runs one transaction in one round trip. Returns the rows of each statement.
    package func transaction(_ statements: SQL...) async throws(DatabaseError) -> [Rows] {
        try await transaction(statements)
    }

    /// Runs one transaction in one round trip. Returns the rows of each statement.
    package func transaction(_ statements: [SQL]) async throws(DatabaseError) -> [Rows] {
        try await run(Job(statements), on: alone)
    }

    /// Waits for the outcome until the deadline of the job.
    private func run(_ job: Job, on queue: LaneQueue) async throws(DatabaseError) -> [Rows] {
        let start = ContinuousClock.now
        defer { RequestWork.current?.addRoundTrip(.now - start) }
        queue.submit(job)
        watch.expect(job.deadline)
        return try await job.outcome().get()
    }

    /// Whether PostgreSQL answers a grouped statement within the time, and not all connections for jobs that run alone
    /// are known to be down. Tries no job that runs alone: it might have to wait for a free connection, and a busy
    /// database counts as up.
    ///
    /// False while statements that wait for locks occupy all connections that serve groups, because the requests that
    /// need the database get no answers then. Makes two attempts: the first one may share its group with a statement
    /// that waits for a lock.
    package func isUp(within time: Duration = .milliseconds(900)) async -> Bool {
        for _ in 1...2 {
            guard alone.load.lanes > 0 else { return false }
            let answer = await Deadline.$current.withValue(Deadline(in: time / 2)) { try? await read("SELECT 1") }
            if answer != nil { return true }
        }
        return false
    }

    /// The names of the settings that let PostgreSQL log what people type. With these settings, PostgreSQL logs a
    /// statement together with its values. The value `0` prevents that; for `pgaudit.log_parameter`, the value `off`.
    /// Only a superuser can change most of these settings.
    package func settingsThatLogValues() async throws(DatabaseError) -> [String] {
        let rows = try await read(
            """
            SELECT name FROM (VALUES
                ('log_parameter_max_length_on_error', '0', true),
                ('log_parameter_max_length', '0', current_setting('log_statement') IN ('mod', 'all')
                    OR current_setting('log_min_duration_statement') <> '-1'
                    OR current_setting('log_min_duration_sample') <> '-1'
                    OR current_setting('log_transaction_sample_rate') <> '0'),
                ('auto_explain.log_parameter_max_length', '0',
                    current_setting('auto_explain.log_min_duration', true) <> '-1'),
                ('pgaudit.log_parameter', 'off', current_setting('pgaudit.log', true) <> 'none')
             ) AS setting (name, harmless, is_used)
             WHERE is_used AND current_setting(name, true) <> harmless
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
                "Jobs waiting for a connection.",
                by: "lane",
                loads.map { ($0, Double($1.jobs)) }
            ),
            .gauge(
                "accounts_lanes_up",
                "Connections to PostgreSQL that are up or in their first attempt.",
                by: "lane",
                loads.map { ($0, Double($1.lanes)) }
            ),
        ]
    }

    /// Refuses waiting jobs, finishes running jobs, and closes the connections. A second call returns immediately.
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
        watch.stop()
        watcher.join()
    }
}

extension Database: Service {
    package func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }
}
