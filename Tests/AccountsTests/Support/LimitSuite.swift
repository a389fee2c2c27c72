import TestSupport
import Testing

@testable import Accounts

/// A suite whose clients come from several networks.
protocol LimitSuite {}

extension LimitSuite {
    func network(_ address: String) throws -> Network { Network(try #require(IPAddress(address))) }

    /// Submits the e-mail step from this network, and returns the outcome as text.
    func submitAddress(_ address: String, from network: Network, of draft: Draft, on service: TestSignups) async
        -> String
    {
        await outcome {
            try await service.signups.from(network)
                .submit(["email": .string(address)], to: service.signups.flow.steps[0], of: draft)
        }
    }
}
