/// What hashing costs on this machine.
package enum Calibration {
    /// Hashes so many passwords at once as there are workers, so many times, and returns how long one takes then and how
    /// many a second that makes.
    package static func measure(_ parameters: Argon2Parameters, workers: Int, rounds: Int = 4) async throws -> Cost {
        let pool = try HashingPool(parameters: parameters, workers: workers, queue: workers * rounds)
        // The first use of the memory is dearer than the others.
        _ = try await pool.hash(password())
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for _ in 0..<workers * rounds { group.addTask { _ = try await pool.hash(password()) } }
            try await group.waitForAll()
        }
        return Cost(of: (ContinuousClock.now - start) / rounds, workers: workers)
    }

    package struct Cost: Sendable {
        /// One hash, while all workers are at work.
        package let time: Duration
        package let perSecond: Double

        init(of time: Duration, workers: Int) {
            self.time = time
            perSecond = Double(workers) / (time / .seconds(1))
        }
    }

    private static func password() -> SharedSecret { SharedSecret(Secret(normalising: "a password like any other")) }

    /// The parameters with which one hash takes about that long: more memory first, since that is what an attacker pays
    /// for, and more passes where there is no more. Never below the least that is accepted, however long that takes.
    ///
    /// - Parameter cost: how long a hash takes with them; it grows as memory times passes.
    package static func parameters(
        for target: Duration,
        maximumMemoryKiB: Int = Argon2Parameters.ceiling.memoryKiB,
        _ cost: (Argon2Parameters) async throws -> Duration
    ) async rethrows -> Argon2Parameters {
        let least = Argon2Parameters()
        var found = least
        // The second look corrects what the caches of the processor hid from the first.
        for _ in 0..<2 {
            let factor = target / (try await cost(found))
            let work = Double(found.memoryKiB * found.iterations) * factor
            let memory = min(max(Int(work / 2 / 1024) * 1024, least.memoryKiB), max(maximumMemoryKiB, least.memoryKiB))
            let passes = Int((work / Double(memory)).rounded())
            found = Argon2Parameters(
                memoryKiB: memory,
                iterations: min(max(passes, least.iterations), Argon2Parameters.ceiling.iterations)
            )
        }
        return found
    }
}
