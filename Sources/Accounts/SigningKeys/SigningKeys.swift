package import Foundation
internal import Synchronization

package enum SigningError: Error {
    /// The token was not signed by this service, is of another type, or is malformed, or its key is deleted.
    case invalid
    /// No key of the key ring decrypts the live key of the algorithm.
    case unreadable
    case database(DatabaseError)
}

/// Signs tokens, and verifies tokens that the service has signed.
///
/// The keys are rows of the database, and the first server that needs them makes them. A server reads them again when
/// its copy is a minute old. If a token names a key that the copy lacks, the server reads them at once, but at most
/// every five seconds.
package final class SigningKeys: Sendable {
    private let store: SigningKeyStore
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())
    private let recentTokens = Mutex(RecentTokens())

    private struct State {
        var keys: SigningKeySet?
        /// When the last read of the keys began, even if it failed. Nil if its request was cancelled, so that the next
        /// request reads them.
        var readAt: ContinuousClock.Instant?
        /// Whether the last read failed. Then the next one follows after ``minimumAge``.
        var hasFailed = false
        /// The requests that wait while another request reads the keys; nil if no request reads them.
        var waiting: [CheckedContinuation<Void, Never>]?
    }

    /// The time after a read at which the next use of the keys reads them again. After a failed read, ``minimumAge`` is
    /// enough.
    static let maximumAge = Duration.seconds(60)
    /// The minimum time between two reads if the first one has failed, or if a token with an unknown key causes the
    /// second one. Without this time, anyone could cause reads with invented names of keys.
    static let minimumAge = Duration.seconds(5)
    /// The time for which clients may keep the JWK set. It is the `max-age` of the response that contains it.
    package static let publishedLifetime = Duration.seconds(900)

    /// - Parameter now: returns the present time. Tests replace it.
    package init(
        database: Database,
        keys: KeyRing,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        store = SigningKeyStore(database: database, keys: keys)
        self.now = now
    }

    /// Signs a token. Returns it in the compact form (RFC 7515 §7.1).
    ///
    /// - Parameter claims: the claims of the token. If several have the same name, the token contains only the first
    ///   one, so put the claims of the protocol before those about a person. A claim named `token_use` is left out.
    package func sign(
        _ claims: [JSON.Member],
        type: JWTType,
        by algorithm: SigningAlgorithm
    ) async throws(SigningError) -> String {
        Self.sign(claims, type, try await key(algorithm))
    }

    /// Returns a token with these claims, `iat` and `exp`. If this server has signed the same claims with the same key
    /// less than ``RecentTokens/maximumAge`` seconds ago, it may return that token again, whose `iat` and `exp` are
    /// earlier.
    ///
    /// - Parameters:
    ///   - now: the time for `iat`. It must come from the database in all calls.
    ///   - lifetime: the time from `iat` to `exp`. It must be the same for all tokens of the type.
    package func signOrReuse(
        _ claims: [JSON.Member],
        type: JWTType,
        by algorithm: SigningAlgorithm,
        at now: Date,
        for lifetime: Duration
    ) async throws(SigningError) -> String {
        let key = try await key(algorithm)
        let issuedAt = Int(now.timeIntervalSince1970)
        let content = RecentTokens.Content(type: type, kid: key.publicKey.kid, claims: JSON.object(claims).bytes)
        if let token = recentTokens.withLock({ $0.token(for: content, at: issuedAt) }) { return token }
        let times = [JSON.Member("iat", .integer(issuedAt)), JSON.Member("exp", .integer(issuedAt + lifetime.seconds))]
        let token = Self.sign(claims + times, type, key)
        recentTokens.withLock { $0.insert(token, for: content, issuedAt: issuedAt) }
        return token
    }

    private func key(_ algorithm: SigningAlgorithm) async throws(SigningError) -> PrivateSigningKey {
        guard let key = try await keys(olderThan: Self.maximumAge).signing[algorithm] else { throw .unreadable }
        return key
    }

    private static func sign(_ claims: [JSON.Member], _ type: JWTType, _ key: PrivateSigningKey) -> String {
        do { return try JWT.sign(claims, type: type, by: key) } catch {
            preconditionFailure("cannot sign a token: \(error)")
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

    /// Returns the claims of a token whose key this server does not know, for example because the key is deleted. The
    /// server cannot verify the claims, so anyone may have written them. Returns nil for any other text.
    func unverified(_ text: String, type: JWTType) async throws(SigningError) -> JSON? {
        guard let token = JWT(text, type: type), let claims = token.claims(type: type) else { return nil }
        return try await keys(olderThan: Self.maximumAge).verifying[token.kid] == nil ? claims : nil
    }

    /// The JWK set (RFC 7517 §5): the live keys, the next keys, and the keys that became old in the last 24 hours.
    package var published: JSON {
        get async throws(SigningError) { try await keys(olderThan: Self.maximumAge).published }
    }

    // MARK: Reading

    private enum Step {
        case use(SigningKeySet)
        case wait, read
    }

    /// Returns the keys. If this server began its last read at least `age` ago, one request reads them again.
    ///
    /// - Parameter waits: whether the other requests wait for that read. If not, they get the older keys, and wait only
    ///   if there are none.
    private func keys(olderThan age: Duration, waits: Bool = false) async throws(SigningError) -> SigningKeySet {
        while true {
            let now = now()
            let step = state.withLock { state -> Step in
                if let keys = state.keys, let readAt = state.readAt {
                    let age = state.hasFailed ? min(age, Self.minimumAge) : age
                    let isRecent = state.waiting == nil ? now - readAt < age : !waits
                    if isRecent { return .use(keys) }
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

    /// Reads the keys. If the database fails, keeps the older keys, which still sign and verify. Throws only if there
    /// are no older keys.
    private func read() async throws(SigningError) -> SigningKeySet {
        var failure: DatabaseError?
        var new: SigningKeySet?
        do throws(DatabaseError) { new = try await store.load() } catch { failure = error }
        let isCancelled = if case .cancelled? = failure { true } else { false }
        let (keys, waiting) = state.withLock { [new] state in
            if let new { state.keys = new }
            state.hasFailed = new == nil
            if isCancelled { state.readAt = nil }
            let waiting = state.waiting ?? []
            state.waiting = nil
            return (state.keys, waiting)
        }
        for request in waiting { request.resume() }
        if let keys { return keys }
        throw .database(failure ?? .unexpectedAnswer("the database contains no signing keys"))
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
