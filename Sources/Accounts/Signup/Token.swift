internal import Crypto
internal import Foundation

/// The secret of the client: the draft's id followed by 256 random bits, as 64 characters of base64url. The id finds
/// the row; the database stores only the SHA-256 of the whole token.
package struct Token: Sendable {
    package let draft: ID<Draft>
    package let hash: [UInt8]
    private let bytes: [UInt8]

    package init(for draft: ID<Draft>) {
        var random = SystemRandomNumberGenerator()
        self.init(bytes: draft.bytes + (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// Returns nil if the text cannot be a token of this service.
    package init?(_ text: String) {
        guard let bytes = [UInt8](base64URL: text, count: 48) else { return nil }
        self.init(bytes: bytes)
    }

    /// The token of the draft after this link moved it, under each key of the ring. It is derived, so that the server can
    /// give it again to the client that lost the answer. Another client that has the link cannot get or compute it.
    func afterLink(openedBy opening: LinkOpening, _ keys: KeyRing) -> [Token] {
        keys.digests(Array("token after link".utf8), bytes, opening.bytes).map { Token(bytes: draft.bytes + $0) }
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        hash = Array(SHA256.hash(data: bytes))
        draft = bytes.withUnsafeBytes { ID(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
    }

    /// The characters of the token. They are secret, and must never be in a URL or a log.
    package var text: String { bytes.base64URL }
}

/// Identifies the client that opens a link: a random text that the client, or the page with the question, has chosen.
package struct LinkOpening: Sendable {
    fileprivate let bytes: [UInt8]

    /// 144 random bits.
    package init() {
        var random = SystemRandomNumberGenerator()
        bytes = Array((0..<18).map { _ in UInt8.random(in: 0...255, using: &random) }.base64URL.utf8)
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
    /// Base64url (RFC 4648 §5). The number of bytes must be a multiple of 3, so that there is no padding.
    var base64URL: String {
        Data(self).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Reads ``base64URL`` of so many bytes. Returns nil for any other text.
    init?(base64URL text: String, count: Int) {
        let base64 = text.utf8.map { character in
            switch character {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"): UInt8(ascii: "!")
            default: character
            }
        }
        guard base64.count == count / 3 * 4, let data = Data(base64Encoded: Data(base64)), data.count == count else {
            return nil
        }
        self = Array(data)
    }
}
