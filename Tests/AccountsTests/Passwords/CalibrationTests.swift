import Testing

@testable import Accounts

@Suite("Finding what a hash may cost")
struct CalibrationTests {
    /// A machine that needs so many microseconds for a MiB and a pass.
    private static func cost(_ microseconds: Int) -> (Argon2Parameters) async -> Duration {
        { .microseconds($0.memoryKiB * $0.iterations * microseconds / 1024) }
    }

    @Test(
        arguments: [
            (500, 250, 262_144, 256_000, 2), (500, 250, 65_536, 65_536, 8), (500, 1, 262_144, 19_456, 2),
            (1, 1000, 262_144, 262_144, 10), (2000, 250, 262_144, 63_488, 2),
        ] as [(Int, Int, Int, Int, Int)]
    )
    func `memory comes first, then passes, and never less than the least`(
        microseconds: Int,
        target: Int,
        most: Int,
        memory: Int,
        passes: Int
    ) async {
        let found = await Calibration.parameters(
            for: .milliseconds(target),
            maximumMemoryKiB: most,
            Self.cost(microseconds)
        )
        #expect(found == Argon2Parameters(memoryKiB: memory, iterations: passes))
        #expect(found.meetsFloor && found.isWithinBounds)
    }

    @Test func `a measurement hashes for real`() async throws {
        let cost = try await Calibration.measure(Argon2Parameters(memoryKiB: 7168, iterations: 5), workers: 2)
        #expect(cost.time > .zero && cost.perSecond > 0)
    }

    @Test func `the library is a file that the loader chose`() {
        #expect(Argon2.library.hasPrefix("/") && Argon2.library.contains("libargon2"))
    }
}
