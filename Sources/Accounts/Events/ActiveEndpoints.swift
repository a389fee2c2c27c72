internal import Synchronization

/// The number of requests that this server is sending to each endpoint now. They decide how many further requests the
/// endpoint may have.
final class ActiveEndpoints: Sendable {
    /// A receiver of requests: the webhook or the logout URI of the application with that id.
    enum Endpoint: Hashable, Sendable {
        case webhook(String)
        case logout(String)
    }

    /// The maximum number of requests that this server sends to one endpoint at the same time.
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

    /// Returns how many further requests each webhook and each logout URI may have now, by the id of the application.
    /// All endpoints together may have `capacity` requests. Each has an equal share of them, from 1 to ``maximum``,
    /// even while others are idle. The result omits endpoints that may have no further request.
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
            // In random order, so that no endpoint always goes without if there are more endpoints than free places.
            for id in ids.shuffled() {
                let count = min(share - counts[endpoint(id), default: 0], free)
                guard count > 0 else { continue }
                places[id] = count
                free -= count
            }
            return places
        }
        // Logouts get their places first, because they are few and urgent.
        let logouts = places(logouts, Endpoint.logout)
        return (places(webhooks, Endpoint.webhook), logouts)
    }
}
