import TestSupport
import Testing

@testable import Accounts

@Suite("The time of a withheld mail", .timeLimit(.minutes(30)))
struct MailPaceTests {
    private let clock = TestClock()
    private let pace: MailPace

    init() {
        pace = MailPace(on: clock)
    }

    /// The different times that this many withheld mails take.
    private func imitations(_ count: Int) async throws -> Set<Duration> {
        let times = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { await pace.imitate() }
            }
            try await clock.waitForSleepers(count)
            let times = Set(clock.waits)
            clock.advance(by: .seconds(3600))
            try await group.waitForAll()
            return times
        }
        return times
    }

    private func deliver(in time: Duration) async throws(MailError) {
        try await pace.measure { () throws(MailError) in clock.advance(by: time) }
    }

    @Test func `a withheld mail before any delivery takes a tenth of a second`() async throws {
        #expect(try await imitations(3) == [.milliseconds(100)])
    }

    @Test func `a withheld mail takes as long as one of the latest deliveries, chosen at random`() async throws {
        try await deliver(in: .seconds(9))
        for number in 0..<MailPace.memory { try await deliver(in: number < 32 ? .seconds(1) : .seconds(2)) }
        // Two hundred draws miss one of the two with a probability of 2⁻¹⁹⁹.
        #expect(try await imitations(200) == [.seconds(1), .seconds(2)])
    }

    @Test func `a failed delivery does not count`() async throws {
        try await deliver(in: .seconds(2))
        await #expect(throws: MailError.self) {
            try await pace.measure { () throws(MailError) in
                clock.advance(by: .seconds(30))
                throw .temporary(reply: nil, reason: "no connection")
            }
        }
        #expect(try await imitations(20) == [.seconds(2)])
    }
}
