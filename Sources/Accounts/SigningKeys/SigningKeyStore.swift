/// The table of signing keys.
struct SigningKeyStore: Sendable {
    let database: Database
    let keys: KeyRing

    /// Reads the keys, and makes those that are missing.
    func load() async throws(DatabaseError) -> SigningKeySet {
        var stored = try await read()
        let missing = Place.all.filter { place in
            !stored.contains { $0.publicKey.algorithm == place.algorithm && $0.state == place.state }
        }
        if !missing.isEmpty {
            let new = await PrivateSigningKey.make(missing.map(\.algorithm))
            _ = try await database.transaction(zip(missing, new).map { insertion(of: $1, as: $0.state) })
            // Another server may have made them at the same time: the rows in the table decide.
            stored = try await read()
        }
        return SigningKeySet(
            verifying: Dictionary(stored.map { ($0.publicKey.kid, $0.publicKey) }) { first, _ in first },
            signing: Dictionary(stored.compactMap { key in signingKey(key).map { (key.publicKey.algorithm, $0) } }) {
                first,
                _ in first
            },
            published: ["keys": .array(stored.filter(\.isPublished).map(\.publicKey.jwk))]
        )
    }

    enum State: String, Sendable {
        /// Published, so that clients know the key before the first token that it signs.
        case next
        case live
        case old
    }

    private struct Place {
        let algorithm: SigningAlgorithm
        let state: State

        static let all = SigningAlgorithm.allCases.flatMap { algorithm in
            [State.live, .next].map { Place(algorithm: algorithm, state: $0) }
        }
    }

    private struct Stored {
        let id: ID<SigningKeys>
        let state: State
        let publicKey: PublicSigningKey
        /// Nil unless the key is live.
        let sealed: [UInt8]?
        let isPublished: Bool
    }

    private func read() async throws(DatabaseError) -> [Stored] {
        let rows = try await database.read(
            """
            SELECT id, state, public_jwk, CASE state WHEN 'live' THEN sealed END, \(Self.isPublished)
              FROM signing_keys ORDER BY array_position(ARRAY['live', 'next', 'old'], state), algorithm, retired_at DESC
            """
        )
        var stored: [Stored] = []
        for row in rows {
            let (id, name, jwk, sealed, isPublished) = try row.decode(
                ID<SigningKeys>.self,
                String.self,
                String.self,
                [UInt8]?.self,
                Bool.self
            )
            guard let state = State(rawValue: name),
                let publicKey = (try? JSON.read(Array(jwk.utf8))).flatMap({ PublicSigningKey($0) })
            else { throw .unexpectedAnswer("a row of signing_keys is no signing key") }
            stored.append(
                Stored(id: id, state: state, publicKey: publicKey, sealed: sealed, isPublished: isPublished)
            )
        }
        return stored
    }

    /// Nil for a key that is not live, and for one that no key of the ring opens.
    private func signingKey(_ stored: Stored) -> PrivateSigningKey? {
        guard let sealed = stored.sealed,
            let bytes = try? keys.open(sealed, for: .signingKey(stored.id)),
            let key = try? PrivateSigningKey(stored.publicKey.algorithm, derRepresentation: bytes),
            key.publicKey.kid == stored.publicKey.kid
        else { return nil }
        return key
    }

    /// Inserts nothing if another transaction has inserted a key for the same place.
    func insertion(of key: PrivateSigningKey, as state: State, when condition: SQL = "true") -> SQL {
        let id = ID<SigningKeys>()
        let liveAt: SQL = state == .live ? "now()" : "NULL"
        return """
            INSERT INTO signing_keys (id, algorithm, state, kid, public_jwk, sealed, live_at)
            SELECT \(id), \(key.publicKey.algorithm.rawValue), \(state.rawValue), \(key.publicKey.kid),
                   \(key.publicKey.jwk.text), \(keys.seal(key.derRepresentation, for: .signingKey(id))), \(liveAt)
             WHERE \(condition)
            ON CONFLICT DO NOTHING
            """
    }

    /// An old key is published for a day more. Tokens live for minutes, but clients may be slow.
    static let isPublished: SQL = "(state <> 'old' OR retired_at > now() - interval '24 hours')"

    /// The condition of a key that verifies nothing any more: a client may show an expired ID token for 30 days.
    static let isExpired: SQL = "retired_at < now() - interval '31 days'"
}

extension SealedPlace {
    static func signingKey(_ id: ID<SigningKeys>) -> SealedPlace { SealedPlace(table: "signing_keys", row: id.bytes) }
}
