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

    /// The token of the draft after this link moved it. It follows from the link, so that a client that lost the answer
    /// gets the same token again; the database, which has only digests, does not tell it.
    var afterLink: Token {
        let secret = HMAC<SHA256>.authenticationCode(
            for: Array("token after link".utf8),
            using: SymmetricKey(data: bytes)
        )
        return Token(bytes: draft.bytes + secret)
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        hash = Array(SHA256.hash(data: bytes))
        draft = bytes.withUnsafeBytes { ID(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
    }

    /// The characters of the token. They are secret, and must never be in a URL or a log.
    package var text: String { bytes.base64URL }
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
