internal import Foundation
internal import Synchronization

/// Statements that succeed or fail together, in one round trip, and whoever waits for their rows.
final class Job: Sendable {
    typealias Outcome = Result<[Rows], DatabaseError>

    let statements: [SQL]
    /// The row that the statement writes; a group holds one of each.
    let writes: UUID?
    private let state = Mutex(State())

    private struct State {
        var waiter: CheckedContinuation<Outcome, Never>?
        var outcome: Outcome?
        var isSent = false
    }

    init(_ statements: [SQL], writes: UUID? = nil) {
        self.statements = statements
        self.writes = writes
    }

    /// The answer, once. A task that is cancelled before the statements were sent hears `cancelled`, and they never
    /// are; after that it hears what became of them.
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

    /// Tells whoever waits. Only the first answer counts.
    func answer(_ outcome: Outcome) {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            return state.waiter
        }
        waiter?.resume(returning: outcome)
    }

    /// A lane takes the job; false where it was cancelled before.
    func send() -> Bool {
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
