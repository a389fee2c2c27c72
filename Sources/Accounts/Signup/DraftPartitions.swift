internal import Foundation
internal import Synchronization

/// The partitions of the table `drafts`, one for the drafts of each day, as they were last read from the database.
///
/// The id of a draft contains its day. A statement that names the partition takes PostgreSQL a third of the time of a
/// statement on the whole table, because PostgreSQL opens and locks all partitions for the latter
/// (docs/performance.md).
package final class DraftPartitions: Sendable {
    /// Partitions by days since 1970.
    private let tables = Mutex<[Int: SQL]>([:])
    private let lifetime: Duration

    /// - Parameter lifetime: the maximum lifetime of a draft that no operator has extended. The partition of the draft
    ///   is kept at least a day longer.
    init(life lifetime: Duration) {
        self.lifetime = lifetime
    }

    /// Returns the partition that holds the draft, with the alias `drafts`; the whole table if the partition may not
    /// exist.
    func table(of draft: ID<Draft>) -> SQL {
        guard Date().timeIntervalSince(draft.madeAt) < lifetime / .seconds(1) else { return "drafts" }
        return tables.withLock { $0[Self.day(of: draft)] } ?? "drafts"
    }

    /// Removes a day whose partition was dropped by a server with a shorter draft lifetime in its flow.
    func forget(theDayOf draft: ID<Draft>) {
        _ = tables.withLock { $0.removeValue(forKey: Self.day(of: draft)) }
    }

    private static func day(of draft: ID<Draft>) -> Int {
        Int((draft.madeAt.timeIntervalSince1970 / 86_400).rounded(.down))
    }

    /// Reads the list of partitions.
    package func load(from database: Database) async throws(DatabaseError) {
        let rows = try await database.read(
            """
            SELECT (to_date(right(relname, 8), 'YYYYMMDD') - DATE '1970-01-01')::bigint, relname::text
              FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
             WHERE inhparent = 'drafts'::regclass AND relname ~ '^drafts_[0-9]{8}$'
            """
        )
        var found: [Int: SQL] = [:]
        for row in rows {
            let (day, name) = try row.decode(Int.self, String.self)
            found[day] = SQL(stringLiteral: "\(name) AS drafts")
        }
        tables.withLock { $0 = found }
    }
}
