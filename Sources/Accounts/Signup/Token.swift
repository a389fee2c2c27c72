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
        let base64 = text.utf8.map { character in
            switch character {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"): UInt8(ascii: "!")
            default: character
            }
        }
        guard base64.count == 64, let data = Data(base64Encoded: Data(base64)), data.count == 48 else { return nil }
        self.init(bytes: Array(data))
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        hash = Array(SHA256.hash(data: bytes))
        draft = bytes.withUnsafeBytes { ID(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
    }

    /// The characters of the token. They are secret, and must never be in a URL or a log.
    package var text: String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    }
}
