/// How a token is signed (RFC 7518 §3.1). There are no others: a token cannot choose `none` or a shared secret.
package enum SigningAlgorithm: String, CaseIterable, Sendable {
    /// ECDSA with P-256 and SHA-256.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256, and keys of 2048 bits.
    case rs256 = "RS256"
}
