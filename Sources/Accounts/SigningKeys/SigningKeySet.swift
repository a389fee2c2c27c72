/// The signing keys as a server has read them from the database. It does not change, so requests share it without a lock.
struct SigningKeySet: Sendable {
    /// By `kid`. Includes keys that are not published any more, for tokens that may be shown after they have expired.
    let verifying: [String: PublicSigningKey]
    /// An algorithm is missing if no key of the ring opens its key.
    let signing: [SigningAlgorithm: PrivateSigningKey]
    /// The JWK set (RFC 7517 §5).
    let published: JSON
}
