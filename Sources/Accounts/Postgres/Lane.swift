internal import CPostgres
internal import Foundation
internal import Logging

/// One thread with its own connection in pipeline mode.
///
/// A lane takes a group of waiting jobs that may share a transaction, and sends them with one Sync message of the
/// PostgreSQL protocol. It answers them when PostgreSQL confirms the Sync, because nothing is committed earlier. If no
/// group runs, a new job starts at once, without waiting for others to share its group. While a group runs, new jobs
/// form the next group. If the group takes longer than ``Pipeline/slowThreshold``, another lane may start the next one.
/// In a queue whose groups have only one job (``LaneQueueState/groupLimit``), no group waits for another to end.
///
/// An error rolls the whole group back. The job that caused the error gets it, unless a retry may succeed
/// (``DatabaseError/Diagnosis/isWorthRetrying``). The other jobs run again, each with its own Sync. This is safe
/// because they had no effect. A job whose lock wait timed out moves to ``parkingQueue`` and may wait longer there, so
/// that a locked row delays the other jobs of the group only briefly.
struct Lane {
    let conninfo: String
    /// The value of the label `lane` in the metrics.
    var kind = "alone"
    let queue: LaneQueue
    var timeouts = StatementTimeouts.standard
    /// The maximum wait of a statement for a lock.
    var lockTimeout = StatementTimeouts.standard.parkedLock
    /// The queue that parks a job whose lock wait timed out. There the job may wait for a lock for
    /// ``StatementTimeouts/parkedLock``. Nil if such a job fails instead.
    var parkingQueue: LaneQueue?
    var metrics = Metrics()
    let logger: Logger

    /// The number of lock timeouts in a group after which the remaining jobs of the group fail with `unavailable`.
    static let maximumLockTimeouts = 5

    /// Runs jobs until the queue stops. If the connection is lost, reconnects with back-off and jitter.
    func run() {
        var isUp = true
        var reason = ""
        // The number of connections that failed or were lost since a connection last ran a job.
        var failures = 0
        while !queue.isStopped {
            do throws(DatabaseError) {
                var pipeline = try Pipeline(
                    Connection(to: conninfo),
                    statementTimeout: timeouts.statement,
                    lockTimeout: lockTimeout
                )
                if !isUp {
                    queue.markLaneUp()
                    isUp = true
                    logger.notice("database connection restored")
                }
                try serve(&pipeline, resetting: &failures)
            } catch {
                if queue.isStopped { return }
                if case .unavailable(let present) = error {
                    if isUp { queue.markLaneDown(present) } else { queue.updateDownReason(present) }
                    // Logs each new reason: a PostgreSQL that shuts down and a PostgreSQL that does not answer need
                    // different repairs.
                    if isUp || present != reason {
                        logger.error("database unavailable", metadata: ["reason": "\(present)"])
                    }
                    (isUp, reason) = (false, present)
                } else {
                    logger.warning("database connection lost", metadata: ["reason": "\(error)"])
                    // Reconnects immediately after the first failure.
                    if failures == 0 {
                        failures = 1
                        continue
                    }
                }
                failures += 1
                waitBeforeRetry(failures)
            }
        }
    }

    /// The range of the wait in milliseconds after a number of consecutive failures. Its upper bound doubles from 50 to
    /// 2000; its lower bound is half of that. The random wait keeps lanes from reconnecting at the same moment.
    static func backOff(after failures: Int) -> ClosedRange<Int32> {
        precondition(failures > 0, "the number of failures must be positive")
        let longest = Int32(min(50 << min(failures - 1, 6), 2000))
        return (longest / 2)...longest
    }

    /// Waits for a random time within ``backOff(after:)``, or until the queue stops. Ignores wakeups, because a lane
    /// without a connection cannot run jobs.
    private func waitBeforeRetry(_ failures: Int) {
        var stop = pollfd(fd: queue.stopEvent, events: Int16(POLLIN), revents: 0)
        poll(&stop, 1, Int32.random(in: Self.backOff(after: failures)))
    }

    /// Runs jobs. Returns when the queue stops, or when the session has too many prepared statements. Throws if the
    /// connection is lost, or if the server has become read-only.
    private func serve(_ pipeline: inout Pipeline, resetting failures: inout Int) throws(DatabaseError) {
        defer { queue.wakeLaneIfJobsWait() }
        let events = try LaneEvents(socket: pipeline.socket, queue: queue)
        while !queue.isStopped, !pipeline.hasTooManyStatements {
            guard let group = queue.takeGroup() else {
                try sleep(&pipeline, until: events)
                continue
            }
            defer { queue.endGroup(group.number) }
            try execute(group.jobs, on: &pipeline, whenSlow: { queue.closeSlowGroup(group.number) })
            failures = 0
        }
    }

    /// Waits for jobs. Watches the socket, too, so that an idle lane notices when PostgreSQL closes the connection.
    private func sleep(_ pipeline: inout Pipeline, until events: borrowing LaneEvents) throws(DatabaseError) {
        guard queue.tryToIdle() else { return }
        defer { queue.laneWoke() }
        let ready = events.wait()
        // Checks the socket first: a lane that has lost its connection must leave the wakeup to another lane.
        if ready.contains(.socket) { try pipeline.readWhileIdle() }
        if ready.contains(.wakeup) { queue.consumeWakeup() }
    }

    /// Sends the jobs with one Sync, and answers them. If they are rolled back, all of them run again, each with its
    /// own Sync, except the job that caused the error: it gets the error, unless a retry may succeed
    /// (``DatabaseError/Diagnosis/isWorthRetrying``) or ``parkingQueue`` takes it.
    ///
    /// - Parameters:
    ///   - isRetry: whether the job runs for the second time. Then an error is final, unless ``parkingQueue`` takes the
    ///     job.
    ///   - whenSlow: called if another lane should start the next group now.
    /// - Returns: the error that rolled the jobs back; nil if they were committed.
    @discardableResult
    private func execute(
        _ jobs: [Job],
        isRetry: Bool = false,
        on pipeline: inout Pipeline,
        whenSlow: @escaping () -> Void = {}
    ) throws(DatabaseError) -> DatabaseError.Diagnosis? {
        let start = ContinuousClock.now
        let outcome: Pipeline.Outcome
        do throws(DatabaseError) {
            outcome = try pipeline.exchange(jobs.map { statements(of: $0) }, whenSlow: whenSlow)
        } catch {
            for job in jobs { job.answer(.failure(error)) }
            throw error
        }
        metrics.groups.record(Double(jobs.count), kind)
        metrics.exchanges.record(ContinuousClock.now - start, kind)
        switch outcome {
        case .committed(let rows):
            for (job, rows) in zip(jobs, rows) { job.answer(.success(Array(rows.suffix(job.statements.count)))) }
            return nil
        case .undone(_, let diagnosis) where diagnosis.isReadOnly:
            // The primary may have become a standby. Reconnecting may find the new primary.
            let error = DatabaseError.unavailable("the server has become read-only")
            for job in jobs { job.answer(.failure(error)) }
            throw error
        case .undone(let culprit, let diagnosis):
            var others = jobs
            if isRetry || !diagnosis.isWorthRetrying, let culprit = jobs.count == 1 ? 0 : culprit {
                let culprit = others.remove(at: culprit)
                let isParked =
                    diagnosis.isLockTimeout && !culprit.usesLongLockTimeout && parkingQueue?.park(culprit) == true
                if !isParked { culprit.answer(.failure(.refused(diagnosis))) }
            }
            whenSlow()
            try retryOneByOne(others, lockTimeouts: diagnosis.isLockTimeout ? 1 : 0, on: &pipeline)
            return diagnosis
        }
    }

    /// The statements of the job. If the job uses the longer timeout, a statement that sets it comes first.
    private func statements(of job: Job) -> [SQL] {
        guard job.usesLongLockTimeout else { return job.statements }
        let milliseconds = Int(timeouts.parkedLock / .milliseconds(1))
        return [.setting("lock_timeout", "\(milliseconds)")] + job.statements
    }

    /// Runs the jobs that have no outcome yet, one after another.
    ///
    /// - Parameter lockTimeouts: the number of lock timeouts in the group so far.
    private func retryOneByOne(
        _ jobs: [Job],
        lockTimeouts: Int,
        on pipeline: inout Pipeline
    ) throws(DatabaseError) {
        var lockTimeouts = lockTimeouts
        for (index, job) in jobs.enumerated() where !job.isAnswered {
            if lockTimeouts >= Self.maximumLockTimeouts {
                job.answer(.failure(.unavailable("too many statements have waited too long for locks")))
                continue
            }
            do throws(DatabaseError) {
                let failure = try execute([job], isRetry: true, on: &pipeline)
                if failure?.isLockTimeout == true { lockTimeouts += 1 }
            } catch {
                for remaining in jobs[(index + 1)...] {
                    remaining.answer(.failure(.unavailable("the connection was closed")))
                }
                throw error
            }
        }
    }
}

extension DatabaseError.Diagnosis {
    /// True for the error `read_only_sql_transaction`.
    fileprivate var isReadOnly: Bool { sqlState == "25006" }

    /// True for the error `lock_not_available`: the wait for a lock was longer than `lock_timeout`.
    fileprivate var isLockTimeout: Bool { sqlState == "55P03" }

    /// True for a serialization failure, a deadlock, and a prepared statement that no longer exists (26000) or whose
    /// tables have changed (0A000): the same statement may succeed a moment later.
    var isWorthRetrying: Bool { ["40001", "40P01", "26000", "0A000"].contains(sqlState) }
}
