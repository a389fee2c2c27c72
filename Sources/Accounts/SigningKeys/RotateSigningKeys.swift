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
    /// No server has needed the keys yet.
    case noKeys
    /// Clients may not know the next keys until then.
    case tooEarly(until: Date, now: Date)
    case database(DatabaseError)
}

extension Operator {
    /// All signing keys, with the time of the database.
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

    /// The next keys become the live ones, the live ones become old, and new next keys are published.
    ///
    /// Throws `tooEarly` while clients may have a JWK set without the next keys.
    ///
    /// - Parameter isForced: does not wait for the clients, because a live key is known to others.
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

    /// Decides for the following statements of the transaction whether to rotate. Selects the decision, when a rotation
    /// is possible, and the time.
    ///
    /// A server publishes new keys up to a minute after they were made.
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
