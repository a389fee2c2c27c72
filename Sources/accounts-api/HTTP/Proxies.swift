import Accounts
import HTTPTypes

/// The proxies whose `X-Forwarded-For` is trusted.
struct Proxies: Sendable {
    let trusted: [IPBlock]

    /// The network of the client: that of the peer or, behind trusted proxies, that of the last address in
    /// `X-Forwarded-For` that is not a trusted proxy. Any client can forge earlier addresses.
    func network(of peer: IPAddress?, _ headers: HTTPFields) -> Network {
        guard var client = peer else { return .unknown }
        var forwarded = headers[values: .forwardedFor].flatMap { $0.split(separator: ",") }
        while isTrusted(client), let last = forwarded.popLast() {
            guard let address = Self.address(in: last.trimmingWhitespace()) else { break }
            client = address
        }
        return Network(client)
    }

    /// The address of an entry, to which some proxies add the port of the client: `192.0.2.1:1234` or
    /// `[2001:db8::1]:1234`.
    private static func address(in entry: some StringProtocol) -> IPAddress? {
        if let address = IPAddress(entry) { return address }
        let isBracketed = entry.hasPrefix("[")
        guard let end = isBracketed ? entry.lastIndex(of: "]") : entry.firstIndex(of: ":") else { return nil }
        let port = entry[end...].dropFirst(isBracketed ? 2 : 1)
        let isAlone = isBracketed && entry.index(after: end) == entry.endIndex
        let hasColon = !isBracketed || entry[end...].dropFirst().first == ":"
        guard isAlone || hasColon && isPort(port) else { return nil }
        return IPAddress(entry[..<end].dropFirst(isBracketed ? 1 : 0))
    }

    private static func isPort(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(text) != nil
    }

    func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }
}
