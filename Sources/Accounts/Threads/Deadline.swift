internal import Synchronization

/// When the present request must have its answer. Everything that waits for the request obeys it: statements, hashes,
/// images, and turns on a draft.
package final class Deadline: Sendable {
    /// The deadline of the present task; nil for work of the server itself.
    @TaskLocal package static var current: Deadline?
    /// The time for statements that belong to no request.
    private static let ofOwnWork = Duration.seconds(60)

    private let state: Mutex<ContinuousClock.Instant>

    package init(in time: Duration) {
        state = Mutex(.now + time)
    }

    package var instant: ContinuousClock.Instant { state.withLock { $0 } }

    /// The server does not answer for the time in which a body arrives, so the request gets it back.
    package func extend(by time: Duration) {
        state.withLock { $0 += time }
    }

    /// Gives work that finds out whether a write has taken effect a time of its own, because the deadline may be the
    /// reason why the outcome is unknown.
    static func verifying<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        try await $current.withValue(current.map { _ in Deadline(in: .milliseconds(1500)) }, operation: work)
    }

    /// The deadline of a statement of the present task.
    static var ofStatement: ContinuousClock.Instant { current?.instant ?? .now + ofOwnWork }

    /// The number of whole seconds until a second before the deadline of the present task, so that its answer still
    /// arrives in time.
    static var secondsLeft: Int {
        max(0, Int((ofStatement - .now) / .seconds(1)) - 1)
    }

    /// Whether the deadline of the present task has passed.
    static var hasPassed: Bool { current.map { $0.instant <= .now } ?? false }

    /// Runs the work, and calls `giveUp` if it has not ended by the deadline of the present task. Costs a task, so it is
    /// for what seldom waits or takes long anyway. `giveUp` may be called before the work waits, so the work checks
    /// ``hasPassed`` when it begins to wait.
    static func limiting<Value: Sendable>(
        _ work: () async -> Value,
        orGiveUp giveUp: @escaping @Sendable () -> Void
    ) async -> Value {
        guard let instant = current?.instant else { return await work() }
        return await withTaskGroup(of: Void.self) { timer in
            timer.addTask {
                try? await Task.sleep(until: instant, clock: .continuous)
                if !Task.isCancelled { giveUp() }
            }
            let value = await work()
            timer.cancelAll()
            return value
        }
    }
}
