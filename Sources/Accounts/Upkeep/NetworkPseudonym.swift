package import Foundation

extension Signups {
    /// Returns the present ``KeyRing/pseudonym(of:at:)`` of a network.
    package func pseudonym(of network: Network) -> String {
        keys.pseudonym(of: network, at: Date())
    }
}

extension KeyRing {
    /// Returns the pseudonym of a network in the log: 16 hexadecimal digits. All servers with the same first key use
    /// the same pseudonym on one day (UTC), and another one on the next day. The address cannot be computed from the
    /// pseudonym without the key.
    package func pseudonym(of network: Network, at time: Date) -> String {
        let day = Int64((time.timeIntervalSince1970 / 86_400).rounded(.down))
        let digest = pseudonym([withUnsafeBytes(of: day.bigEndian) { Array($0) }, network.prefix])
        return digest.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
