internal import Foundation
internal import Synchronization

/// The days whose drafts have a partition of their own.
///
/// An id tells the day, and a statement that names the partition costs PostgreSQL a third of one that has it looked for:
/// that takes and locks all of them each time (docs/performance.md).
package final class DraftDays: Sendable {
    /// By days since 1970.
    private let tables = Mutex<[Int: SQL]>([:])
    private let life: Duration

    /// - Parameter life: of a draft; the partition of its day stays for a day or two longer.
    init(life: Duration) {
        self.life = life
    }

    /// `drafts`, as far as the row can be in it. Of another day than one that surely has a partition it is the whole.
    func table(of draft: ID<Draft>) -> SQL {
        guard Date().timeIntervalSince(draft.madeAt) < life / .seconds(1) else { return "drafts" }
        return tables.withLock { $0[Self.day(of: draft)] } ?? "drafts"
    }

    /// The day has been dropped, by a server whose flow lets drafts live for a shorter time.
    func forget(theDayOf draft: ID<Draft>) {
        _ = tables.withLock { $0.removeValue(forKey: Self.day(of: draft)) }
    }

    private static func day(of draft: ID<Draft>) -> Int {
        Int((draft.madeAt.timeIntervalSince1970 / 86_400).rounded(.down))
    }

    /// Looks which there are.
    package func learn(from database: Database) async throws(DatabaseError) {
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
