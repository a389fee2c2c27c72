internal import Foundation
internal import Synchronization

/// Statements that succeed or fail together, in one round trip, and the caller that waits for their rows.
final class Job: Sendable {
    typealias Outcome = Result<[Rows], DatabaseError>

    let statements: [SQL]
    /// The row that the statement writes, if the job is grouped (``Database``) and writes; otherwise nil. A group has
    /// at most one job for each row.
    let writes: UUID?
    /// The time when the caller must have an answer.
    let deadline: ContinuousClock.Instant
    private let state = Mutex(State())

    private struct State {
        var waiter: CheckedContinuation<Outcome, Never>?
        var outcome: Outcome?
        var isSent = false
        var usesLongLockTimeout = false
    }

    /// - Parameter deadline: by default the deadline of the request that the current task serves; if it serves none, 60
    ///   seconds from now.
    init(_ statements: [SQL], writes: UUID? = nil, by deadline: ContinuousClock.Instant = Deadline.ofStatement) {
        self.statements = statements
        self.writes = writes
        self.deadline = deadline
    }

    /// Waits for the outcome. Call it only once. If the task is cancelled before the statements are sent, they are
    /// never sent, and the outcome is `cancelled`. If the task is cancelled later, the outcome is that of the
    /// statements.
    func outcome() async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let early = state.withLock { state -> Outcome? in
                    if state.outcome == nil { state.waiter = waiter }
                    return state.outcome
                }
                if let early { waiter.resume(returning: early) }
            }
        } onCancel: {
            abandon()
        }
    }

    /// Delivers the outcome to the caller. Only the first call has an effect.
    func answer(_ outcome: Outcome) {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            return state.waiter
        }
        waiter?.resume(returning: outcome)
    }

    /// True once a job that was parked, because a lock wait timed out, is queued for its second run
    /// (``LaneQueueState/park(_:at:)``). The job then runs alone, with ``StatementTimeouts/parkedLock``.
    var usesLongLockTimeout: Bool {
        get { state.withLock { $0.usesLongLockTimeout } }
        set { state.withLock { $0.usesLongLockTimeout = newValue } }
    }

    /// Whether the job has an outcome, so that no caller waits for it any more.
    var isAnswered: Bool { state.withLock { $0.outcome != nil } }

    /// Marks the job as sent. Returns false if the job already has an outcome, for example because its caller was
    /// cancelled. Then do not send it.
    func markSent() -> Bool {
        state.withLock { state in
            state.isSent = state.outcome == nil
            return state.isSent
        }
    }

    private func abandon() {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard !state.isSent, state.outcome == nil else { return nil }
            state.outcome = .failure(.cancelled)
            return state.waiter
        }
        waiter?.resume(returning: .failure(.cancelled))
    }
}
