internal import Synchronization

/// The number of requests that this server is sending to each endpoint now. It decides how many further requests the
/// endpoint may have.
final class RequestsInFlight: Sendable {
    /// A receiver of requests: the webhook or the logout URI of the application with that id.
    enum Endpoint: Hashable, Sendable {
        case webhook(String)
        case logout(String)
    }

    /// The maximum number of requests that this server sends to one endpoint at the same time.
    static let maximumPerEndpoint = 8

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

    /// Returns how many further requests each of these endpoints may have now, and omits those that may have none. At
    /// most `capacity` requests are in flight to all endpoints together, and to each endpoint at most its share:
    /// `capacity` divided by the number of these endpoints, at least 1 and at most ``maximumPerEndpoint``.
    func freeSlots(for endpoints: [Endpoint], capacity: Int) -> [Endpoint: Int] {
        let inFlight = counts.withLock { $0 }
        let share = min(Self.maximumPerEndpoint, max(1, capacity / max(1, endpoints.count)))
        var free = capacity - inFlight.values.reduce(0, +)
        var slots: [Endpoint: Int] = [:]
        // In random order, so that no endpoint is left out every time if there are more endpoints than free slots.
        for endpoint in endpoints.shuffled() {
            let count = min(share - inFlight[endpoint, default: 0], free)
            guard count > 0 else { continue }
            slots[endpoint] = count
            free -= count
        }
        return slots
    }
}
