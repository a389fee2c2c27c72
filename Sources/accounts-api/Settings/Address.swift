/// A host and a port that a server listens on.
struct Address: Sendable {
    let host: String
    let port: Int

    /// Reads `host:port`. An IPv6 address may have brackets. Returns nil if the text has no host, or no port from 0 to
    /// 65535; does not validate the host.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), colon > text.startIndex
        else { return nil }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        self.host = String(isBracketed ? host.dropFirst().dropLast() : host)
        self.port = port
    }
}
