/// The signing keys that this server has read from the database. The value never changes, so requests share it without
/// a lock.
struct SigningKeySet: Sendable {
    /// The public keys by `kid`. They include keys that are not published any more, because applications may present
    /// expired ID tokens.
    let verifying: [String: PublicSigningKey]
    /// The live keys. An algorithm is missing if no key of the key ring decrypts its key.
    let signing: [SigningAlgorithm: PrivateSigningKey]
    /// The JWK set (RFC 7517 §5).
    let published: JSON
}
