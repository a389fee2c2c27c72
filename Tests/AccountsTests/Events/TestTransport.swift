import Synchronization

@testable import Accounts

/// A transport that keeps the requests in memory, and answers them with the outcomes that the test sets.
final class TestTransport: EventTransport {
    private struct State {
        var requests: [EventRequest] = []
        var outcomes: [String: EventOutcome] = [:]
    }

    private let state = Mutex(State())
    let capacity: Int

    init(capacity: Int = 32) { self.capacity = capacity }

    /// Sets the outcome of the following requests to this URL. Nil restores the default, status 204.
    func answer(_ url: String, with outcome: EventOutcome?) {
        state.withLock { $0.outcomes[url] = outcome }
    }

    /// Returns and removes the requests since the last call.
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
