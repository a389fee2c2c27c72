internal import Crypto
internal import CryptoExtras
internal import Foundation

/// A key that verifies the signatures of one algorithm. A token that names this key and another algorithm is refused.
struct PublicSigningKey: Sendable {
    private enum Material: Sendable {
        case es256(P256.Signing.PublicKey)
        case rs256(_RSA.Signing.PublicKey)
    }

    private let material: Material
    /// The thumbprint of the key (RFC 7638 §3).
    let kid: String
    /// The key as a JWK, which is the form that clients read (RFC 7517 §4).
    let jwk: JSON

    var algorithm: SigningAlgorithm {
        switch material {
        case .es256: .es256
        case .rs256: .rs256
        }
    }

    init(_ key: P256.Signing.PublicKey) {
        let point = Array(key.rawRepresentation)
        self.init(
            .es256(key),
            .es256,
            ["crv": "P-256", "kty": "EC", "x": Self.text(point[..<32]), "y": Self.text(point[32...])]
        )
    }

    init(_ key: _RSA.Signing.PublicKey) throws {
        let numbers = try key.getKeyPrimitives()
        self.init(
            .rs256(key),
            .rs256,
            ["e": Self.text(numbers.publicExponent), "kty": "RSA", "n": Self.text(numbers.modulus)]
        )
    }

    /// - Parameter required: the members of the JWK from which the thumbprint is computed, in alphabetical order.
    private init(_ material: Material, _ algorithm: SigningAlgorithm, _ required: JSON) {
        guard case .object(let members) = required else { preconditionFailure("a JWK is an object") }
        self.material = material
        kid = Array(SHA256.hash(data: required.bytes)).base64URL
        jwk = .object(
            members + [
                .init("alg", .string(algorithm.rawValue)), .init("kid", .string(kid)), .init("use", "sig"),
            ]
        )
    }

    private static func text(_ number: some Sequence<UInt8>) -> JSON { .string(Array(number).base64URL) }

    /// Reads a key from its ``jwk``. Returns nil for any other JSON.
    init?(_ jwk: JSON) {
        func number(_ name: String) -> [UInt8]? {
            (jwk[name]?.string).flatMap { [UInt8].fromBase64URL(Array($0.utf8)) }
        }
        if let x = number("x"), let y = number("y"), let key = try? P256.Signing.PublicKey(rawRepresentation: x + y) {
            self.init(key)
        } else if let n = number("n"), let e = number("e"), let key = try? _RSA.Signing.PublicKey(n: n, e: e) {
            guard let key = try? Self(key) else { return nil }
            self = key
        } else {
            return nil
        }
        guard self.jwk == jwk else { return nil }
    }

    /// Whether the signature of the bytes was made with the private key of this key (RFC 7518 §3.3 and §3.4).
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        switch material {
        case .es256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: bytes)
        case .rs256(let key):
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: SHA256.hash(data: bytes),
                padding: .insecurePKCS1v1_5
            )
        }
    }
}
