import Accounts
import HTTPTypes

/// The proxies whose `X-Forwarded-For` is trusted.
struct Proxies: Sendable {
    let trusted: [IPBlock]

    /// The network of the client: that of the peer or, behind trusted proxies, that of the last address in
    /// `X-Forwarded-For` that is not a trusted proxy. Any client can forge earlier addresses.
    ///
    /// If all entries are trusted proxies, the first of them counts as the client. The search stops at an entry that is
    /// not an address: then the proxy that has added this entry counts as the client. If the peer has no IP
    /// address, the network is ``Network/unknown``.
    func clientNetwork(_ peer: IPAddress?, _ headers: HTTPFields) -> Network {
        client(peer, headers).map { Network($0) } ?? .unknown
    }

    /// The address of the client, as ``clientNetwork(_:_:)`` says; nil if the peer has none.
    func client(_ peer: IPAddress?, _ headers: HTTPFields) -> IPAddress? {
        guard var client = peer else { return nil }
        var forwarded = headers[values: .forwardedFor].flatMap { $0.headerParts(separatedBy: ",") }
        while isTrusted(client), let last = forwarded.popLast() {
            guard let address = Self.address(in: last) else { break }
            client = address
        }
        return client
    }

    /// The address of an entry. Some proxies add the port of the client, or only brackets: `192.0.2.1:1234`,
    /// `[2001:db8::1]:1234`, `[2001:db8::1]`.
    private static func address(in entry: some StringProtocol) -> IPAddress? {
        if let address = IPAddress(entry) { return address }
        let entry = Substring(entry)
        if let match = entry.wholeMatch(of: /\[([^\]]*)\](?::([0-9]+))?/) {
            return match.2.map(isPort) == false ? nil : IPAddress(match.1)
        }
        guard let match = entry.wholeMatch(of: /([^:]+):([0-9]+)/), isPort(match.2) else { return nil }
        return IPAddress(match.1)
    }

    private static func isPort(_ digits: Substring) -> Bool { UInt16(digits) != nil }

    func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }
}
