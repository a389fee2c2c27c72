internal import Foundation

extension Operator {
    /// The numbers of re-encrypted rows.
    package struct Rotated: Hashable, Sendable {
        package var drafts = 0
        /// By the name of the table in the report; a table without such rows has no entry.
        package var rows: [String: Int] = [:]
        /// The number of drafts and rows that no key of the ring can decrypt.
        package var unreadable = 0
    }

    /// Re-encrypts all data with the first key of the ring and recomputes its digests with that key, so that the other
    /// keys can be removed. Codes that were already sent are an exception: their digests cannot be recomputed, so they
    /// need the old key until they expire. Without it, an accepted code is refused when it is repeated.
    ///
    /// The rotation can be interrupted and run again. Concurrent writes use the first key.
    package func rotateKeys() async throws(DatabaseError) -> Rotated {
        _ = try await database.transaction(
            "WITH \(audited(.rotateKeys, over: "(SELECT) AS once")) SELECT 1"
        )
        var rotated = Rotated()
        try await rotateDrafts(&rotated)
        for table in Self.sealedTables { try await rotate(table, &rotated) }
        // Comes last: servers without the old keys are not ready until everything else is re-encrypted.
        if try await !signups.keys.renewSentinel(in: database) { rotated.unreadable += 1 }
        return rotated
    }

    private static let batch = 200
    private static let first = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    private func rotateDrafts(_ rotated: inout Rotated) async throws(DatabaseError) {
        var last = Self.first
        while true {
            let rows = try await database.read(
                """
                SELECT id, sealed FROM drafts WHERE account_id IS NULL AND id > \(last) ORDER BY id LIMIT \(Self.batch)
                """
            )
            for row in rows {
                let (id, sealed) = try row.decode(ID<Draft>.self, [UInt8].self)
                last = id.rawValue
                guard let values = signups.open(sealed, of: id) else {
                    rotated.unreadable += 1
                    continue
                }
                if try await rotate(id, sealed, values) { rotated.drafts += 1 }
            }
            if rows.count < Self.batch { return }
        }
    }

    /// Returns false if the draft uses only the first key already, or if a concurrent write has changed it.
    private func rotate(_ id: ID<Draft>, _ sealed: [UInt8], _ values: Values) async throws(DatabaseError) -> Bool {
        let isCurrent = signups.keys.hasSealedWithFirst(sealed)
        let renewed = isCurrent ? sealed : signups.keys.seal(values.sealable, for: id.bytes)
        let digest = signups.identifyingAddress(in: values).map { signups.addressDigests($0)[0] }
        let reseal: SQL = """
            UPDATE drafts SET sealed = \(renewed), email_digest = \(digest)
             WHERE id = \(id) AND sealed = \(sealed)
               AND (NOT \(isCurrent) OR email_digest IS DISTINCT FROM \(digest)) RETURNING 1
            """
        let renewDigests = flow.fields.flatMap { field -> [SQL] in
            field.kind.renewDigests(in: values, of: field, of: id, by: signups)
        }
        let lock: SQL = "SELECT 1 FROM drafts WHERE id = \(id) FOR UPDATE"
        return try await !database.transaction([lock, reseal] + renewDigests)[1].isEmpty
    }

    /// Re-encrypts the column `sealed` of a table. Each value is bound to the key column of its row.
    private func rotate(_ table: SealedTable, _ rotated: inout Rotated) async throws(DatabaseError) {
        var last = Self.first
        while true {
            let rows = try await database.read(
                """
                SELECT \(table.key), sealed FROM \(table.table)
                 WHERE \(table.condition) AND \(table.key) > \(last) ORDER BY \(table.key) LIMIT \(table.batch)
                """
            )
            for row in rows {
                let (id, sealed) = try row.decode(UUID.self, [UInt8].self)
                last = id
                if signups.keys.hasSealedWithFirst(sealed) { continue }
                guard let plain = try? signups.keys.open(sealed, for: id.sqlBytes) else {
                    rotated.unreadable += 1
                    continue
                }
                let renewed = signups.keys.seal(plain, for: id.sqlBytes)
                let changed = try await database.transaction(
                    """
                    UPDATE \(table.table) SET sealed = \(renewed)
                     WHERE \(table.key) = \(id) AND sealed = \(sealed) RETURNING 1
                    """
                )[0]
                if !changed.isEmpty { rotated.rows[table.name, default: 0] += 1 }
            }
            if rows.count < table.batch { return }
        }
    }

    /// The tables other than `drafts` with encrypted rows.
    package static let sealedTables =
        [SealedTable(name: "mails", table: "outbox", key: "id", condition: "sealed IS NOT NULL")]
        + Kinds.all.flatMap { $0.sealedTables }.sorted { $0.name < $1.name }
}
