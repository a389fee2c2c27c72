import Accounts

/// Counts the open connections of each client network; a /56 and a /48 of IPv6 may have 4 and 16 times as many. A trusted proxy is not counted: its connections carry the
/// requests of many clients.
final class ClientConnections: Sendable {
    private let proxies: Proxies
    private let limiter: ConcurrencyLimiter

    init(maximum: Int, behind proxies: Proxies) {
        self.proxies = proxies
        limiter = ConcurrencyLimiter(perClient: maximum)
    }

    /// Returns false if the client has reached its maximum. Release each connection that was acquired.
    func acquire(for client: IPAddress) -> Bool {
        proxies.isTrusted(client) || limiter.acquire(for: Network(client))
    }

    func release(of client: IPAddress) {
        if !proxies.isTrusted(client) { limiter.release(of: Network(client)) }
    }
}
