internal import Synchronization

/// The work of the service for one request, as the request log shows it. Contains only names of rate limits, counts and
/// durations.
package final class RequestWork: Sendable {
    /// The work of the request that the present task answers; nil if the log level of the request is above `debug`, or
    /// if the task answers no request.
    @TaskLocal package static var current: RequestWork?

    package struct Totals: Sendable {
        /// The number of transactions and single statements. Each takes one round trip to PostgreSQL, unless it is
        /// repeated.
        package fileprivate(set) var roundTrips = 0
        /// The time of the round trips, including the waits for a connection.
        package fileprivate(set) var database = Duration.zero
        package fileprivate(set) var hashes = 0
        /// The time that passwords have waited for a worker.
        package fileprivate(set) var hashWait = Duration.zero
        /// The time that workers have spent on passwords.
        package fileprivate(set) var hash = Duration.zero
        /// The names of the rate limits that were checked, each once.
        package fileprivate(set) var limits: [String] = []
    }

    private let state = Mutex(Totals())

    package init() {}

    package var totals: Totals { state.withLock { $0 } }

    func addRoundTrip(_ time: Duration) {
        state.withLock { totals in
            totals.roundTrips += 1
            totals.database += time
        }
    }

    func addHash(wait: Duration, time: Duration) {
        state.withLock { totals in
            totals.hashes += 1
            totals.hashWait += wait
            totals.hash += time
        }
    }

    func addLimit(_ name: String) {
        state.withLock { if !$0.limits.contains(name) { $0.limits.append(name) } }
    }
}
