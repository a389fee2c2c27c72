extension IPBlock {
    /// Whether the whole block is in one private range (RFC 1918, RFC 4193) or in the shared address space (RFC 6598).
    package var isPrivate: Bool { Self.privateNetworks.contains { $0.contains(self) } }

    private static let privateNetworks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]
        .map { IPBlock($0)! }
}
