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
            guard let address = IPAddress(last.trimmingWhitespace()) else { break }
            client = address
        }
        return Network(client)
    }

    func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }
}
