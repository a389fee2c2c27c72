internal import Foundation

extension Operator {
    /// What was moved to the first key of the ring.
    package struct Rotated: Hashable, Sendable {
        package var drafts = 0
        package var mails = 0
        package var authenticators = 0
        package var photos = 0
        /// Drafts, mails, authenticators and photos whose key is not in the ring.
        package var unreadable = 0
    }

    /// Seals with the first key of the ring whatever another key has sealed, and writes its digests with that key, so that
    /// the others can be taken from the ring. Only codes that are on their way stay with the key of their time: their
    /// digests cannot be made anew.
    ///
    /// It may be broken off and run again, and whatever is written meanwhile is written with the first key.
    package func rotateKeys() async throws(DatabaseError) -> Rotated {
        _ = try await database.transaction(
            "WITH \(audited(.rotateKeys, over: "(SELECT) AS once")) SELECT 1"
        )
        var rotated = Rotated()
        try await rotateDrafts(&rotated)
        try await rotate("outbox", "id", where: "sealed IS NOT NULL", counting: \.mails, &rotated)
        try await rotate("authenticators", "account", where: "true", counting: \.authenticators, &rotated)
        // They are large.
        try await rotate("draft_photos", "id", where: "true", counting: \.photos, by: 10, &rotated)
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

    /// False where nothing of the draft was another key's, or somebody wrote to it meanwhile.
    private func rotate(_ id: ID<Draft>, _ sealed: [UInt8], _ values: Values) async throws(DatabaseError) -> Bool {
        let isCurrent = signups.keys.hasSealedWithFirst(sealed)
        let renewed = isCurrent ? sealed : signups.keys.seal(values.sealable, for: id.bytes)
        let digest = signups.identifyingAddress(in: values).map { signups.addressDigests($0)[0] }
        var parts: SQL = """
            WITH resealed AS (
                UPDATE drafts SET sealed = \(renewed), email_digest = \(digest)
                 WHERE id = \(id) AND sealed = \(sealed)
                   AND (NOT \(isCurrent) OR email_digest IS DISTINCT FROM \(digest)) RETURNING 1
            )
            """
        for (number, field) in flow.fields.enumerated() {
            guard let value = values[field.name]?.string else { continue }
            let part = SQL(stringLiteral: "moved_\(number)")
            if field.kind is EmailField {
                let digests = signups.addressDigests(value)
                parts = """
                    \(parts), \(part) AS (
                        UPDATE proofs SET address_digest = \(digests[0])
                         WHERE draft = \(id) AND address_digest = ANY (\(ByteStrings(Array(digests.dropFirst()))))
                    )
                    """
            } else if field.kind is UsernameField, field.isIdentifier {
                let digests = signups.nameDigests(value, UsernameField.name)
                parts = """
                    \(parts), \(part) AS (
                        UPDATE leases SET value = \(digests[0])
                         WHERE draft = \(id) AND value = ANY (\(ByteStrings(Array(digests.dropFirst()))))
                    )
                    """
            }
        }
        return try await database.transaction(
            "SELECT 1 FROM drafts WHERE id = \(id) FOR UPDATE",
            "\(parts) SELECT EXISTS (SELECT FROM resealed)"
        )[1].only.decode(Bool.self)
    }

    /// The sealed column of a table whose rows are sealed for their key.
    private func rotate(
        _ table: SQL,
        _ key: SQL,
        where condition: SQL,
        counting count: WritableKeyPath<Rotated, Int>,
        by batch: Int = Self.batch,
        _ rotated: inout Rotated
    ) async throws(DatabaseError) {
        var last = Self.first
        while true {
            let rows = try await database.read(
                """
                SELECT \(key), sealed FROM \(table) WHERE \(condition) AND \(key) > \(last) ORDER BY \(key)
                 LIMIT \(batch)
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
                    "UPDATE \(table) SET sealed = \(renewed) WHERE \(key) = \(id) AND sealed = \(sealed) RETURNING 1"
                )[0]
                rotated[keyPath: count] += changed.count
            }
            if rows.count < batch { return }
        }
    }
}
