internal import Synchronization

/// Makes the requests of this process act on one draft one after another. The turn of a request begins when
/// ``begin(_:)`` returns, and ends with ``end(_:)``. Meanwhile, no other turn on the draft begins.
final class DraftTurns: Sendable {
    enum Refusal: Error {
        /// Too many requests wait for the draft, or the deadline passed before the turn.
        case busy
        case cancelled
    }

    /// A request that waits for its turn. Its caller is resumed with nil when it has its turn, and with a refusal if it
    /// gets none.
    private struct Waiter {
        let number: Int
        let caller: CheckedContinuation<Refusal?, Never>
    }

    private struct State {
        /// The requests that wait for each draft, in the order of their arrival; no entry means that no request acts on
        /// the draft.
        var waiters: [ID<Draft>: [Waiter]] = [:]
        /// The latest ``Waiter/number``.
        var lastNumber = 0
        /// The number of admitted requests for each draft; no entry means none.
        var admitted: [ID<Draft>: Int] = [:]
    }

    private let maximum: Int
    private let state = Mutex(State())

    /// - Parameter maximum: the number of requests that may wait for one draft.
    init(waiting maximum: Int) {
        self.maximum = maximum
    }

    /// Admits a request that may do slow work before its turn, such as hashing a password. Returns false if there are
    /// already as many admitted requests as can act on the draft or wait for it, because the work of a further request
    /// would be in vain. If this returns true, the caller must call ``leave(_:)``.
    func admit(_ draft: ID<Draft>) -> Bool {
        state.withLock { state in
            guard state.admitted[draft, default: 0] <= maximum else { return false }
            state.admitted[draft, default: 0] += 1
            return true
        }
    }

    /// Ends the admission of a request.
    func leave(_ draft: ID<Draft>) {
        state.withLock { state in
            let others = state.admitted[draft, default: 1] - 1
            state.admitted[draft] = others > 0 ? others : nil
        }
    }

    /// Waits until the request may act on the draft. Unless this throws, the caller must call ``end(_:)``.
    ///
    /// - Returns: whether another request was acting on the draft at the time of the call.
    func begin(_ draft: ID<Draft>) async throws(Refusal) -> Bool {
        let number = state.withLock { state -> Int? in
            guard state.waiters[draft] != nil else {
                state.waiters[draft] = []
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return false }
        let refusal = await Deadline.limiting {
            await withTaskCancellationHandler {
                await withCheckedContinuation { caller in
                    enter(Waiter(number: number, caller: caller), draft)
                    // If the task was cancelled or its deadline passed before `enter`, the calls of `withdraw` below
                    // found no request that waits.
                    if Task.isCancelled { withdraw(number, from: draft, as: .cancelled) }
                    if Deadline.hasPassed { withdraw(number, from: draft, as: .busy) }
                }
            } onCancel: {
                withdraw(number, from: draft, as: .cancelled)
            }
        } orGiveUp: {
            self.withdraw(number, from: draft, as: .busy)
        }
        if let refusal { throw refusal }
        return true
    }

    /// Lets the next request have its turn.
    func end(_ draft: ID<Draft>) {
        let next = state.withLock { state -> Waiter? in
            guard let waiters = state.waiters[draft], !waiters.isEmpty else {
                state.waiters[draft] = nil
                return nil
            }
            return state.waiters[draft]?.removeFirst()
        }
        next?.caller.resume(returning: nil)
    }

    /// The number of requests that wait for the draft.
    func waiting(for draft: ID<Draft>) -> Int { state.withLock { $0.waiters[draft]?.count ?? 0 } }

    /// Adds the request to those that wait. It gets its turn at once if no request acts on the draft any more, and is
    /// refused if too many wait.
    private func enter(_ waiter: Waiter, _ draft: ID<Draft>) {
        enum Entry {
            case waits
            case ends(Refusal?)
        }
        let entry = state.withLock { state -> Entry in
            guard let count = state.waiters[draft]?.count else {
                state.waiters[draft] = []
                return .ends(nil)
            }
            if count >= maximum { return .ends(.busy) }
            state.waiters[draft]?.append(waiter)
            return .waits
        }
        if case .ends(let refusal) = entry { waiter.caller.resume(returning: refusal) }
    }

    /// Ends the wait of a request with a refusal. Does nothing if the request does not wait yet or no longer waits.
    private func withdraw(_ number: Int, from draft: ID<Draft>, as refusal: Refusal) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.waiters[draft]?.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters[draft]?.remove(at: place)
        }
        waiter?.caller.resume(returning: refusal)
    }
}
