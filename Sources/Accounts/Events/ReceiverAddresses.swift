/// The addresses to which this server may send requests to applications.
struct ReceiverAddresses: Sendable {
    /// Whether requests may go to loopback addresses, even without TLS.
    let allowsLoopback: Bool
    /// The private networks to which requests may go, except to the metadata services of clouds in these networks.
    /// Requests may also go to all public addresses (``IPAddress/isPublic``). Any request that does not go to a
    /// loopback address needs TLS.
    let networks: [IPBlock]

    func contains(_ address: IPAddress, isEncrypted: Bool) -> Bool {
        if address.isLoopback { return allowsLoopback }
        guard isEncrypted else { return false }
        return address.isPublic || !address.isPrivateMetadataService && networks.contains { $0.contains(address) }
    }
}
