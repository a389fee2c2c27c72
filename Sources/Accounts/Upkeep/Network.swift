internal import Foundation

/// The network of a client, by which rate limits count: an IPv4 address, or the first 64 bits of an IPv6 address.
///
/// One subscriber may have between 1 and 65,536 networks of 64 bits in IPv6: providers assign a /64, a /56 or a /48
/// (RFC 6177, RIPE-690). So a limit for each client counts in each of the ``blocks``, or by the ``site``.
package struct Network: Hashable, Sendable {
    /// Four bytes for IPv4, eight for IPv6, six for the ``site`` of an IPv6 network, none if the address is unknown.
    let prefix: [UInt8]

    /// All clients with an unknown address share this network.
    package static let unknown = Network(prefix: [])

    private init(prefix: [UInt8]) {
        self.prefix = prefix
    }

    package init(_ address: IPAddress) {
        prefix = address.bytes.count == 4 ? address.bytes : Array(address.bytes.prefix(8))
    }

    /// An IPv4 address, or a /64, /56 or /48 of IPv6.
    package struct Block: Hashable, Sendable {
        let prefix: [UInt8]
        /// The factor by which a limit is multiplied for all clients in this block together.
        package let multiple: Int
    }

    /// The blocks to which the network belongs: the IPv4 address, or the /64, /56 and /48 of IPv6, with the factors 1,
    /// 4 and 16.
    package var blocks: [Block] {
        guard prefix.count == 8 else { return [Block(prefix: prefix, multiple: 1)] }
        return [(8, 1), (7, 4), (6, 16)].map { Block(prefix: Array(prefix.prefix($0)), multiple: $1) }
    }

    /// The largest network that may belong to one subscriber: the IPv4 address, or the /48 of IPv6.
    package var site: Network { prefix.count == 8 ? Network(prefix: Array(prefix.prefix(6))) : self }
}

/// An IPv4 or IPv6 address in bytes.
package struct IPAddress: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Returns nil if the text is not an address. A zone after `%` is ignored, and an IPv4 address that is mapped into
    /// IPv6 becomes IPv4 again (RFC 4291 §2.5.5.2).
    package init?(_ text: some StringProtocol) {
        let text = String(text.prefix { $0 != "%" })
        if let bytes = Self.parsed(text, AF_INET, 4) {
            self.bytes = bytes
        } else if let bytes = Self.parsed(text, AF_INET6, 16) {
            let isMapped = bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
            self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        } else {
            return nil
        }
    }

    /// - Parameter bytes: 4 for IPv4, 16 for IPv6.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private static func parsed(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    /// Whether a host is `localhost`, an address in 127.0.0.0/8, or ::1, which may have the brackets of a URL. Other
    /// names are not resolved, and count as other machines.
    package static func isLoopback(host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        return IPAddress(isBracketed ? host.dropFirst().dropLast() : host[...])?.isLoopback ?? false
    }

    /// Whether the address is in 127.0.0.0/8, or ::1.
    var isLoopback: Bool { bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1] }
}

/// A block of addresses, such as `192.0.2.0/24` or `2001:db8::/32`. A single address is a block of one address.
package struct IPBlock: Hashable, Sendable {
    private let base: IPAddress
    private let length: Int

    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let base = IPAddress(parts[0]), parts.count <= 2 else { return nil }
        let bits = base.bytes.count * 8
        guard let length = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(length) else { return nil }
        (self.base, self.length) = (base, length)
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        return (0..<length).allSatisfy { bit in
            (address.bytes[bit / 8] ^ base.bytes[bit / 8]) & (0x80 >> (bit % 8)) == 0
        }
    }

    /// Whether this block contains the whole other block.
    func contains(_ other: IPBlock) -> Bool { other.length >= length && contains(other.base) }
}
