package import Logging
internal import ServiceLifecycle

/// Warns the operator if the event settings of this server's applications differ from those in the database: the types
/// of events, and whether there is a webhook and a back-channel logout. Each server stores its settings at its start
/// and at each reload. The settings that were stored last decide which events and logouts all servers write. Other
/// differences between the applications files are not detected.
package struct SubscriptionCheck: Sendable {
    private let subscribers: @Sendable () -> [EventSubscriber]
    private let database: Database
    private let logger: Logger
    private var consecutiveDifferences = 0

    /// - Parameter subscribers: returns the current applications of this server.
    package init(
        subscribers: @escaping @Sendable () -> [EventSubscriber],
        database: Database,
        logger: Logger
    ) {
        (self.subscribers, self.database, self.logger) = (subscribers, database, logger)
    }

    /// Compares the stored event settings with those of this server. Logs one warning when two successful checks in a
    /// row find a difference. Does not warn after the first check with a difference, because the check may fall between
    /// the reloads of two servers. Warns again only after a check without a difference.
    package mutating func check() async {
        // Skips this check if the query fails; a failed query neither counts nor resets the count.
        guard let differing = try? await database.applications(unlike: subscribers()) else { return }
        consecutiveDifferences = differing.isEmpty ? 0 : consecutiveDifferences + 1
        guard consecutiveDifferences == 2 else { return }
        logger.warning(
            """
            the database has other event settings for these applications; give all servers the same APPLICATIONS_FILE, \
            then restart the servers that had none, and send SIGHUP to the others
            """,
            metadata: ["applications": "\(differing.joined(separator: " "))"]
        )
    }
}

extension SubscriptionCheck: Service {
    /// Checks at the start and once a minute.
    package func run() async {
        var check = self
        for await _ in Ticks(every: .seconds(60)).cancelOnGracefulShutdown() { await check.check() }
    }
}
