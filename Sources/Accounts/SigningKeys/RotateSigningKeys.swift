package import Foundation

/// A signing key as an operator sees it.
package struct ListedSigningKey: Sendable {
    package let kid: String
    package let algorithm: String
    /// `next`, `live` or `old`.
    package let state: String
    package let createdAt: Date
    package let liveAt: Date?
    package let retiredAt: Date?
    package let isPublished: Bool
}

package enum SigningKeyRotationError: Error {
    /// The database contains no signing keys, because no server has needed them yet.
    case noKeys
    /// Until this time, clients may use an old JWK set, which lacks the next keys.
    case tooEarly(until: Date, now: Date)
    case database(DatabaseError)
}

extension Operator {
    /// Returns all signing keys, and the time of the database.
    package func signingKeys() async throws(DatabaseError) -> (keys: [ListedSigningKey], now: Date) {
        let results = try await database.transaction(
            """
            SELECT kid, algorithm, state, created_at, live_at, retired_at, \(SigningKeyStore.isPublished)
              FROM signing_keys ORDER BY array_position(ARRAY['next', 'live', 'old'], state), algorithm, retired_at DESC
            """,
            "SELECT now()"
        )
        var keys: [ListedSigningKey] = []
        for row in results[0] { keys.append(try ListedSigningKey(row)) }
        return (keys, try results[1].only.decode(Date.self))
    }

    /// Makes the next keys live and the live keys old, and stores new next keys.
    ///
    /// Throws `noKeys` if there are no next keys, and `tooEarly` while clients may have a JWK set without them.
    ///
    /// - Parameter isForced: whether to rotate at once, even if clients lack the next keys.
    package func rotateSigningKeys(isForced: Bool = false) async throws(SigningKeyRotationError) {
        let store = SigningKeyStore(database: database, keys: signups.keys)
        let new = await PrivateSigningKey.make(SigningAlgorithm.allCases)
        let rotates = Signups.flag("rotates")
        let result = try await converting(to: SigningKeyRotationError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [
                    "SELECT 1 FROM signing_keys WHERE state <> 'old' ORDER BY id FOR UPDATE",
                    Self.decision(isForced: isForced),
                    """
                    UPDATE signing_keys SET state = 'old', sealed = NULL, retired_at = now()
                     WHERE state = 'live' AND \(rotates)
                    """,
                    "UPDATE signing_keys SET state = 'live', live_at = now() WHERE state = 'next' AND \(rotates)",
                ] + new.map { store.insertion(of: $0, as: .next, when: rotates) } + [
                    "WITH \(audited(.rotateSigningKeys, over: "(SELECT WHERE \(rotates)) AS once")) SELECT 1"
                ]
            )[1]
            return try rows.only.decode(Bool.self, Date?.self, Date.self, String.self)
        }
        let (doesRotate, earliest, now, _) = result
        if doesRotate { return }
        guard let earliest else { throw .noKeys }
        throw .tooEarly(until: earliest, now: now)
    }

    /// Deletes all signing keys, and makes new live and next keys. For operators, if somebody else may have got a
    /// private key.
    ///
    /// A server signs with the deleted keys and accepts their tokens until it has read the keys again. It reads them no
    /// later than at the first use after a minute, if the database is available. A client accepts tokens of the deleted
    /// keys, and refuses those of the new keys, until it has read the JWK set again.
    package func revokeSigningKeys() async throws(DatabaseError) {
        let store = SigningKeyStore(database: database, keys: signups.keys)
        let live = await PrivateSigningKey.make(SigningAlgorithm.allCases)
        let next = await PrivateSigningKey.make(SigningAlgorithm.allCases)
        _ = try await database.transaction(
            [
                "SELECT 1 FROM signing_keys ORDER BY id FOR UPDATE",
                "DELETE FROM signing_keys",
            ] + live.map { store.insertion(of: $0, as: .live) } + next.map { store.insertion(of: $0, as: .next) } + [
                "WITH \(audited(.revokeSigningKeys, over: "(SELECT) AS once")) SELECT 1"
            ]
        )
    }

    /// Sets the flag `rotates` for the following statements of the transaction. Selects whether to rotate, the earliest
    /// time for a rotation (null if there are no next keys), and the present time.
    ///
    /// A rotation is too early until every server has published the next keys, which takes up to a minute, and every
    /// client has read them.
    private static func decision(isForced: Bool) -> SQL {
        let wait = (SigningKeys.publishedLifetime + SigningKeys.maximumAge).seconds
        return """
            WITH upcoming AS (
                SELECT max(created_at) + make_interval(secs => \(wait)) AS earliest
                  FROM signing_keys WHERE state = 'next'
            ), decided AS (SELECT earliest, coalesce(\(isForced) OR earliest <= now(), false) AS rotates FROM upcoming)
            SELECT rotates AND earliest IS NOT NULL, earliest, now(),
                   \(Signups.setFlag("rotates", "rotates AND earliest IS NOT NULL"))
              FROM decided
            """
    }
}

extension ListedSigningKey {
    fileprivate init(_ row: Row) throws(DatabaseError) {
        var columns = row.columns
        kid = try columns.next()
        algorithm = try columns.next()
        state = try columns.next()
        createdAt = try columns.next()
        liveAt = try columns.next()
        retiredAt = try columns.next()
        isPublished = try columns.next()
    }
}
