/// Measures the cost of hashing on this machine.
package enum Calibration {
    /// Hashes `rounds` passwords on each worker, with all workers busy. Returns the time of one hash and the number of
    /// hashes per second.
    package static func measure(_ parameters: Argon2Parameters, workers: Int, rounds: Int = 4) async throws -> Cost {
        let pool = try HashingPool(parameters: parameters, workers: workers, queue: workers * rounds)
        // The first use of the memory takes longer than the others.
        _ = try await pool.hash(password())
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for _ in 0..<workers * rounds { group.addTask { _ = try await pool.hash(password()) } }
            try await group.waitForAll()
        }
        return Cost(of: (ContinuousClock.now - start) / rounds, workers: workers)
    }

    package struct Cost: Sendable {
        /// The time of one hash while all workers are busy.
        package let time: Duration
        /// The number of hashes per second on all workers together.
        package let perSecond: Double

        init(of time: Duration, workers: Int) {
            self.time = time
            perSecond = Double(workers) / (time / .seconds(1))
        }
    }

    private static func password() -> SharedSecret { SharedSecret(Secret(normalising: "a password like any other")) }

    /// Finds parameters with which one hash takes about the target time. Increases the memory first, because memory
    /// costs an attacker most, and then the number of passes. Never returns less than the default parameters, even if a
    /// hash with them takes longer.
    ///
    /// - Parameter cost: measures the time of a hash, which is roughly proportional to memory times passes.
    package static func parameters(
        for target: Duration,
        maximumMemoryKiB: Int = Argon2Parameters.ceiling.memoryKiB,
        _ cost: (Argon2Parameters) async throws -> Duration
    ) async rethrows -> Argon2Parameters {
        let minimum = Argon2Parameters()
        var found = minimum
        // The second round is more exact: the first one measures less memory, of which more fits into the caches of the
        // processor.
        for _ in 0..<2 {
            let factor = target / (try await cost(found))
            let work = Double(found.memoryKiB * found.iterations) * factor
            let memory = min(
                max(Int(work / 2 / 1024) * 1024, minimum.memoryKiB),
                max(maximumMemoryKiB, minimum.memoryKiB)
            )
            let passes = Int((work / Double(memory)).rounded())
            found = Argon2Parameters(
                memoryKiB: memory,
                iterations: min(max(passes, minimum.iterations), Argon2Parameters.ceiling.iterations)
            )
        }
        return found
    }
}
