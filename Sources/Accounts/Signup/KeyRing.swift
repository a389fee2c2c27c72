internal import Crypto
internal import Foundation

package enum KeyRingError: Error, CustomStringConvertible {
    case malformed(entry: Int)
    /// The id belongs to an earlier key already, so data encrypted with the later key could not be decrypted.
    case repeated(entry: Int)
    case empty

    package var description: String {
        switch self {
        case .malformed(let entry):
            "key \(entry) is not id:base64 of 32 bytes, with an id of 1 to 32 letters and digits"
        case .repeated(let entry): "key \(entry) has the id of an earlier key"
        case .empty: "there is no key"
        }
    }
}

/// The data was encrypted with a key that is not in the ring or for another context, or was tampered with.
package struct UnsealingError: Error {}

/// The keys that are not in the database. The first one encrypts; all of them decrypt.
///
/// HKDF (RFC 5869) derives two keys from each one: for encryption (AES-256-GCM) and for keyed digests (HMAC-SHA-256).
package struct KeyRing: Sendable {
    fileprivate struct Key: Sendable {
        let id: [UInt8]
        let sealing: SymmetricKey
        let digesting: SymmetricKey
    }

    private let keys: [Key]

    /// - Parameter text: `id:base64(32 bytes)[,older…]`, as in `ACCOUNTS_KEYS`.
    package init(_ text: String) throws(KeyRingError) {
        var keys: [Key] = []
        for (index, entry) in text.split(separator: ",").enumerated() {
            let parts = entry.split(separator: ":", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            guard parts.count == 2, let secret = Data(base64Encoded: parts[1]), secret.count == 32,
                (1...32).contains(parts[0].utf8.count),
                parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) })
            else { throw .malformed(entry: index + 1) }
            if keys.contains(where: { $0.id.elementsEqual(parts[0].utf8) }) { throw .repeated(entry: index + 1) }
            keys.append(Key(id: Array(parts[0].utf8), secret: SymmetricKey(data: secret)))
        }
        guard !keys.isEmpty else { throw .empty }
        self.keys = keys
    }

    /// - Parameter context: the owner of the data, such as a draft's id. Decryption needs the same context.
    /// - Returns: version 1, the key's id preceded by its length, a nonce of 12 bytes, the ciphertext, a tag of 16
    ///   bytes.
    package func seal(_ plaintext: [UInt8], for context: [UInt8]) -> [UInt8] {
        let key = keys[0]
        do {
            let box = try AES.GCM.seal(plaintext, using: key.sealing, authenticating: context)
            return [1, UInt8(key.id.count)] + key.id + Array(box.nonce) + box.ciphertext + box.tag
        } catch {
            preconditionFailure("AES-256-GCM seals anything with a key of 32 bytes: \(error)")
        }
    }

    package func open(_ sealed: [UInt8], for context: [UInt8]) throws(UnsealingError) -> [UInt8] {
        guard sealed.count > 2, sealed[0] == 1, sealed.count > 2 + Int(sealed[1]) else { throw UnsealingError() }
        let body = 2 + Int(sealed[1])
        guard let key = keys.first(where: { $0.id.elementsEqual(sealed[2..<body]) }) else { throw UnsealingError() }
        do {
            return try Array(
                AES.GCM.open(.init(combined: sealed[body...]), using: key.sealing, authenticating: context)
            )
        } catch {
            throw UnsealingError()
        }
    }

    /// Whether the ring has the key that encrypted the value of a column, as SQL. The key's id precedes the nonce.
    func hasKey(of column: SQL) -> SQL {
        let heads = keys.map { [1, UInt8($0.id.count)] + $0.id }
        return """
            EXISTS (SELECT FROM unnest(\(ByteStrings(heads))) AS head WHERE substr(\(column), 1, length(head)) = head)
            """
    }

    /// Whether the ring has a key with that id.
    func hasKey(_ id: String) -> Bool { keys.contains { $0.id.elementsEqual(id.utf8) } }

    /// The id of the key that encrypted the data; nil if the data is malformed.
    static func keyID(of sealed: [UInt8]) -> String? {
        guard sealed.count > 2, sealed.count > 2 + Int(sealed[1]) else { return nil }
        return String(validating: sealed[2..<2 + Int(sealed[1])], as: UTF8.self)
    }

    /// Whether the data was encrypted with the first key; the others are being phased out.
    func hasSealedWithFirst(_ sealed: [UInt8]) -> Bool {
        sealed.count > 2 && sealed.dropFirst(2).prefix(Int(sealed[1])).elementsEqual(keys[0].id)
    }

    /// The digest under each key of the ring. The first one is for writing; the others find what was written before a
    /// rotation. Equal parts have equal digests, and values cannot be guessed without the key.
    package func digests(_ parts: [UInt8]...) -> [[UInt8]] {
        keys.map { $0.digest(parts) }
    }

    /// The digest under the first key, for data that need not outlive a rotation.
    func digest(_ parts: [[UInt8]]) -> [UInt8] { keys[0].digest(parts) }
}

extension KeyRing.Key {
    fileprivate init(id: [UInt8], secret: SymmetricKey) {
        func derive(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Data(purpose.utf8), outputByteCount: 32)
        }
        self.init(id: id, sealing: derive("accounts seal 1"), digesting: derive("accounts digest 1"))
    }

    /// A length precedes each part, so that different lists of parts never give the same bytes.
    fileprivate func digest(_ parts: [[UInt8]]) -> [UInt8] {
        var hmac = HMAC<SHA256>(key: digesting)
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { hmac.update(data: $0) }
            hmac.update(data: part)
        }
        return Array(hmac.finalize())
    }
}
