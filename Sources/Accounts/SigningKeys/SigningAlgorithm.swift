/// The algorithm that signs a token (RFC 7518 §3.1). A token that names any other algorithm, such as `none` or `HS256`,
/// is refused.
package enum SigningAlgorithm: String, CaseIterable, Sendable {
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256, and keys of 2048 bits.
    case rs256 = "RS256"
}
