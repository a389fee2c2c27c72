internal import Synchronization

/// The time by which the present request must be answered. It limits the waits of the request for statements, hashes
/// and images, and for other requests that act on the same draft.
package final class Deadline: Sendable {
    /// The deadline of the present task; nil for work that belongs to no request.
    @TaskLocal package static var current: Deadline?
    /// The maximum time for an access to the database that belongs to no request.
    private static let ofOwnWork = Duration.seconds(60)

    private let state: Mutex<ContinuousClock.Instant>

    package init(in time: Duration) {
        state = Mutex(.now + time)
    }

    package var instant: ContinuousClock.Instant { state.withLock { $0 } }

    /// Moves the deadline to a later time, for example by the time that a client has needed to send the body.
    package func extend(by time: Duration) {
        state.withLock { $0 += time }
    }

    /// Runs short work that must happen even if the deadline of the request has passed, such as a read that finds out
    /// whether a write has taken effect. In a request, the work has its own deadline, one second from now.
    static func verifying<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        try await $current.withValue(current.map { _ in Deadline(in: .seconds(1)) }, operation: work)
    }

    /// The deadline of an access to the database that the present task begins now.
    static var ofStatement: ContinuousClock.Instant { current?.instant ?? .now + ofOwnWork }

    /// The number of whole seconds until one second before ``ofStatement``, at least 0. The last second is for the
    /// response.
    static var secondsLeft: Int {
        max(0, Int((ofStatement - .now) / .seconds(1)) - 1)
    }

    /// Whether the deadline of the present task has passed.
    static var hasPassed: Bool { current.map { $0.instant <= .now } ?? false }

    /// Runs the work to its end. If the work has not ended by the deadline of the present task, and the task is not
    /// cancelled, calls `giveUp`, which must end the wait of the work. Within a request, this function starts a task,
    /// so call it only where waits are rare, or for work that takes long anyway.
    ///
    /// `giveUp` may be called before the work waits, so the work must check ``hasPassed`` when it begins to wait.
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
