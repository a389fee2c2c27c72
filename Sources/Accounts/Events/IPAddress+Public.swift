// CCurl and Foundation both include the socket headers, and Swift may find `sockaddr` in either. So both are imported.
internal import CCurl
internal import Foundation

extension IPAddress {
    /// Whether the address may belong to a server of the public internet: it is neither for a special purpose (RFC
    /// 6890), nor for multicast, nor for the services of Azure. A webhook to an address that is not public could reach
    /// services in the network of this server.
    ///
    /// An IPv6 address is public only within 2000::/3, and there it must not be in 6to4 (2002::/16), in 2001::/23 with
    /// Teredo, or in a block for documentation. IPv4-mapped addresses and the well-known prefixes of NAT64 are outside
    /// 2000::/3. An address with a NAT64 prefix that a network has chosen itself in 2000::/3 (RFC 6052, §2.2) counts as
    /// public.
    package var isPublic: Bool {
        if bytes.count == 4 { return !Self.reserved.contains { $0.contains(self) } }
        return Self.globalIPv6.contains(self) && !Self.reserved.contains { $0.contains(self) }
    }

    private static let globalIPv6 = IPBlock("2000::/3")!

    private static let reserved = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // The services of Azure for its machines, such as DNS. No RFC reserves this address.
        "168.63.129.16/32",
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ].map { IPBlock($0)! }

    /// Whether a cloud has its metadata service at this address, and the address is in a private network, which
    /// `EVENT_NETWORKS` can open. A metadata service gives out credentials of this machine. Metadata services at other
    /// addresses, such as 169.254.169.254, do not count, because no setting opens those addresses.
    var isPrivateMetadataService: Bool { Self.privateMetadataServices.contains { $0.contains(self) } }

    /// The metadata services of Alibaba (IPv4, IPv6), Amazon (the block of its services, such as fd00:ec2::254 for
    /// instances and fd00:ec2::23 for pods), Google, Linode, Oracle and Scaleway, in this order.
    private static let privateMetadataServices = [
        "100.100.100.200/32", "fd00:100::100:200/128", "fd00:ec2::/32", "fd20:ce::254/128", "fd00:a9fe:a9fe::1/128",
        "fd00:c1::a9fe:a9fe/128", "fd00:42::42/128",
    ].map { IPBlock($0)! }

    /// The address in a `sockaddr` of IPv4 or IPv6; nil for another family. An IPv4-mapped address stays an IPv6
    /// address.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self.init(bytes: withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) })
        case AF_INET6:
            self.init(
                bytes: withUnsafeBytes(of: raw.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr) {
                    Array($0)
                }
            )
        default: return nil
        }
    }
}
