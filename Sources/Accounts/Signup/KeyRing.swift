internal import Crypto
internal import Foundation

package enum KeyRingError: Error, CustomStringConvertible {
    case malformed(entry: Int)
    /// An earlier key already has this id. Of two keys with the same id and version, the later one would never decrypt.
    case repeated(entry: Int)
    case empty

    package var description: String {
        switch self {
        case .malformed(let entry):
            "key \(entry) is not id:v2:base64(32 bytes), with an id of 1 to 32 letters and digits"
        case .repeated(let entry): "key \(entry) has the id of an earlier key"
        case .empty: "there is no key"
        }
    }
}

/// The data was encrypted with a key that is not in the key ring, or for another ``SealedPlace``, or was changed.
package struct UnsealingError: Error {}

/// The secret keys of the service, which are not in the database. The first key encrypts; all keys decrypt.
///
/// HKDF (RFC 5869) derives from each secret key: a key for encryption (AES-256-GCM); a key for digests (HMAC-SHA-256),
/// which are stored or used as tokens and secrets; a key for pseudonyms in the log (HMAC-SHA-256); and, in version 2, a
/// pepper for passwords.
package struct KeyRing: Sendable {
    /// The version of a key decides the format of everything that is encrypted with it. So once the key ring has no v1
    /// key, an attacker who changes the database cannot make the service read a value in format v1.
    fileprivate enum Version: UInt8 {
        /// `id:base64`. A value is bound to the id of its row only, and passwords have no pepper.
        case v1 = 1
        /// `id:v2:base64`. Each value has its own key and is bound to its ``SealedPlace``; passwords have a pepper.
        case v2 = 2
    }

    fileprivate struct Key: Sendable {
        let id: [UInt8]
        let version: Version
        let sealing: SymmetricKey
        /// HMAC-SHA-256 that is already keyed with `sealing`, and with the keys for digests and for pseudonyms. Each use
        /// takes a copy, which saves the two blocks of SHA-256 that keying computes.
        let sealingMAC, digesting, naming: HMAC<SHA256>
        let pepper: Pepper?

        /// Everything that this key encrypts begins with these bytes.
        var head: [UInt8] { [version.rawValue, UInt8(id.count)] + id }
    }

    private let keys: [Key]

    /// A key ring for work that needs no keys. Encryption and most digests trap.
    package static let empty = KeyRing(keys: [])

    private init(keys: [Key]) {
        self.keys = keys
    }

    /// Reads the setting `ACCOUNTS_KEYS`.
    ///
    /// - Parameter text: `id:v2:base64(32 bytes)[,others…]`. A v1 key lacks `v2:`.
    package init(_ text: String) throws(KeyRingError) {
        var keys: [Key] = []
        for (index, entry) in text.split(separator: ",").enumerated() {
            var parts = entry.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let version: Version = parts.count == 3 && parts[1] == "v2" ? .v2 : .v1
            if version == .v2 { parts.remove(at: 1) }
            guard parts.count == 2, let secret = Data(base64Encoded: parts[1]), secret.count == 32,
                (1...32).contains(parts[0].utf8.count),
                parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) })
            else { throw .malformed(entry: index + 1) }
            if keys.contains(where: { $0.id.elementsEqual(parts[0].utf8) }) { throw .repeated(entry: index + 1) }
            keys.append(Key(id: Array(parts[0].utf8), version: version, secret: SymmetricKey(data: secret)))
        }
        guard !keys.isEmpty else { throw .empty }
        self.keys = keys
    }

    /// Encrypts the plaintext with the first key.
    ///
    /// - Parameter place: where the data belongs. Decryption needs the same place.
    /// - Returns: in format v1 the head, a nonce (12 bytes), the ciphertext, a tag (16); in format v2 the head, a salt
    ///   (16), the ciphertext, a tag (16). The head is the version, the length of the key's id, and the id.
    package func seal(_ plaintext: [UInt8], for place: SealedPlace) -> [UInt8] {
        let key = keys[0]
        do {
            switch key.version {
            case .v1:
                let box = try AES.GCM.seal(plaintext, using: key.sealing, authenticating: place.row)
                return key.head + Array(box.nonce) + box.ciphertext + box.tag
            case .v2:
                let salt = [UInt8].random(count: Key.saltLength)
                let value = try key.keyOfValue(salt)
                let associated = key.head + place.bytes
                let box = try AES.GCM.seal(plaintext, using: value.key, nonce: value.nonce, authenticating: associated)
                return key.head + salt + box.ciphertext + box.tag
            }
        } catch {
            preconditionFailure("cannot encrypt with AES-256-GCM: \(error)")
        }
    }

    package func open(_ sealed: [UInt8], for place: SealedPlace) throws(UnsealingError) -> [UInt8] {
        guard let key = keys.first(where: { sealed.starts(with: $0.head) }) else { throw UnsealingError() }
        let body = sealed[key.head.count...]
        do {
            switch key.version {
            case .v1:
                return try Array(
                    AES.GCM.open(.init(combined: body), using: key.sealing, authenticating: place.row)
                )
            case .v2:
                guard body.count >= Key.saltLength + Key.tagLength else { throw UnsealingError() }
                let value = try key.keyOfValue(Array(body.prefix(Key.saltLength)))
                let box = try AES.GCM.SealedBox(
                    nonce: value.nonce,
                    ciphertext: body.dropFirst(Key.saltLength).dropLast(Key.tagLength),
                    tag: body.suffix(Key.tagLength)
                )
                return try Array(AES.GCM.open(box, using: value.key, authenticating: key.head + place.bytes))
            }
        } catch {
            throw UnsealingError()
        }
    }

    /// Whether this is ``empty``, which only commands use.
    package var isEmpty: Bool { keys.isEmpty }

    /// The pepper of new passwords; nil if the first key is a v1 key.
    package var pepper: Pepper? { keys[0].pepper }

    /// The peppers of all keys that have one.
    var peppers: [Pepper] { keys.compactMap(\.pepper) }

    /// The id of each key, with the id of its pepper; nil for a v1 key, which has no pepper.
    var ids: [(key: String, pepper: [UInt8]?)] {
        keys.map { (String(decoding: $0.id, as: UTF8.self), $0.pepper?.id) }
    }

    /// Returns an SQL condition: the value in this column begins with one of ``heads``, so the key ring has its key.
    func hasKey(of column: SQL) -> SQL {
        "EXISTS (SELECT FROM unnest(\(heads)) AS head WHERE substr(\(column), 1, length(head)) = head)"
    }

    /// The first bytes of encrypted values, one item for each key of the key ring.
    var heads: ByteStrings { ByteStrings(keys.map(\.head)) }

    /// Whether the key ring has a key with that id.
    func hasKey(_ id: String) -> Bool { keys.contains { $0.id.elementsEqual(id.utf8) } }

    /// The id of the key that encrypted the data; nil if the data is malformed.
    static func keyID(of sealed: [UInt8]) -> String? {
        guard sealed.count > 2, sealed.count > 2 + Int(sealed[1]) else { return nil }
        return String(validating: sealed[2..<2 + Int(sealed[1])], as: UTF8.self)
    }

    /// Whether the data was encrypted with the first key. Data that another key encrypted must be encrypted again
    /// before that key is removed.
    func hasSealedWithFirst(_ sealed: [UInt8]) -> Bool {
        sealed.starts(with: keys[0].head)
    }

    /// Returns the keyed digest of the parts for each key of the key ring. Store the first one, and search with all of
    /// them, because another key may have been the first one when a value was stored. Equal parts have equal digests,
    /// and nobody can guess the parts without the key.
    package func digests(_ parts: [UInt8]...) -> [[UInt8]] {
        precondition(!keys.isEmpty, "a search with an empty key ring would find nothing")
        return keys.map { KeyRing.digest(parts, under: $0.digesting) }
    }

    /// Returns the keyed digest for the first key. Search for stored digests with ``digests(_:)``.
    func digest(_ parts: [[UInt8]]) -> [UInt8] { Self.digest(parts, under: keys[0].digesting) }

    /// Returns the keyed digests for the first two keys. Rate limits count under both. A rotation appends the new key,
    /// then moves it to the front, and a day later removes the old one. While the servers restart one by one for one of
    /// these steps, those before and after the step have a common key among their first two, and every event counts
    /// under this key.
    func limitDigests(_ parts: [[UInt8]]) -> [[UInt8]] {
        keys.prefix(2).map { Self.digest(parts, under: $0.digesting) }
    }

    /// Returns a keyed digest for the log. Its key is used for nothing else, so no pseudonym in the log is also in the
    /// database.
    func pseudonym(_ parts: [[UInt8]]) -> [UInt8] { Self.digest(parts, under: keys[0].naming) }

    /// Returns the keyed digest of the parts. A length precedes each part, so that different lists of parts never give
    /// the same bytes.
    private static func digest(_ parts: [[UInt8]], under key: HMAC<SHA256>) -> [UInt8] {
        var message: [UInt8] = []
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { message += $0 }
            message += part
        }
        var hmac = key
        hmac.update(data: message)
        return hmac.finalize().withUnsafeBytes { Array($0) }
    }
}

extension KeyRing.Key {
    fileprivate static let saltLength = 16
    fileprivate static let tagLength = 16

    fileprivate init(id: [UInt8], version: KeyRing.Version, secret: SymmetricKey) {
        func derive(_ purpose: String, _ length: Int = 32) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Data(purpose.utf8), outputByteCount: length)
        }
        func bytes(_ key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }
        let sealing = derive("accounts seal \(version.rawValue)")
        self.init(
            id: id,
            version: version,
            sealing: sealing,
            sealingMAC: HMAC(key: sealing),
            digesting: HMAC(key: derive("accounts digest 1")),
            naming: HMAC(key: derive("accounts pseudonym 1")),
            // A `keyid` in the PHC string format has at most 8 bytes.
            pepper: version == .v2
                ? Pepper(id: bytes(derive("accounts pepper id 1", 8)), key: bytes(derive("accounts pepper 1"))) : nil
        )
    }

    /// Derives the key and the nonce of one value from a random salt. With random nonces of 96 bits, one key may
    /// encrypt only 2^32 values (NIST SP 800-38D §8.3). A repetition of a 128-bit salt among 2^48 values is as unlikely
    /// as that of a 96-bit nonce among 2^32 values.
    ///
    /// This is HKDF-Expand (RFC 5869 §2.3) for 44 bytes, the first 32 of which are the key. `HKDF.expand` would key
    /// HMAC again for each block, which takes more than twice as many instructions (docs/performance.md).
    fileprivate func keyOfValue(_ salt: [UInt8]) throws -> (key: SymmetricKey, nonce: AES.GCM.Nonce) {
        let info = Self.infoOfValue + salt
        func block(_ bytes: [UInt8]) -> HashedAuthenticationCode<SHA256> {
            var mac = sealingMAC
            mac.update(data: bytes)
            return mac.finalize()
        }
        let first = block(info + [1])
        let second = block(Array(first) + info + [2])
        return (SymmetricKey(data: first), try AES.GCM.Nonce(data: Array(second.prefix(12))))
    }

    private static let infoOfValue = Array("accounts value 2".utf8)
}
