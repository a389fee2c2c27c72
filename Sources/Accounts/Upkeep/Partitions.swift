internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Creates the partitions of today and the coming days, so that new drafts need not go to the default partition
/// `drafts_other`, and loads the list of existing partitions.
package struct Partitions: Sendable {
    private let database: Database
    private let days: DraftPartitions?
    private let metrics: Metrics
    private let logger: Logger

    package init(database: Database, days: DraftPartitions? = nil, metrics: Metrics = Metrics(), logger: Logger) {
        self.database = database
        self.days = days
        self.metrics = metrics
        self.logger = logger
    }

    /// Creates the missing partitions of today and the next seven days. If one cannot be created, for example because
    /// `drafts_other` has drafts of that day, creates the others, loads the list, and then throws the first error.
    package func prepare() async throws(DatabaseError) {
        var failure: DatabaseError?
        for day in 0...7 {
            do throws(DatabaseError) {
                // The lock lets one server at a time create the partition. The next server finds that it exists.
                _ = try await database.transaction(
                    "SELECT pg_advisory_xact_lock('drafts'::regclass::oid::bigint)",
                    "SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date + \(day)::int)"
                )
            } catch {
                failure = failure ?? error
            }
        }
        do throws(DatabaseError) { try await days?.load(from: database) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }
}

extension Partitions: Service {
    package func run() async throws {
        for await _ in Ticks(every: .seconds(3600)).cancelOnGracefulShutdown() {
            do throws(DatabaseError) {
                try await prepare()
            } catch {
                metrics.failures.add(1, "partitions")
                logger.error(
                    "cannot create the partitions of the coming days, or list the existing ones",
                    metadata: ["reason": "\(error)"]
                )
            }
        }
    }
}
