import Synchronization

/// Decides what a stop signal means.
struct StopSignals {
    enum Meaning {
        case shutDown
        /// Some programs, such as timeout(1), send a signal to the process and then to its group. Both mean the same.
        case ignored
        /// End at once.
        case end
    }

    private var first: ContinuousClock.Instant?

    /// The first signal shuts down. A signal within half a second after it is ignored, and a later one ends at once.
    mutating func receive(at time: ContinuousClock.Instant) -> Meaning {
        guard let first else {
            first = time
            return .shutDown
        }
        return time - first < .milliseconds(500) ? .ignored : .end
    }
}

/// Says whether the server is shutting down. While it is, the server reports that it is not ready, answers the requests
/// that still arrive, and closes each connection after its answer. So a load balancer sends the clients to other
/// servers.
final class ShutdownSignal: Sendable {
    private let hasBegun = Atomic(false)

    var isUnderWay: Bool { hasBegun.load(ordering: .relaxed) }

    func begin() {
        hasBegun.store(true, ordering: .relaxed)
    }
}
