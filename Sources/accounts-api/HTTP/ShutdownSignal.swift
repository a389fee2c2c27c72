import Synchronization

/// Whether the server is shutting down. It then reports that it is not ready, answers the requests that still arrive,
/// and closes each connection after its answer, so that a load balancer sends the client to another server.
final class ShutdownSignal: Sendable {
    private let hasBegun = Atomic(false)

    var isUnderWay: Bool { hasBegun.load(ordering: .relaxed) }

    func begin() {
        hasBegun.store(true, ordering: .relaxed)
    }
}
