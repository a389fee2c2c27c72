internal import Crypto
internal import Foundation

/// A key that signs webhooks (Standard Webhooks 1.0.0).
package struct WebhookSecret: Sendable {
    private let key: Key

    private enum Key: Sendable {
        case hmac(SymmetricKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// Reads `whsec_` with the base64 of 24 to 64 bytes, or `whsk_` with the base64 of a seed for Ed25519. Nil for any
    /// other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Data(base64Encoded: String(parts[1])) else { return nil }
        switch parts[0] {
        case "whsec":
            guard (24...64).contains(bytes.count) else { return nil }
            key = .hmac(SymmetricKey(data: bytes))
        case "whsk":
            guard let seed = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes) else { return nil }
            key = .ed25519(seed)
        default: return nil
        }
    }

    /// Signs the message. Returns one entry of the header `webhook-signature`: `v1` (HMAC) or `v1a` (Ed25519), a comma,
    /// and the signature in base64.
    ///
    /// - Parameter message: the id, the timestamp and the body, with a full stop between them.
    package func signature(of message: [UInt8]) -> String {
        switch key {
        case .hmac(let key):
            return "v1,\(Data(HMAC<SHA256>.authenticationCode(for: message, using: key)).base64EncodedString())"
        case .ed25519(let key):
            guard let signature = try? key.signature(for: message) else {
                preconditionFailure("Ed25519 signs every message")
            }
            return "v1a,\(signature.base64EncodedString())"
        }
    }

    /// The key with which receivers verify the signature, as `whpk_` and base64; nil for HMAC, whose key is secret.
    package var publicKey: String? {
        guard case .ed25519(let key) = key else { return nil }
        return "whpk_\(key.publicKey.rawRepresentation.base64EncodedString())"
    }
}
