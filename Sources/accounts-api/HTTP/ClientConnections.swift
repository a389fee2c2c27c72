import Accounts

/// Limits the open connections of each client network. An IPv4 address or a /64 of IPv6 may have `maximum` connections,
/// a /56 four times and a /48 sixteen times as many. Connections of a trusted proxy are not counted, because they carry
/// the requests of many clients.
final class ClientConnections: Sendable {
    private let proxies: Proxies
    private let limiter: ConcurrencyLimiter

    init(maximum: Int, behind proxies: Proxies) {
        self.proxies = proxies
        limiter = ConcurrencyLimiter(perClient: maximum)
    }

    /// Returns false if the client's network has reached its maximum. After true, call ``release(of:)`` when the
    /// connection ends.
    func acquire(for client: IPAddress) -> Bool {
        proxies.isTrusted(client) || limiter.acquire(for: Network(client))
    }

    func release(of client: IPAddress) {
        if !proxies.isTrusted(client) { limiter.release(of: Network(client)) }
    }
}
