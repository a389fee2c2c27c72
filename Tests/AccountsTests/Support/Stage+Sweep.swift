import TestSupport

@testable import Accounts

extension Stage {
    func sweep() async throws -> Reaper.Erased {
        try await Reaper(signups: signups, rest: 0, logger: .silent).sweep()
    }
}
