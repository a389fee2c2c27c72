internal import Synchronization

/// A clock that stands still until the test moves it.
package final class TestClock: Clock {
    package struct Instant: InstantProtocol {
        /// The time since the clock was made.
        package let offset: Swift.Duration

        package func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        package static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct Sleeper {
        let end: Instant
        let alarm: AsyncStream<Never>.Continuation
    }

    private let state = Mutex<(now: Instant, sleepers: [Sleeper])>((Instant(offset: .zero), []))

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Swift.Duration { .nanoseconds(1) }

    /// The time that each sleeping task still has to wait.
    package var waits: [Swift.Duration] {
        state.withLock { state in state.sleepers.map { state.now.duration(to: $0.end) } }
    }

    package func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        let (silence, alarm) = AsyncStream.makeStream(of: Never.self)
        let isOver = state.withLock { state in
            if deadline <= state.now { return true }
            state.sleepers.append(Sleeper(end: deadline, alarm: alarm))
            return false
        }
        if isOver { alarm.finish() }
        // This loop also ends if the task is cancelled.
        for await _ in silence {}
        try Task.checkCancellation()
    }

    /// Moves the clock, and wakes the tasks whose time is over.
    package func advance(by duration: Swift.Duration) {
        let woken = state.withLock { state in
            let now = state.now.advanced(by: duration)
            defer { state = (now, state.sleepers.filter { $0.end > now }) }
            return state.sleepers.filter { $0.end <= now }
        }
        for sleeper in woken { sleeper.alarm.finish() }
    }

    /// Waits until this many tasks sleep on this clock. Throws `WaitTimeout` after 300 seconds.
    package func waitForSleepers(_ count: Int) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while waits.count < count {
            guard ContinuousClock.now < deadline else { throw WaitTimeout(statement: "\(count) tasks sleep") }
            await Task.yield()
        }
    }
}
