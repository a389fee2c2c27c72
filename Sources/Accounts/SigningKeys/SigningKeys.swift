package import Foundation
internal import Synchronization

package enum SigningError: Error {
    /// The token was not signed by this service, is of another type, or is malformed.
    case invalid
    /// No key of the ring opens the key that signs.
    case unreadable
    case database(DatabaseError)
}

/// Signs tokens, and verifies those that the service has signed.
///
/// The keys are rows of the database. The first server that needs them makes them. A server reads them again after a
/// minute, and when a token names a key that it does not know.
package final class SigningKeys: Sendable {
    private let store: SigningKeyStore
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())
    private let recentTokens = Mutex(RecentTokens())

    private struct State {
        var keys: SigningKeySet?
        var readAt: ContinuousClock.Instant?
        /// Requests that wait for the one that reads; nil if none reads.
        var waiting: [CheckedContinuation<Void, Never>]?
    }

    /// The maximum age of the keys that a server uses.
    static let maximumAge = Duration.seconds(60)
    /// The minimum time between two reads because of unknown keys, which anybody can invent.
    static let minimumAge = Duration.seconds(5)
    /// The time for which clients may keep the JWK set: `max-age` of the answer that contains it.
    package static let publishedLifetime = Duration.seconds(900)

    /// - Parameter now: the present time; tests set it.
    package init(
        database: Database,
        keys: KeyRing,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        store = SigningKeyStore(database: database, keys: keys)
        self.now = now
    }

    /// A token in the compact form (RFC 7515 §7.1).
    ///
    /// - Parameter claims: of several with the same name, only the first one is in the token. So put the claims of the
    ///   protocol before those of a person.
    package func sign(
        _ claims: [JSON.Member],
        type: JWTType,
        by algorithm: SigningAlgorithm
    ) async throws(SigningError) -> String {
        Self.sign(claims, type, try await key(algorithm))
    }

    /// A token with `iat` and `exp` and these claims. The same token again if they were signed with the same key less than
    /// ``RecentTokens/maximumAge`` seconds ago; then only the times are older.
    ///
    /// - Parameters:
    ///   - now: the time for `iat`, which must be that of the database for all calls.
    ///   - lifetime: the time from `iat` to `exp`, the same for all tokens of the type.
    package func signOrReuse(
        _ claims: [JSON.Member],
        type: JWTType,
        by algorithm: SigningAlgorithm,
        at now: Date,
        for lifetime: Duration
    ) async throws(SigningError) -> String {
        let key = try await key(algorithm)
        let now = Int(now.timeIntervalSince1970)
        let content = RecentTokens.Content(type: type, kid: key.publicKey.kid, claims: JSON.object(claims).bytes)
        if let token = recentTokens.withLock({ $0.token(for: content, at: now) }) { return token }
        let times = [JSON.Member("iat", .integer(now)), JSON.Member("exp", .integer(now + lifetime.seconds))]
        let token = Self.sign(claims + times, type, key)
        recentTokens.withLock { $0.insert(token, for: content, issuedAt: now) }
        return token
    }

    private func key(_ algorithm: SigningAlgorithm) async throws(SigningError) -> PrivateSigningKey {
        guard let key = try await keys(olderThan: Self.maximumAge).signing[algorithm] else { throw .unreadable }
        return key
    }

    private static func sign(_ claims: [JSON.Member], _ type: JWTType, _ key: PrivateSigningKey) -> String {
        do { return try JWT.sign(claims, type: type, by: key) } catch {
            preconditionFailure("a key signs anything: \(error)")
        }
    }

    /// Verifies a token of this service, which may have expired. Throws `invalid` for any other text.
    package func verify(_ text: String, type: JWTType) async throws(SigningError) -> VerifiedJWT {
        guard let token = JWT(text, type: type) else { throw .invalid }
        var key = try await keys(olderThan: Self.maximumAge).verifying[token.kid]
        if key == nil { key = try await keys(olderThan: Self.minimumAge, waits: true).verifying[token.kid] }
        guard let key, let verified = token.verified(by: key, type: type) else { throw .invalid }
        return verified
    }

    /// What a token says that names a key which the service does not have, as tokens do whose key was deleted. Anybody can
    /// have written it. Returns nil for any other text.
    func unverified(_ text: String, type: JWTType) async throws(SigningError) -> JSON? {
        guard let token = JWT(text, type: type), let claims = token.claims(type: type) else { return nil }
        return try await keys(olderThan: Self.maximumAge).verifying[token.kid] == nil ? claims : nil
    }

    /// The JWK set (RFC 7517 §5): the keys that sign now, those that will, and those that did until yesterday.
    package var published: JSON {
        get async throws(SigningError) { try await keys(olderThan: Self.maximumAge).published }
    }

    // MARK: Reading

    private enum Step {
        case use(SigningKeySet)
        case wait, read
    }

    /// The keys, read again if they are older than that. One request reads for all.
    ///
    /// - Parameter waits: whether to wait for a request that reads, even if there are older keys.
    private func keys(olderThan age: Duration, waits: Bool = false) async throws(SigningError) -> SigningKeySet {
        while true {
            let now = now()
            let step = state.withLock { state -> Step in
                if let keys = state.keys, let readAt = state.readAt {
                    if now - readAt < age || (state.waiting != nil && !waits) { return .use(keys) }
                }
                if state.waiting != nil { return .wait }
                (state.waiting, state.readAt) = ([], now)
                return .read
            }
            switch step {
            case .use(let keys): return keys
            case .read: return try await read()
            case .wait: await waitForReader()
            }
        }
    }

    /// Keeps the older keys if the database does not answer: they still sign and verify.
    private func read() async throws(SigningError) -> SigningKeySet {
        var failure: DatabaseError?
        var new: SigningKeySet?
        do throws(DatabaseError) { new = try await store.load() } catch { failure = error }
        let (keys, waiting) = state.withLock { [new] state in
            if let new { state.keys = new }
            let waiting = state.waiting ?? []
            state.waiting = nil
            return (state.keys, waiting)
        }
        for request in waiting { request.resume() }
        if let keys { return keys }
        throw .database(failure ?? .unexpectedAnswer("there are no signing keys"))
    }

    private func waitForReader() async {
        await withCheckedContinuation { request in
            let isOver = state.withLock { state in
                state.waiting?.append(request)
                return state.waiting == nil
            }
            if isOver { request.resume() }
        }
    }
}
