/// Measures the cost of hashing on this machine, and finds parameters with a given cost.
package enum Calibration {
    /// Hashes passwords with all workers busy. Returns the time of one hash and the number of hashes per second. Both
    /// come from the median of the samples, so that, with several samples, a moment in which something else used the
    /// processor does not count.
    ///
    /// - Parameters:
    ///   - samples: the minimum number of samples. In each sample, every worker hashes one password.
    ///   - time: the minimum time of all samples together. If 64 samples take less time, no further sample follows.
    package static func measure(
        _ parameters: Argon2Parameters,
        workers: Int,
        samples: Int = 3,
        for time: Duration = .milliseconds(300)
    ) async throws -> Cost {
        let pool = try HashingPool(parameters: parameters, workers: workers, queue: workers)
        func sample() async throws -> Duration {
            let start = ContinuousClock.now
            try await withThrowingTaskGroup { group in
                for _ in 0..<workers { group.addTask { _ = try await pool.hash(password()) } }
                try await group.waitForAll()
            }
            return ContinuousClock.now - start
        }
        // This sample does not count, because the first one may take longer than the others.
        _ = try await sample()
        let start = ContinuousClock.now
        var times: [Duration] = []
        while times.count < samples || (times.count < 64 && ContinuousClock.now - start < time) {
            times.append(try await sample())
        }
        return Cost(of: median(times), workers: workers)
    }

    /// The middle value in ascending order. If the number of values is even, the lower of the two middle values.
    static func median<Value: Comparable>(_ values: [Value]) -> Value {
        values.sorted()[(values.count - 1) / 2]
    }

    package struct Cost: Sendable {
        /// The time of one hash while all workers are busy.
        package let time: Duration
        /// The number of hashes per second on all workers together.
        package let perSecond: Double

        package init(of time: Duration, workers: Int) {
            self.time = time
            perSecond = Double(workers) / (time / .seconds(1))
        }
    }

    private static func password() -> SharedSecret { SharedSecret(Secret(normalising: "a password like any other")) }

    /// Finds parameters with which one hash takes about the target time. Increases the memory first, because memory
    /// costs an attacker most, and then the number of passes. Never returns less than the default parameters, even if a
    /// hash with them takes longer.
    ///
    /// Measures once with the default parameters, and then seven times with parameters that should take the target
    /// time. The median of the seven speeds decides, so three measurements may be wrong because the machine was busy.
    ///
    /// - Parameter cost: measures the time of a hash, which is roughly proportional to memory times passes.
    package static func parameters(
        for target: Duration,
        maximumMemoryKiB: Int = Argon2Parameters.ceiling.memoryKiB,
        _ cost: (Argon2Parameters) async throws -> Duration
    ) async rethrows -> Argon2Parameters {
        let minimum = Argon2Parameters()
        // The first measurement is only an estimate: it uses less memory, so a larger part of the memory fits into the
        // caches of the processor.
        var found = parameters(of: work(minimum) * (target / (try await cost(minimum))), within: maximumMemoryKiB)
        var speeds: [Double] = []
        for _ in 0..<7 {
            speeds.append(work(found) / (try await cost(found) / .seconds(1)))
            found = parameters(of: median(speeds) * (target / .seconds(1)), within: maximumMemoryKiB)
        }
        return found
    }

    /// The memory in KiB times the passes.
    private static func work(_ parameters: Argon2Parameters) -> Double {
        Double(parameters.memoryKiB * parameters.iterations)
    }

    /// Returns the parameters whose memory in KiB times passes is about `work`, within the limits, and with as few
    /// passes as possible. The memory then follows `work` in steps of 1 MiB, so a small error of a measurement does not
    /// change the cost by a whole pass.
    private static func parameters(of work: Double, within maximumMemoryKiB: Int) -> Argon2Parameters {
        let minimum = Argon2Parameters()
        let ceiling = max(maximumMemoryKiB, minimum.memoryKiB)
        func parameters(ofPasses passes: Int) -> Argon2Parameters {
            let passes = min(max(passes, minimum.iterations), Argon2Parameters.ceiling.iterations)
            let memory = Int(work / Double(passes) / 1024) * 1024
            return Argon2Parameters(memoryKiB: min(max(memory, minimum.memoryKiB), ceiling), iterations: passes)
        }
        let passes = Int((work / Double(ceiling)).rounded(.up))
        let found = parameters(ofPasses: passes)
        // If the limit is just above the minimum memory, one pass more with the minimum memory may be much too much.
        let smaller = parameters(ofPasses: passes - 1)
        return Self.work(found) - work > work - Self.work(smaller) ? smaller : found
    }

    /// What the time of a hash says about parameters that ``parameters(for:maximumMemoryKiB:_:)`` has found.
    package enum Verdict: Sendable {
        /// The time is within a fifth of the target.
        case fits
        /// The hash takes more than 1.2 times the target with the default parameters, which are the minimum that the
        /// search returns.
        case isMinimum
        /// The hash takes less than 0.8 times the target with the maximum number of passes and all memory within the
        /// limit.
        case isMaximum
        /// None of these, so the speed of the machine has changed since the parameters were found: something else uses
        /// the processor, or used it then.
        case isUnsteady
    }

    package static func verdict(
        on parameters: Argon2Parameters,
        within maximumMemoryKiB: Int = Argon2Parameters.ceiling.memoryKiB,
        taking time: Duration,
        for target: Duration
    ) -> Verdict {
        let ceiling = Argon2Parameters.ceiling
        // Memory grows in steps of 1 MiB.
        let hasAllMemory = parameters.memoryKiB + 1024 > min(maximumMemoryKiB, ceiling.memoryKiB)
        switch time / target {
        case 0.8...1.2: return .fits
        case ..<1: return hasAllMemory && parameters.iterations == ceiling.iterations ? .isMaximum : .isUnsteady
        default: return parameters == Argon2Parameters() ? .isMinimum : .isUnsteady
        }
    }
}
