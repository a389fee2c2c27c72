internal import CPostgres
internal import Foundation
internal import Logging

/// One thread that alone owns one connection in pipeline mode.
///
/// It takes all that waits, as many jobs as may go together, sends them with one Sync, and answers them when that Sync
/// arrives: before that nothing is committed. Batching comes only from waiting for the group before, so a lone
/// statement pays nothing for it; once that group takes longer than a disk should need, another lane begins beside it. An
/// error undoes the whole group; the culprit is told, and the others run again, each with a Sync of its own, which is safe
/// because nothing of them had happened.
struct Lane {
    let conninfo: String
    /// As the metrics name its kind.
    var kind = "alone"
    let queue: LaneQueue
    var metrics = Metrics()
    let logger: Logger

    /// Serves until the queue stops; connects again, with back-off and jitter, as often as the connection is lost.
    func run() {
        var isUp = true
        // In a row: connections that could not be made, or were lost before they carried out anything.
        var failures = 0
        while !queue.isStopped {
            do throws(DatabaseError) {
                var pipeline = try Pipeline(Connection(to: conninfo))
                if !isUp {
                    queue.laneIsUp()
                    isUp = true
                    logger.notice("database connection is back")
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
                    // A connection that has served is made again at once.
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

    /// Milliseconds to wait after so many failures in a row: 50 doubling to 2000, each between half and the whole of it,
    /// so that lanes that fell together do not come back together.
    static func backOff(after failures: Int) -> ClosedRange<Int32> {
        precondition(failures > 0, "there is no wait without a failure")
        let longest = Int32(min(50 << min(failures - 1, 6), 2000))
        return (longest / 2)...longest
    }

    /// Waits less when the queue stops. The wakeup is for lanes that can serve.
    private func waitBeforeRetry(_ failures: Int) {
        var end = pollfd(fd: queue.end, events: Int16(POLLIN), revents: 0)
        poll(&end, 1, Int32.random(in: Self.backOff(after: failures)))
    }

    /// Returns when the queue stops or the session has served long enough; throws when the connection is lost.
    private func serve(_ pipeline: inout Pipeline, resetting failures: inout Int) throws(DatabaseError) {
        defer { queue.handOver() }
        while !queue.isStopped, !pipeline.isWornOut {
            guard let group = queue.takeGroup() else {
                try sleep(&pipeline)
                continue
            }
            defer { queue.groupHasEnded(group.number) }
            try carryOut(group, on: &pipeline)
            failures = 0
        }
    }

    /// Waits for work with the socket in the poll set, so that a server that closes is noticed while nobody asks.
    private func sleep(_ pipeline: inout Pipeline) throws(DatabaseError) {
        guard queue.goToSleep() else { return }
        defer { queue.wakeUp() }
        var sources = [pipeline.socket, queue.wakeup, queue.end].map { source in
            pollfd(fd: source, events: Int16(POLLIN), revents: 0)
        }
        poll(&sources, nfds_t(sources.count), -1)
        // The socket first: a lane that has lost its connection leaves the wakeup to another.
        if sources[0].revents != 0 { try pipeline.readWhileIdle() }
        if sources[1].revents != 0 { queue.answerBell() }
    }

    private func carryOut(_ group: Waiting.Group, on pipeline: inout Pipeline) throws(DatabaseError) {
        let jobs = group.jobs
        switch try exchange(jobs, on: &pipeline, whenSlow: { queue.groupTakesLong(group.number) }) {
        case .committed(let rows):
            for (job, rows) in zip(jobs, rows) { job.answer(.success(rows)) }
        case .undone(_, let diagnosis) where diagnosis.isReadOnly:
            // A primary that has become a standby: another may be the primary by now, so it is looked for.
            let error = DatabaseError.unavailable("the server takes no writes any more")
            for job in jobs { job.answer(.failure(error)) }
            throw error
        case .undone(let culprit, let diagnosis):
            let isFinal = (culprit != nil || jobs.count == 1) && !diagnosis.passesWhenRepeated
            if isFinal { jobs[culprit ?? 0].answer(.failure(.refused(diagnosis))) }
            let others = jobs.indices.filter { !isFinal || $0 != culprit ?? 0 }.map { jobs[$0] }
            queue.groupTakesLong(group.number)
            try repeatOneByOne(others, on: &pipeline)
        }
    }

    /// Each with a Sync of its own; what is refused now stays refused.
    private func repeatOneByOne(_ jobs: [Job], on pipeline: inout Pipeline) throws(DatabaseError) {
        for (index, job) in jobs.enumerated() {
            do throws(DatabaseError) {
                switch try exchange([job], on: &pipeline) {
                case .committed(let rows): job.answer(.success(rows[0]))
                case .undone(_, let diagnosis): job.answer(.failure(.refused(diagnosis)))
                }
            } catch {
                for unsent in jobs[(index + 1)...] { unsent.answer(.failure(.unavailable("connection lost"))) }
                throw error
            }
        }
    }

    private func exchange(
        _ jobs: [Job],
        on pipeline: inout Pipeline,
        whenSlow: @escaping () -> Void = {}
    ) throws(DatabaseError) -> Pipeline.Outcome {
        let start = ContinuousClock.now
        do throws(DatabaseError) {
            let outcome = try pipeline.exchange(jobs.map(\.statements), whenSlow: whenSlow)
            metrics.groups.record(Double(jobs.count), kind)
            metrics.exchanges.record(ContinuousClock.now - start, kind)
            return outcome
        } catch {
            for job in jobs { job.answer(.failure(error)) }
            throw error
        }
    }
}

extension DatabaseError.Diagnosis {
    /// read_only_sql_transaction.
    fileprivate var isReadOnly: Bool { sqlState == "25006" }

    /// Serialization failure, deadlock, a prepared statement that is gone (26000) or whose tables changed (0A000):
    /// the same statement may well pass a moment later.
    var passesWhenRepeated: Bool { ["40001", "40P01", "26000", "0A000"].contains(sqlState) }
}
