internal import Crypto
internal import Foundation

/// A secret that gives a client access to a row, such as a draft or a session: the id of the row followed by 256 bits,
/// as 64 characters of base64url. The id finds the row, which contains only the SHA-256 hash of the whole token.
package struct Token<Owner>: Sendable {
    package let id: ID<Owner>
    package let hash: [UInt8]
    private let bytes: [UInt8]

    /// Makes a token with 256 random bits.
    package init(for id: ID<Owner>) {
        self.init(bytes: id.bytes + [UInt8].random(count: 32))
    }

    /// Makes a token with 32 bytes of a keyed digest, which nobody can compute without the key ring.
    init(for id: ID<Owner>, derived: [UInt8]) {
        precondition(derived.count == 32, "a digest of a key ring has 32 bytes")
        self.init(bytes: id.bytes + derived)
    }

    /// Returns nil if the text cannot be a token of this service.
    package init?(_ text: String) {
        guard let bytes = [UInt8](base64URL: text, count: 48) else { return nil }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        hash = SHA256.hash(data: bytes).withUnsafeBytes { Array($0) }
        id = bytes.withUnsafeBytes { ID(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
    }

    /// Returns the keyed digests of the purpose, the token and the other bytes, one for each key of the key ring.
    func digests(for purpose: String, _ other: [UInt8], _ keys: KeyRing) -> [[UInt8]] {
        keys.digests(Array(purpose.utf8), bytes, other)
    }

    /// The characters of the token. They are secret: never write them to a log, and never put those of a draft or a
    /// session into a URL.
    package var text: String { bytes.base64URL }
}

extension Token<Draft> {
    /// For a token in a link: returns the tokens that the draft can have after this client has opened the link, one for
    /// each key of the key ring. They are derived, so that the service can return the same token again to a client that
    /// has lost the response. Another client that has the link can neither get nor compute them.
    func afterLink(openedBy opening: LinkOpening, _ keys: KeyRing) -> [Token] {
        digests(for: "token after link", opening.bytes, keys).map { Token(for: id, derived: $0) }
    }
}

/// Identifies the client that opens a link to continue a sign-up on another device. It is a random text that the client
/// has chosen, or that this service has put into the page that asks whether to continue on this device.
package struct LinkOpening: Sendable {
    fileprivate let bytes: [UInt8]

    /// Makes an opening with 144 random bits.
    package init() {
        bytes = Array([UInt8].random(count: 18).base64URL.utf8)
    }

    /// Returns nil unless the text has 22 to 64 characters of base64url, which is enough for 128 random bits.
    package init?(_ text: String) {
        bytes = Array(text.utf8)
        let marks = Set("-_".utf8)
        guard (22...64).contains(bytes.count), bytes.allSatisfy({ $0.isASCIIAlphanumeric || marks.contains($0) }) else {
            return nil
        }
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension [UInt8] {
    /// Reads ``base64URL`` of `count` bytes, a multiple of 3. Returns nil for any other text.
    init?(base64URL text: String, count: Int) {
        guard text.utf8.count == count / 3 * 4 else { return nil }
        var text = text
        let bytes = text.withUTF8 { characters -> [UInt8]? in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count)
            // Four characters of six bits each are three bytes.
            for start in stride(from: 0, to: characters.count, by: 4) {
                var group: UInt32 = 0
                for position in start..<start + 4 {
                    guard let bits = Self.bits(ofBase64URL: characters[position]) else { return nil }
                    group = group << 6 | UInt32(bits)
                }
                bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                bytes.append(UInt8(truncatingIfNeeded: group))
            }
            return bytes
        }
        guard let bytes else { return nil }
        self = bytes
    }

    private static func bits(ofBase64URL character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
