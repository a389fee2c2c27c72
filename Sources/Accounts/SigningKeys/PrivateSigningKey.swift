internal import Crypto
internal import CryptoExtras
internal import Foundation

/// A key that signs tokens.
struct PrivateSigningKey: Sendable {
    private enum Material: Sendable {
        case es256(P256.Signing.PrivateKey)
        case rs256(_RSA.Signing.PrivateKey)
    }

    private let material: Material
    let publicKey: PublicSigningKey

    /// Makes a new key. An RSA key takes a tenth of a second or longer, so call this on a thread of its own.
    init(_ algorithm: SigningAlgorithm) throws {
        switch algorithm {
        case .es256: try self.init(.es256(P256.Signing.PrivateKey()))
        case .rs256: try self.init(.rs256(_RSA.Signing.PrivateKey(keySize: .bits2048)))
        }
    }

    /// Reads ``derRepresentation``.
    init(_ algorithm: SigningAlgorithm, derRepresentation bytes: [UInt8]) throws {
        switch algorithm {
        case .es256: try self.init(.es256(P256.Signing.PrivateKey(derRepresentation: bytes)))
        case .rs256: try self.init(.rs256(_RSA.Signing.PrivateKey(derRepresentation: bytes)))
        }
    }

    private init(_ material: Material) throws {
        self.material = material
        switch material {
        case .es256(let key): publicKey = PublicSigningKey(key.publicKey)
        case .rs256(let key): publicKey = try PublicSigningKey(key.publicKey)
        }
    }

    var derRepresentation: [UInt8] {
        switch material {
        case .es256(let key): Array(key.derRepresentation)
        case .rs256(let key): Array(key.derRepresentation)
        }
    }

    /// Returns the signature of the bytes (RFC 7518 §3.3 and §3.4).
    func signature(of bytes: [UInt8]) throws -> [UInt8] {
        switch material {
        case .es256(let key):
            return try Array(key.signature(for: bytes).rawRepresentation)
        case .rs256(let key):
            let signature = try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
            return Array(signature.rawRepresentation)
        }
    }

    /// Makes a new key for each algorithm, all on one thread of their own.
    static func make(_ algorithms: [SigningAlgorithm]) async -> [PrivateSigningKey] {
        var thread: DedicatedThread?
        let keys = await withCheckedContinuation { made in
            thread = DedicatedThread(named: "signing-keys") {
                made.resume(returning: Result { try algorithms.map { try PrivateSigningKey($0) } })
            }
        }
        thread?.join()
        do { return try keys.get() } catch { preconditionFailure("cannot make a signing key: \(error)") }
    }
}
