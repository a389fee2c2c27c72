/// A host and a port that a server listens on.
struct Address: Sendable {
    let host: String
    let port: Int

    /// Reads `host:port`, with brackets around an IPv6 address. Returns nil for any other text.
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
