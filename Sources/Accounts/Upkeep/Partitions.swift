internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Makes the partitions of the coming days, so that no draft has to stay with the stragglers.
package struct Partitions: Sendable {
    private let database: Database
    private let logger: Logger

    package init(database: Database, logger: Logger) {
        self.database = database
        self.logger = logger
    }

    /// Creates those of the next seven days that are missing.
    package func prepare() async throws(DatabaseError) {
        for day in 0...7 {
            _ = try await database.transaction(
                "SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date + \(day)::int)")
        }
    }
}

extension Partitions: Service {
    package func run() async throws {
        for await _ in Ticks(every: .seconds(3600)).cancelOnGracefulShutdown() {
            do throws(DatabaseError) {
                try await prepare()
            } catch {
                logger.error("the partitions of the coming days are not ready", metadata: ["reason": "\(error)"])
            }
        }
    }
}
