import Synchronization

@testable import Accounts

/// Keeps the requests in memory, and answers them as the test says.
final class TestTransport: EventTransport {
    private struct State {
        var requests: [EventRequest] = []
        var outcomes: [String: EventOutcome] = [:]
    }

    private let state = Mutex(State())
    let capacity: Int

    init(capacity: Int = 32) { self.capacity = capacity }

    /// What follows to that URL; 204 by default.
    func answer(_ url: String, with outcome: EventOutcome?) {
        state.withLock { $0.outcomes[url] = outcome }
    }

    /// The requests since the last call.
    func take() -> [EventRequest] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    func post(_ request: EventRequest) async -> EventOutcome {
        state.withLock { state in
            state.requests.append(request)
            return state.outcomes[request.url] ?? .answered(status: 204, retryAfter: 0)
        }
    }
}

extension EventRequest {
    func header(_ name: String) -> String? {
        headers.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.utf8.count + 2)) }
    }

    var json: JSON? { try? JSON.read(body) }
}
