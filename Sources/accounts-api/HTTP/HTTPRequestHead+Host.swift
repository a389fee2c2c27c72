import Accounts
import NIOHTTP1

extension HTTPRequestHead {
    /// Whether the request has exactly one `Host`, with a valid value. A request of HTTP/1.0 may have none (RFC 9112,
    /// §3.2).
    var hasValidHost: Bool {
        let hosts = headers["Host"]
        guard let host = hosts.first else { return version == .http1_0 }
        return hosts.count == 1 && Self.isHost(host[...].trimmingWhitespace())
    }

    /// Whether the text is a name or address with an optional port (RFC 9110, §7.2). An empty text is valid: it means
    /// that the URL has no host.
    private static func isHost(_ text: Substring) -> Bool {
        if text.isEmpty { return true }
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "[") {
            let address = rest.dropFirst().prefix { $0 != UInt8(ascii: "]") }
            guard address.contains(UInt8(ascii: ":")), !address.contains(UInt8(ascii: "%")),
                IPAddress(Substring(address)) != nil
            else { return false }
            rest = rest[address.endIndex...]
            guard rest.popFirst() == UInt8(ascii: "]") else { return false }
        } else {
            let name = rest.prefix { $0 != UInt8(ascii: ":") }
            guard isName(name) else { return false }
            rest = rest[name.endIndex...]
        }
        return rest.isEmpty || rest.popFirst() == UInt8(ascii: ":") && isPort(rest)
    }

    /// Whether the text is a registered name that is not empty (RFC 3986, §3.2.2). It may be an IPv4 address.
    private static func isName(_ text: Substring.UTF8View) -> Bool {
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, rest.prefix(2).allSatisfy({ hexDigits.contains($0) }) else { return false }
                rest = rest.dropFirst(2)
            } else if !byte.isASCIIAlphanumeric, !punctuation.contains(byte) {
                return false
            }
        }
        return !text.isEmpty
    }

    private static func isPort(_ text: Substring.UTF8View) -> Bool {
        text.isEmpty || text.allSatisfy { (0x30...0x39).contains($0) } && UInt16(Substring(text)) != nil
    }

    private static let hexDigits = Set("0123456789ABCDEFabcdef".utf8)
    private static let punctuation = Set("-._~!$&'()*+,;=".utf8)
}
