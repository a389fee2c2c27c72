/// Sends requests to applications.
package protocol EventTransport: Sendable {
    /// The maximum number of requests at the same time.
    var capacity: Int { get }
    /// Never fails: a failure is an outcome.
    func post(_ request: EventRequest) async -> EventOutcome
}

/// A POST request to an application.
package struct EventRequest: Sendable {
    package let url: String
    /// Each as `name: value`.
    package let headers: [String]
    package let body: [UInt8]

    package init(url: String, headers: [String], body: [UInt8]) {
        (self.url, self.headers, self.body) = (url, headers, body)
    }
}

/// What has become of an ``EventRequest``.
package enum EventOutcome: Hashable, Sendable {
    /// The status of the response, and its `Retry-After` in seconds, or 0.
    case answered(status: Int, retryAfter: Int)
    /// There was no whole response, for this reason.
    case failed(String)
}
