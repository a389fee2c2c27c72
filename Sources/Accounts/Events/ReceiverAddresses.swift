/// The addresses to which requests for applications may go.
struct ReceiverAddresses: Sendable {
    /// Whether applications on this machine may be reached, and without TLS.
    let allowsLoopback: Bool
    /// Private networks that are allowed, beside all public addresses.
    let networks: [IPBlock]

    func contains(_ address: IPAddress, isEncrypted: Bool) -> Bool {
        if address.isLoopback { return allowsLoopback }
        guard isEncrypted else { return false }
        return address.isPublic || !address.isMetadataService && networks.contains { $0.contains(address) }
    }
}
