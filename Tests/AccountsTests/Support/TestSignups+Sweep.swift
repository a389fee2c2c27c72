import TestSupport

@testable import Accounts

extension TestSignups {
    func sweep() async throws -> Reaper.Erased {
        try await Reaper(signups: signups, restFactor: 0, logger: .silent).sweep()
    }
}
