import Foundation
import TestSupport

@testable import Accounts

/// One lane and its queue, without a `Database`, so that a test decides which jobs wait together.
struct LaneUnderTest: Sendable {
    let queue: LaneQueue
    let conninfo: String

    /// Lends a lane with its own thread and queue, and stops it afterwards.
    static func lend<Value>(
        capacity: Int = 1000,
        conninfo: String = FreshDatabase.current.conninfo,
        lockTimeout: Duration = .seconds(3600),
        parkingQueue: LaneQueue? = nil,
        _ body: (LaneUnderTest) async throws -> Value
    ) async throws -> Value {
        let fixture = LaneUnderTest(queue: LaneQueue(capacity: capacity, lanes: 1), conninfo: conninfo)
        let lane = Lane(
            conninfo: conninfo,
            queue: fixture.queue,
            timeouts: .lavish,
            lockTimeout: lockTimeout,
            parkingQueue: parkingQueue,
            logger: .silent
        )
        let thread = DedicatedThread(named: "lane") { lane.run() }
        defer {
            fixture.queue.stop()
            thread.join()
        }
        return try await body(fixture)
    }

    func submit(_ statement: SQL, writes: UUID? = nil) -> Job {
        let job = Job([statement], writes: writes)
        queue.submit(job)
        return job
    }

    /// Blocks the lane with a statement while `submit` runs, so that the jobs wait together when the lane takes its next
    /// group. Returns them in the order of submission, without waiting for their outcomes.
    func submitTogether(_ submit: (LaneUnderTest) async throws -> [Job]) async throws -> [Job] {
        let held = try await BlockedStatement(conninfo: conninfo) { queue.submit($0) }
        let jobs = try await submit(self)
        try held.release()
        _ = try await held.job.outcome().get()
        return jobs
    }
}

/// A statement that was sent, and waits for a lock on the server until the test releases it.
struct BlockedStatement: Sendable {
    /// Waits for the advisory lock 1 without a lock timeout. `set_config` is in FROM, so that it runs before the lock is
    /// requested.
    static let statement: SQL = "SELECT pg_advisory_xact_lock(1) FROM set_config('lock_timeout', '0', true)"

    let job: Job
    /// The process id of the backend that executes the statement.
    let backend: Int
    private let session: DatabaseSession

    init(conninfo: String, submit: (Job) -> Void) async throws {
        session = try DatabaseSession(to: conninfo)
        try session.run("SELECT pg_advisory_lock(1)")
        // Neither the deadline of the job nor `statement_timeout` may end the wait. The timeout is switched off in a
        // statement of its own, because PostgreSQL starts the timer of a statement before it executes it.
        let deadline = ContinuousClock.now.advanced(by: .seconds(3600))
        job = Job(["SELECT set_config('statement_timeout', '0', true)", Self.statement], by: deadline)
        submit(job)
        backend = try await session.waitUntilSomebodyIsBlocked()
    }

    func release() throws {
        try session.run("SELECT pg_advisory_unlock(1)")
    }
}

extension Job {
    /// The rows of the job's only statement.
    func rows() async throws(DatabaseError) -> Rows {
        try await outcome().get()[0]
    }

    /// The error of the job; nil if it succeeded.
    func failure() async -> DatabaseError? {
        guard case .failure(let error) = await outcome() else { return nil }
        return error
    }
}

extension DatabaseError {
    var isUnavailable: Bool {
        if case .unavailable = self { true } else { false }
    }

    var isOutcomeUnknown: Bool {
        if case .outcomeUnknown = self { true } else { false }
    }

    var isCancelled: Bool {
        if case .cancelled = self { true } else { false }
    }
}
