package import Logging
internal import ServiceLifecycle

/// Warns the operator if servers have different applications files. Each server stores its own applications at its
/// start and at each reload, so the server that stored them last decides which events all servers write.
package struct SubscriptionCheck: Sendable {
    private let subscribers: @Sendable () -> [EventSubscriber]
    private let database: Database
    private let logger: Logger
    private var differences = 0

    /// - Parameter subscribers: returns the current applications of this server.
    package init(
        subscribers: @escaping @Sendable () -> [EventSubscriber],
        database: Database,
        logger: Logger
    ) {
        (self.subscribers, self.database, self.logger) = (subscribers, database, logger)
    }

    /// Compares the stored applications with those of this server. Logs one warning when they have differed in two
    /// checks in a row: they differ for a moment while the servers reload one after another. Once they are the same,
    /// the next difference is logged again.
    package mutating func check() async {
        // Other parts of this server log that the database is unavailable.
        guard let ids = try? await database.applications(unlike: subscribers()) else { return }
        differences = ids.isEmpty ? 0 : differences + 1
        guard differences == 2 else { return }
        logger.warning(
            "another server has other applications; give all servers the same file, then send SIGHUP to each",
            metadata: ["applications": "\(ids.joined(separator: " "))"]
        )
    }
}

extension SubscriptionCheck: Service {
    /// Checks once a minute.
    package func run() async {
        var state = self
        for await _ in Ticks(every: .seconds(60)).cancelOnGracefulShutdown() { await state.check() }
    }
}
