/// Sends requests to applications.
package protocol EventTransport: Sendable {
    /// The maximum number of requests at the same time.
    var capacity: Int { get }
    /// Sends the request, waits for the response, and returns the outcome.
    func post(_ request: EventRequest) async -> EventOutcome
}

/// A POST request to an application.
package struct EventRequest: Sendable {
    package let url: String
    /// The header lines, each as `name: value`.
    package let headers: [String]
    package let body: [UInt8]

    package init(url: String, headers: [String], body: [UInt8]) {
        (self.url, self.headers, self.body) = (url, headers, body)
    }
}

/// The outcome of an ``EventRequest``.
package enum EventOutcome: Hashable, Sendable {
    /// The application has answered, with this status and this `Retry-After` in seconds; 0 if it sent none.
    case answered(status: Int, retryAfter: Int)
    /// There was no response with a final status, or the response broke off. The text is the reason.
    case failed(String)
}
