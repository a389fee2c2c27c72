import Foundation
import TestSupport

@testable import Accounts

/// One lane and its queue, without a `Database`, so that a test decides which jobs wait together.
struct LaneUnderTest: Sendable {
    let queue: LaneQueue
    let conninfo: String

    static func lend<Value>(
        capacity: Int = 1000,
        conninfo: String = FreshDatabase.current.conninfo,
        _ body: (LaneUnderTest) async throws -> Value
    ) async throws -> Value {
        let lane = LaneUnderTest(queue: LaneQueue(capacity: capacity, lanes: 1), conninfo: conninfo)
        let loop = Lane(conninfo: conninfo, queue: lane.queue, logger: .silent)
        let thread = DedicatedThread(named: "lane") { loop.run() }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(lane))
        } catch {
            result = .failure(error)
        }
        lane.queue.stop()
        thread.join()
        return try result.get()
    }

    func submit(_ statement: SQL, writes: UUID? = nil) -> Job {
        let job = Job([statement], writes: writes)
        queue.submit(job)
        return job
    }

    /// Blocks the lane with a statement while `submit` runs, so that all jobs that it submits are in one group. Returns
    /// the jobs in the order of their submission.
    func together(_ submit: (LaneUnderTest) async throws -> [Job]) async throws -> [Job] {
        let held = try await BlockedStatement(conninfo: conninfo) { queue.submit($0) }
        let jobs = try await submit(self)
        try held.release()
        _ = try await held.job.outcome().get()
        return jobs
    }
}

/// A statement that was sent, and waits for a lock on the server until the test releases it.
struct BlockedStatement: Sendable {
    /// Waits for the lock without a lock timeout: only the statement timeout ends the wait.
    static let statement: SQL = "SELECT pg_advisory_xact_lock(1) FROM set_config('lock_timeout', '0', true)"

    let job: Job
    /// The process id of the backend that executes the statement.
    let backend: Int
    private let session: Session

    init(conninfo: String, submit: (Job) -> Void) async throws {
        session = try Session(to: conninfo)
        try session.run("SELECT pg_advisory_lock(1)")
        // For as long as the test takes: the timeout of a statement begins anew with each of them.
        let deadline = ContinuousClock.now.advanced(by: .seconds(3600))
        job = Job(["SELECT set_config('statement_timeout', '0', true)", Self.statement], by: deadline)
        submit(job)
        backend = try await session.waitUntilSomebodyIsBlocked()
    }

    func release() throws {
        try session.run("SELECT pg_advisory_unlock(1)")
    }
}

extension Session {
    func count(_ table: String) throws -> Int {
        try query("SELECT count(*) FROM \(SQL(stringLiteral: table))").only.decode(Int.self)
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
