import Synchronization

/// Whether the server has been told to stop. From then on it says that it is not ready, answers what still comes, and
/// asks each client to come back on another connection, which whoever balances the load gives to another server.
final class Drain: Sendable {
    private let hasBegun = Atomic(false)

    var isUnderWay: Bool { hasBegun.load(ordering: .relaxed) }

    func begin() {
        hasBegun.store(true, ordering: .relaxed)
    }
}
