import Testing

@testable import Accounts

@Suite("Calibrating the cost of a hash")
struct CalibrationTests {
    /// Returns the duration of a hash on a machine that needs this many microseconds for one MiB in one iteration.
    private static func cost(_ microseconds: Int) -> (Argon2Parameters) async -> Duration {
        { .microseconds($0.memoryKiB * $0.iterations * microseconds / 1024) }
    }

    @Test(
        arguments: [
            (500, 250, 262_144, 256_000, 2), (500, 250, 65_536, 65_536, 8), (500, 1, 262_144, 19_456, 2),
            (1, 1000, 262_144, 262_144, 10), (2000, 250, 262_144, 63_488, 2),
        ] as [(Int, Int, Int, Int, Int)]
    )
    func `calibration raises memory first, then iterations, and never goes below the floor`(
        microseconds: Int,
        target: Int,
        maximumMemory: Int,
        memory: Int,
        iterations: Int
    ) async {
        let parameters = await Calibration.parameters(
            for: .milliseconds(target),
            maximumMemoryKiB: maximumMemory,
            Self.cost(microseconds)
        )
        #expect(parameters == Argon2Parameters(memoryKiB: memory, iterations: iterations))
        #expect(parameters.meetsFloor && parameters.isWithinBounds)
    }

    @Test func `a measurement computes real hashes`() async throws {
        let cost = try await Calibration.measure(Argon2Parameters(memoryKiB: 7168, iterations: 5), workers: 2)
        #expect(cost.time > .zero && cost.perSecond > 0)
    }

    @Test func `the path of the loaded library is known`() {
        #expect(Argon2.library.hasPrefix("/") && Argon2.library.contains("libargon2"))
    }
}
