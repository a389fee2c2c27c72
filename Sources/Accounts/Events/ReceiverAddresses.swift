/// The addresses to which this server may send requests to applications.
struct ReceiverAddresses: Sendable {
    /// Whether requests may go to this machine, even without TLS.
    let allowsLoopback: Bool
    /// The private networks that are allowed in addition to all public addresses. Their metadata services are not.
    let networks: [IPBlock]

    func contains(_ address: IPAddress, isEncrypted: Bool) -> Bool {
        if address.isLoopback { return allowsLoopback }
        guard isEncrypted else { return false }
        return address.isPublic || !address.isMetadataService && networks.contains { $0.contains(address) }
    }
}
