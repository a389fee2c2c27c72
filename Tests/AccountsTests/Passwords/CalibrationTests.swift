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
            (500, 250, 262_144, 256_000, 2), (500, 250, 65_536, 63_488, 8), (500, 1, 262_144, 19_456, 2),
            (1, 1000, 262_144, 262_144, 10), (2000, 250, 262_144, 63_488, 2),
            // Just above the minimum memory, the limit or one pass more is nearer to the target.
            (500, 20, 20_000, 20_000, 2), (500, 27, 20_000, 19_456, 3),
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

    /// Numbers from 0 to 1 that are the same in each run of the test.
    private struct Noise {
        var state: UInt64

        mutating func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 33) / Double(1 << 31)
        }
    }

    @Test(arguments: [262_144, 65_536, 63_488, 40_960, 31_744])
    func `runs on a machine that is sometimes busy find almost the same parameters`(maximumMemory: Int) async {
        var found: [Int] = []
        for seed in 1...20 as ClosedRange<UInt64> {
            var noise = Noise(state: seed)
            let parameters = await Calibration.parameters(
                for: .milliseconds(50),
                maximumMemoryKiB: maximumMemory
            ) { parameters in
                // One measurement in six takes two to four times as long, and each up to a tenth longer.
                let factor = noise.next() < 1 / 6.0 ? 2 + 2 * noise.next() : 1 + noise.next() / 10
                return .microseconds(Int(Double(parameters.memoryKiB * parameters.iterations) * 0.6 * factor))
            }
            found.append(parameters.memoryKiB * parameters.iterations)
        }
        let (least, most) = (found.min() ?? 0, found.max() ?? 0)
        #expect(least > 0 && Double(most) < Double(least) * 1.15, "\(found)")
    }

    @Test(
        arguments: [
            (19_456, 2, 262_144, 40, .fits), (19_456, 2, 262_144, 90, .isMinimum),
            (30_720, 2, 262_144, 90, .isUnsteady),
            (30_720, 2, 262_144, 20, .isUnsteady), (262_144, 2, 262_144, 20, .isUnsteady),
            (262_144, 10, 262_144, 20, .isMaximum), (30_720, 10, 31_000, 20, .isMaximum),
            (19_456, 2, 262_144, 20, .isUnsteady),
        ] as [(Int, Int, Int, Int, Calibration.Verdict)]
    )
    func `only parameters at the ceiling are called the maximum`(
        memory: Int,
        iterations: Int,
        limit: Int,
        milliseconds: Int,
        verdict: Calibration.Verdict
    ) {
        #expect(
            Calibration.verdict(
                on: Argon2Parameters(memoryKiB: memory, iterations: iterations),
                within: limit,
                taking: .milliseconds(milliseconds),
                for: .milliseconds(45)
            ) == verdict
        )
    }

    @Test func `the median ignores what is far from the others`() {
        #expect(Calibration.median([3, 900, 2, 4, 1]) == 3)
        #expect(Calibration.median([2, 1]) == 1)
    }

    @Test func `a measurement computes real hashes`() async throws {
        let cost = try await Calibration.measure(Argon2Parameters(memoryKiB: 7168, iterations: 5), workers: 2)
        #expect(cost.time > .zero && cost.perSecond > 0)
    }

    @Test func `the path of the loaded library is known`() {
        #expect(Argon2.library.hasPrefix("/") && Argon2.library.contains("libargon2"))
    }
}
