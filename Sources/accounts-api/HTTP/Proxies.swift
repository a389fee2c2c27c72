import Accounts
import HTTPTypes

/// The proxies that may say for whom they ask.
struct Proxies: Sendable {
    let trusted: [IPBlock]

    /// The client's network: that of the peer, or, behind trusted proxies, of the last address in `X-Forwarded-For` that is
    /// none of them. What stands before it anybody could have written.
    func network(of peer: IPAddress?, _ headers: HTTPFields) -> Network {
        guard var client = peer else { return .unknown }
        var named = headers[values: .forwardedFor].flatMap { $0.split(separator: ",") }
        while isTrusted(client), let last = named.popLast() {
            guard let address = IPAddress(last.trimmingWhitespace()) else { break }
            client = address
        }
        return Network(client)
    }

    func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }
}

extension HTTPField.Name {
    static let forwardedFor = Self("X-Forwarded-For")!
}
