/// The reason why the key ring of a server does not fit its database.
package enum KeyMismatch: Equatable, Sendable, CustomStringConvertible {
    /// The key ring has no key with that id.
    case missing(String)
    /// The key ring has another key under that id.
    case different(String)

    package var description: String {
        switch self {
        case .missing(let id): "ACCOUNTS_KEYS lacks the key \"\(id)\" of this database"
        case .different(let id): "the key \"\(id)\" in ACCOUNTS_KEYS differs from the key \"\(id)\" of this database"
        }
    }
}

/// The sentinel is an encrypted row of the database that shows whether a key ring fits. The first server whose
/// keys fit inserts it at its start, and the rotation of keys encrypts it again.
extension KeyRing {
    /// Returns nil if the key ring decrypts the sentinel of the database. If there is no sentinel, first tries to
    /// decrypt one open draft, if there is any. Inserts the sentinel unless that fails: a server with wrong keys must
    /// not decide which keys are right.
    package func mismatch(with database: Database) async throws(DatabaseError) -> KeyMismatch? {
        var row = try await database.read(Self.selectSentinel).first
        if row == nil {
            let draft = try await database.read(
                "SELECT id, token_hash, revision, sealed FROM drafts WHERE account_id IS NULL LIMIT 1"
            ).first
            if let (id, tokenHash, revision, sealed) = try draft?.decode(
                ID<Draft>.self,
                [UInt8].self,
                Int.self,
                [UInt8].self
            ), (try? open(sealed, for: .draft(id, tokenHash: tokenHash, revision: revision))) == nil {
                return mismatch(of: sealed)
            }
            // Another server may insert the sentinel at the same time. The row that is in the table decides.
            row = try await database.transaction(
                "INSERT INTO key_sentinel (sealed) VALUES (\(sealedSentinel())) ON CONFLICT DO NOTHING",
                Self.selectSentinel
            )[1].first
        }
        guard let sealed = try row?.decode([UInt8].self) else {
            throw .unexpectedAnswer("key_sentinel has no row after the insertion")
        }
        return opensSentinel(sealed) ? nil : mismatch(of: sealed)
    }

    /// Like ``mismatch(with:)``, but for commands, which never insert a sentinel. Returns nil also if the database has
    /// no sentinel.
    package func mismatch(withServersOf database: Database) async throws(DatabaseError) -> KeyMismatch? {
        guard let sealed = try await database.read(Self.selectSentinel).first?.decode([UInt8].self) else { return nil }
        return opensSentinel(sealed) ? nil : mismatch(of: sealed)
    }

    /// Whether the database has no sentinel yet. The first server whose keys fit inserts it.
    package func isFirst(in database: Database) async throws(DatabaseError) -> Bool {
        try await database.read(Self.selectSentinel).isEmpty
    }

    /// Returns the reason why the key ring does not decrypt these bytes.
    private func mismatch(of sealed: [UInt8]) -> KeyMismatch {
        let id = Self.keyID(of: sealed) ?? "unknown"
        return hasKey(id) ? .different(id) : .missing(id)
    }

    /// Encrypts the sentinel with the first key, if there is a sentinel and another key has encrypted it. Returns false
    /// if no key of the key ring decrypts it.
    func renewSentinel(in database: Database) async throws(DatabaseError) -> Bool {
        guard let sealed = try await database.read(Self.selectSentinel).first?.decode([UInt8].self) else { return true }
        guard opensSentinel(sealed) else { return false }
        if !hasSealedWithFirst(sealed) {
            _ = try await database.transaction(
                "UPDATE key_sentinel SET sealed = \(sealedSentinel()) WHERE sealed = \(sealed)"
            )
        }
        return true
    }

    private static let selectSentinel: SQL = "SELECT sealed FROM key_sentinel"
    private static let sentinelPlace = SealedPlace(table: "key_sentinel", row: Array("key sentinel".utf8))

    private func sealedSentinel() -> [UInt8] { seal([], for: Self.sentinelPlace) }

    private func opensSentinel(_ sealed: [UInt8]) -> Bool { (try? open(sealed, for: Self.sentinelPlace)) != nil }
}
