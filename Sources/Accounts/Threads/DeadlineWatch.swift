internal import Dispatch
internal import Synchronization

/// Makes one thread wake at the earliest of many deadlines.
///
/// Deadlines are added almost in order, and most work ends long before its deadline. So a new deadline wakes the thread
/// only if the thread would otherwise wake later or not at all, and each wakeup handles all deadlines that have passed.
final class DeadlineWatch: Sendable {
    private struct State {
        /// When the thread wakes; nil if there is no deadline.
        var alarm: ContinuousClock.Instant?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let change = DispatchSemaphore(value: 0)

    /// Makes the thread wake at this deadline or earlier.
    func expect(_ deadline: ContinuousClock.Instant) {
        let isEarliest = state.withLock { state in
            if let alarm = state.alarm, alarm <= deadline { return false }
            state.alarm = deadline
            return true
        }
        if isEarliest { change.signal() }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        change.signal()
    }

    /// The body of the thread. Returns after ``stop()``.
    ///
    /// - Parameter expire: ends all work with a deadline at or before the instant, and returns the earliest of the
    ///   other deadlines; nil if there is none.
    func run(expire: (ContinuousClock.Instant) -> ContinuousClock.Instant?) {
        while true {
            let (alarm, isStopped) = state.withLock { ($0.alarm, $0.isStopped) }
            if isStopped { return }
            let now = ContinuousClock.now
            switch alarm {
            case nil: change.wait()
            case let alarm? where alarm > now:
                let microseconds = ((alarm - now) / .microseconds(1)).rounded(.up)
                _ = change.wait(timeout: .now() + .microseconds(Int(microseconds)))
            case .some:
                // Resets the alarm before `expire` runs, so that a deadline that is added meanwhile is not forgotten.
                state.withLock { $0.alarm = nil }
                if let next = expire(now) { expect(next) }
            }
        }
    }
}
