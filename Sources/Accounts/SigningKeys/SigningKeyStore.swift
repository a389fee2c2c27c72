/// Reads and writes the table `signing_keys`.
struct SigningKeyStore: Sendable {
    let database: Database
    let keys: KeyRing

    /// Reads the keys. If an algorithm lacks a live or a next key, first makes the missing key.
    func load() async throws(DatabaseError) -> SigningKeySet {
        var stored = try await read()
        let missing = Place.all.filter { place in
            !stored.contains { $0.publicKey.algorithm == place.algorithm && $0.state == place.state }
        }
        if !missing.isEmpty {
            let new = await PrivateSigningKey.make(missing.map(\.algorithm))
            _ = try await database.transaction(zip(missing, new).map { insertion(of: $1, as: $0.state) })
            // Another server may have inserted such keys at the same time. Then the statements have inserted nothing.
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
        /// Is published but does not sign yet, so that clients know it before they get a token that it has signed.
        case next
        /// Signs tokens.
        case live
        /// Only verifies tokens.
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
        /// The encrypted private key; nil unless the key is live.
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
            else { throw .unexpectedAnswer("a row of signing_keys is not a valid signing key") }
            stored.append(
                Stored(id: id, state: state, publicKey: publicKey, sealed: sealed, isPublished: isPublished)
            )
        }
        return stored
    }

    /// Decrypts the private key. Returns nil if the key is not live, or no key of the key ring decrypts it.
    private func signingKey(_ stored: Stored) -> PrivateSigningKey? {
        guard let sealed = stored.sealed,
            let bytes = try? keys.open(sealed, for: .signingKey(stored.id)),
            let key = try? PrivateSigningKey(stored.publicKey.algorithm, derRepresentation: bytes),
            key.publicKey.kid == stored.publicKey.kid
        else { return nil }
        return key
    }

    /// Returns a statement that inserts the key, unless the condition is false, or a live or next key of the same
    /// algorithm and state exists already.
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

    /// An old key stays published for 24 hours. Its tokens expire within minutes, but clients may verify them later.
    static let isPublished: SQL = "(state <> 'old' OR retired_at > now() - interval '24 hours')"

    /// The condition under which an old key is deleted. Until then, it verifies expired ID tokens that an application
    /// presents.
    static let isExpired: SQL = "retired_at < now() - interval '31 days'"
}

extension SealedPlace {
    static func signingKey(_ id: ID<SigningKeys>) -> SealedPlace { SealedPlace(table: "signing_keys", row: id.bytes) }
}
