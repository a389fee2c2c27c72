internal import Foundation

extension Operator {
    /// The result of a key rotation.
    package struct Rotated: Hashable, Sendable {
        /// The number of drafts that were re-encrypted or whose address got a new digest.
        package var drafts = 0
        /// The number of re-encrypted rows of each table, by ``SealedTable/plural``. A table without such rows has no
        /// entry.
        package var rows: [String: Int] = [:]
        /// The number of drafts and rows that no key of the ring can decrypt.
        package var unreadable = 0
        /// The ids of the keys that have encrypted unreadable drafts and rows, and are not in the ring.
        package var missingKeys: Set<String> = []
        /// For each key except the first, by its id: the number of passwords whose hash needs the pepper of this key. A
        /// hash cannot be computed again without its password, so the key must stay in the ring.
        package var passwords: [String: Int] = [:]
        /// The number of passwords that need a key that is not in the ring. A hash has only the id of a pepper, so the
        /// ids of these keys are not known.
        package var passwordsWithoutKey = 0

        /// Counts a value that no key of the ring can decrypt.
        fileprivate mutating func countUnreadable(_ sealed: [UInt8], in ring: KeyRing) {
            unreadable += 1
            if let key = KeyRing.keyID(of: sealed), !ring.hasKey(key) { missingKeys.insert(key) }
        }

        /// Adds a number of passwords to the count of the key whose pepper has this id. Counts none for the first key
        /// of the ring, and for passwords without a pepper (nil).
        fileprivate mutating func count(_ number: Int, _ pepperID: [UInt8]?, in ring: KeyRing) {
            guard let pepperID, pepperID != ring.pepper?.id else { return }
            if let key = ring.ids.first(where: { $0.pepper == pepperID })?.key {
                passwords[key, default: 0] += number
            } else {
                passwordsWithoutKey += number
            }
        }
    }

    /// Re-encrypts the drafts, the rows of ``sealedTables`` and the sentinel (the row of `key_sentinel`) with the first
    /// key of the ring, and computes the digests of the addresses and usernames in these drafts again with that key.
    /// The other keys can be removed some time later, unless a password needs their pepper (``removableKeys(after:)``).
    ///
    /// The digests of mailed codes cannot be computed again, and unfinished sign-ins are not re-encrypted. The old key
    /// must therefore stay in the ring until these codes and sign-ins have expired. If it is removed earlier, the
    /// servers refuse them, and repeated submissions of accepted codes. For up to 30 days, its removal also ends
    /// refresh tokens that the application has not exchanged since the servers use the new key, and counts of rate
    /// limits and failed sign-ins.
    ///
    /// A rotation that was interrupted can be run again. Servers may write during the rotation if they have the same
    /// first key.
    package func rotateKeys() async throws(DatabaseError) -> Rotated {
        _ = try await database.transaction(
            "WITH \(audited(.rotateKeys, over: "(SELECT) AS once")) SELECT 1"
        )
        var rotated = Rotated()
        try await rotateDrafts(&rotated)
        for table in Self.sealedTables { try await rotate(table, &rotated) }
        // Comes after the drafts, so that the password of a draft that becomes an account meanwhile is counted.
        for select in KindList.all.compactMap({ $0.pepperedAccounts }) {
            for row in try await database.read(select) {
                let (pepper, number) = try row.decode(String.self, Int.self)
                // A text that is not the id of a pepper counts as a password without a key.
                rotated.count(number, PHCString.keyID(Substring(pepper)) ?? [], in: signups.keys)
            }
        }
        // Comes last: a server that has only the new key works as soon as it can decrypt the sentinel. It must then be
        // able to decrypt everything else.
        if try await !signups.keys.renewSentinel(in: database) { rotated.unreadable += 1 }
        return rotated
    }

    /// The ids of the keys that can be removed when the codes that were mailed and the sign-ins that began before the
    /// rotation have expired. None if some data cannot be decrypted.
    package func removableKeys(after rotated: Rotated) -> [String] {
        if rotated.unreadable > 0 { return [] }
        return signups.keys.ids.dropFirst().map(\.key).filter { rotated.passwords[$0] == nil }
    }

    private static let batch = 1000
    private static let first = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    private func rotateDrafts(_ rotated: inout Rotated) async throws(DatabaseError) {
        var last = Self.first
        while true {
            let rows = try await database.read(
                """
                SELECT id, token_hash, revision, sealed, account_id IS NULL FROM drafts
                 WHERE id > \(last) ORDER BY id LIMIT \(Self.batch)
                """
            )
            for row in rows {
                let (id, tokenHash, revision, sealed, isUnfinished) = try row.decode(
                    ID<Draft>.self,
                    [UInt8].self,
                    Int.self,
                    [UInt8].self,
                    Bool.self
                )
                last = id.rawValue
                // Most committed drafts have no values.
                if sealed.isEmpty { continue }
                let place = SealedPlace.draft(id, tokenHash: tokenHash, revision: revision)
                guard let values = signups.open(sealed, at: place) else {
                    // A committed draft has only the application or page to which its person returns. It does not
                    // count, because no command can delete its row.
                    if isUnfinished { rotated.countUnreadable(sealed, in: signups.keys) }
                    continue
                }
                for field in flow.fields {
                    rotated.count(1, field.kind.pepperID(in: values, of: field.name), in: signups.keys)
                }
                if try await rotate(id, sealed, values, place) { rotated.drafts += 1 }
            }
            if rows.count < Self.batch { return }
        }
    }

    /// Re-encrypts one draft and computes its digests again. Returns false if the first key had already encrypted the
    /// draft and computed the digest of its address, or if another write has changed the draft.
    private func rotate(
        _ id: ID<Draft>,
        _ sealed: [UInt8],
        _ values: Values,
        _ place: SealedPlace
    ) async throws(DatabaseError) -> Bool {
        let isCurrent = signups.keys.hasSealedWithFirst(sealed)
        let renewed = isCurrent ? sealed : signups.keys.seal(values.sealable, for: place)
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

    /// Re-encrypts the column `sealed` of a table.
    private func rotate(_ table: SealedTable, _ rotated: inout Rotated) async throws(DatabaseError) {
        let name = SQL(stringLiteral: table.table)
        var last = Self.first
        while true {
            let rows = try await database.read(
                """
                SELECT \(table.key), sealed FROM \(name)
                 WHERE \(table.condition) AND \(table.key) > \(last) ORDER BY \(table.key) LIMIT \(table.batch)
                """
            )
            for row in rows {
                let (id, sealed) = try row.decode(UUID.self, [UInt8].self)
                last = id
                if signups.keys.hasSealedWithFirst(sealed) { continue }
                let place = SealedPlace(table: table.table, row: id.sqlBytes)
                guard let plain = try? signups.keys.open(sealed, for: place) else {
                    rotated.countUnreadable(sealed, in: signups.keys)
                    continue
                }
                let renewed = signups.keys.seal(plain, for: place)
                let changed = try await database.transaction(
                    """
                    UPDATE \(name) SET sealed = \(renewed)
                     WHERE \(table.key) = \(id) AND sealed = \(sealed) RETURNING 1
                    """
                )[0]
                if !changed.isEmpty { rotated.rows[table.plural, default: 0] += 1 }
            }
            if rows.count < table.batch { return }
        }
    }

    /// The tables that a rotation re-encrypts in addition to `drafts` and `key_sentinel`. Other encrypted rows, such as
    /// those of `sign_ins`, are useless within minutes.
    package static let sealedTables =
        [
            SealedTable(plural: "mails", singular: "mail", table: "outbox", key: "id", condition: "sealed IS NOT NULL"),
            SealedTable(plural: "sessions", singular: "session", table: "sessions", key: "id"),
            SealedTable(plural: "addresses", singular: "address", table: "address_changes", key: "id"),
            SealedTable(
                plural: "signing keys",
                singular: "signing key",
                table: "signing_keys",
                key: "id",
                condition: "sealed IS NOT NULL"
            ),
        ]
        + KindList.all.flatMap { $0.sealedTables }.sorted { $0.plural < $1.plural }
}
