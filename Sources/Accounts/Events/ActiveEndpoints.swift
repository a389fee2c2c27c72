internal import Synchronization

/// Which endpoints have requests of this server under way, and how many more they may have.
final class ActiveEndpoints: Sendable {
    /// What gets requests: the webhook of an application, or its logout URI.
    enum Endpoint: Hashable, Sendable {
        case webhook(String)
        case logout(String)
    }

    /// The maximum number of requests to one endpoint at the same time.
    static let maximum = 8

    private let counts = Mutex<[Endpoint: Int]>([:])

    func begin(_ endpoint: Endpoint) {
        counts.withLock { $0[endpoint, default: 0] += 1 }
    }

    func end(_ endpoint: Endpoint) {
        counts.withLock { counts in
            counts[endpoint, default: 1] -= 1
            if counts[endpoint] == 0 { counts[endpoint] = nil }
        }
    }

    /// How many more requests each application may have, if all endpoints together may have `capacity`. Endpoints have
    /// equal shares, also while others are idle; leaves out those without a place.
    func places(
        webhooks: [String],
        logouts: [String],
        of capacity: Int
    ) -> (webhooks: [String: Int], logouts: [String: Int]) {
        let counts = counts.withLock { $0 }
        let share = min(Self.maximum, max(1, capacity / max(1, webhooks.count + logouts.count)))
        var free = capacity - counts.values.reduce(0, +)
        func places(_ ids: [String], _ endpoint: (String) -> Endpoint) -> [String: Int] {
            var places: [String: Int] = [:]
            // In any order, in case there are more endpoints than places.
            for id in ids.shuffled() {
                let count = min(share - counts[endpoint(id), default: 0], free)
                guard count > 0 else { continue }
                places[id] = count
                free -= count
            }
            return places
        }
        // Logouts are few, and urgent.
        let logouts = places(logouts, Endpoint.logout)
        return (places(webhooks, Endpoint.webhook), logouts)
    }
}
