internal import Foundation

extension [UInt8] {
    /// Base64url without padding (RFC 4648 §5, RFC 7515 §2).
    var base64URL: String {
        let text = Data(self).base64EncodedString().utf8.prefix { $0 != UInt8(ascii: "=") }.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads ``base64URL``. Returns nil for any other text, including one with padding or with unused bits that are not
    /// zero. So two different texts never stand for the same bytes.
    static func fromBase64URL(_ text: some Collection<UInt8>) -> [UInt8]? {
        let base64 = text.map { character in
            switch character {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: character
            }
        }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(base64 + padding)) else { return nil }
        let bytes = Array(data)
        return bytes.base64URL.utf8.elementsEqual(text) ? bytes : nil
    }
}
