// Its header includes those of the sockets, too, so their types belong to it or to Foundation.
internal import CCurl
internal import Foundation

extension IPAddress {
    /// Whether the address may belong to a server of the public internet, so that a webhook cannot reach what is near this
    /// server (the registries of RFC 6890, and addresses of metadata services).
    ///
    /// Of IPv6 only 2000::/3 is public, without the forms that contain an IPv4 address (6to4, Teredo). Those of NAT64 and
    /// mapped ones are outside of it.
    package var isPublic: Bool {
        if bytes.count == 4 { return !Self.reserved.contains { $0.contains(self) } }
        return Self.global.contains(self) && !Self.reserved.contains { $0.contains(self) }
    }

    private static let global = IPBlock("2000::/3")!

    private static let reserved = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // The metadata service of Azure.
        "168.63.129.16/32",
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ].map { IPBlock($0)! }

    /// Whether a cloud answers there with credentials of this server, in the middle of private networks.
    var isMetadataService: Bool { Self.metadataServices.contains { $0.contains(self) } }

    /// Of Alibaba; of Amazon (with fd00:ec2::254 for machines and fd00:ec2::23 for pods); of Google, Oracle and Scaleway.
    /// That of most clouds, 169.254.169.254, is in no private network; neither is 192.0.0.192 nor 168.63.129.16.
    private static let metadataServices = [
        "100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128", "fd00:42::42/128",
    ].map { IPBlock($0)! }

    /// The address in a `sockaddr` of IPv4 or IPv6; nil for another family. A mapped address stays one of IPv6.
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
