import Synchronization

/// Says whether the server is shutting down. While it is, the server reports that it is not ready, answers the requests
/// that still arrive, and closes each connection after the next answer. So a load balancer sends the clients to other
/// servers.
final class ShutdownSignal: Sendable {
    private let hasBegun = Atomic(false)

    var isUnderWay: Bool { hasBegun.load(ordering: .relaxed) }

    func begin() {
        hasBegun.store(true, ordering: .relaxed)
    }
}
