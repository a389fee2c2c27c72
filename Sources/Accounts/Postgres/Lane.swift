internal import CPostgres
internal import Foundation
internal import Logging

/// One thread with its own connection in pipeline mode.
///
/// It takes the waiting jobs that may share a transaction, sends them with one Sync, and answers them when the server
/// confirms that Sync: nothing is committed earlier. Jobs only accumulate while the previous group is running, so a
/// single statement never waits for others. If a group takes longer than a disk should need, another lane starts the
/// next group. An error rolls the whole group back. The job that caused it gets the error, and the others run again,
/// each with its own Sync, which is safe because they had no effect. If one had to wait too long for a lock, the others
/// wait only briefly, so that a locked table does not block the lane once for each of them.
struct Lane {
    let conninfo: String
    /// The value of the label `lane` in the metrics.
    var kind = "alone"
    let queue: LaneQueue
    var metrics = Metrics()
    let logger: Logger

    /// Limits how long a job waits for locks in the present transaction.
    private static let waitBriefly: SQL = "SELECT set_config('lock_timeout', '200ms', true)"
    /// The number of lock timeouts in a group after which the rest of it is rejected.
    static let maximumLockTimeouts = 5

    /// Runs jobs until the queue stops. If the connection is lost, it reconnects with back-off and jitter.
    func run() {
        var isUp = true
        // Consecutive connections that failed, or were lost before they ran a job.
        var failures = 0
        while !queue.isStopped {
            do throws(DatabaseError) {
                var pipeline = try Pipeline(Connection(to: conninfo))
                if !isUp {
                    queue.laneIsUp()
                    isUp = true
                    logger.notice("database connection restored")
                }
                try serve(&pipeline, resetting: &failures)
            } catch {
                if queue.isStopped { return }
                if case .unavailable(let reason) = error {
                    if isUp {
                        queue.laneIsDown(reason)
                        isUp = false
                        logger.error("\(error)")
                    }
                } else {
                    logger.warning("\(error)")
                    // A connection that has run jobs is restored immediately.
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

    /// Ends early if the queue stops. Does not react to wakeups, which are for lanes with a connection.
    private func waitBeforeRetry(_ failures: Int) {
        var end = pollfd(fd: queue.end, events: Int16(POLLIN), revents: 0)
        poll(&end, 1, Int32.random(in: Self.backOff(after: failures)))
    }

    /// Returns when the queue stops, or when the session has too many prepared statements. Throws if the connection is
    /// lost.
    private func serve(_ pipeline: inout Pipeline, resetting failures: inout Int) throws(DatabaseError) {
        defer { queue.handOver() }
        while !queue.isStopped, !pipeline.hasTooManyStatements {
            guard let group = queue.takeGroup() else {
                try sleep(&pipeline)
                continue
            }
            defer { queue.groupHasEnded(group.number) }
            try execute(group.jobs, on: &pipeline, whenSlow: { queue.groupTakesLong(group.number) })
            failures = 0
        }
    }

    /// Waits for jobs. Polls the socket too, so that a connection that the server closes is noticed while idle.
    private func sleep(_ pipeline: inout Pipeline) throws(DatabaseError) {
        guard queue.goToSleep() else { return }
        defer { queue.wakeUp() }
        var sources = [pipeline.socket, queue.wakeup, queue.end].map { source in
            pollfd(fd: source, events: Int16(POLLIN), revents: 0)
        }
        poll(&sources, nfds_t(sources.count), -1)
        // The socket first: a lane that has lost its connection leaves the wakeup to another lane.
        if sources[0].revents != 0 { try pipeline.readWhileIdle() }
        if sources[1].revents != 0 { queue.consumeWakeup() }
    }

    /// Sends the jobs with one Sync, and answers them. If they were rolled back, the job that caused it gets the error,
    /// unless it is worth a retry; all others run again, each with its own Sync.
    ///
    /// - Parameters:
    ///   - isRetry: the job runs again, so an error is final.
    ///   - waitsBriefly: the job fails soon if it has to wait for a lock.
    ///   - whenSlow: called if other lanes should start a group meanwhile.
    /// - Returns: why the jobs were rolled back; nil if they were committed.
    @discardableResult
    private func execute(
        _ jobs: [Job],
        isRetry: Bool = false,
        waitsBriefly: Bool = false,
        on pipeline: inout Pipeline,
        whenSlow: @escaping () -> Void = {}
    ) throws(DatabaseError) -> DatabaseError.Diagnosis? {
        let prefix = waitsBriefly ? [Self.waitBriefly] : []
        let start = ContinuousClock.now
        let outcome: Pipeline.Outcome
        do throws(DatabaseError) {
            outcome = try pipeline.exchange(jobs.map { prefix + $0.statements }, whenSlow: whenSlow)
        } catch {
            for job in jobs { job.answer(.failure(error)) }
            throw error
        }
        metrics.groups.record(Double(jobs.count), kind)
        metrics.exchanges.record(ContinuousClock.now - start, kind)
        switch outcome {
        case .committed(let rows):
            for (job, rows) in zip(jobs, rows) { job.answer(.success(Array(rows.dropFirst(prefix.count)))) }
            return nil
        case .undone(_, let diagnosis) where diagnosis.isReadOnly:
            // The primary has become a standby. Reconnecting finds the new primary.
            let error = DatabaseError.unavailable("the server has become read-only")
            for job in jobs { job.answer(.failure(error)) }
            throw error
        case .undone(let culprit, let diagnosis):
            var others = jobs
            if isRetry || !diagnosis.isWorthRetrying, let culprit = jobs.count == 1 ? 0 : culprit {
                others.remove(at: culprit).answer(.failure(.refused(diagnosis)))
            }
            whenSlow()
            try retryOneByOne(others, lockTimeouts: diagnosis.isLockTimeout ? 1 : 0, on: &pipeline)
            return diagnosis
        }
    }

    /// Runs the jobs whose callers still wait for them.
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
                job.answer(.failure(.unavailable("too much is locked")))
                continue
            }
            do throws(DatabaseError) {
                let failure = try execute([job], isRetry: true, waitsBriefly: lockTimeouts > 0, on: &pipeline)
                if failure?.isLockTimeout == true { lockTimeouts += 1 }
            } catch {
                for unsent in jobs[(index + 1)...] { unsent.answer(.failure(.unavailable("connection lost"))) }
                throw error
            }
        }
    }
}

extension DatabaseError.Diagnosis {
    /// read_only_sql_transaction.
    fileprivate var isReadOnly: Bool { sqlState == "25006" }

    /// lock_not_available.
    fileprivate var isLockTimeout: Bool { sqlState == "55P03" }

    /// True for a serialization failure, a deadlock, and a prepared statement that no longer exists (26000) or whose
    /// tables have changed (0A000): the same statement may succeed a moment later.
    var isWorthRetrying: Bool { ["40001", "40P01", "26000", "0A000"].contains(sqlState) }
}
