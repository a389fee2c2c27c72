import Accounts
import ArgumentParser

extension Argon2Commands {
    struct Calibrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds parameters with which a hash takes about the target time on this machine.",
            discussion: """
                Measures with all workers busy, as under full load, eight times and then once more with the result. \
                Existing password hashes keep their parameters until the next sign-in of their owners.

                EXAMPLES
                  accounts-api argon2 calibrate --target 250ms
                  accounts-api argon2 calibrate --target 250ms --workers 4 --memory-limit 512MiB
                """
        )

        @Option(help: "The target time of a hash, such as 250ms.") var target: HashTime
        @Option(\.argon2Workers, name: .long) var workers: String?
        @Option(help: "The maximum memory of all workers together, such as 512MiB; by default that of the machine.")
        var memoryLimit: MemorySize?
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let settings = try HashingSettings(SettingSource([\.argon2Workers: workers]))
            let workers = settings.workers
            let limit = try Self.maximumMemoryKiB(workers: workers, within: memoryLimit)
            let parameters = try await Calibration.parameters(for: target.duration, maximumMemoryKiB: limit) {
                try await Calibration.measure($0, workers: workers).time
            }
            let report = try await HashingReport(of: parameters, with: settings)
            print(json ? JSON.object(report.members).text : report.text)
            switch Calibration.verdict(
                on: parameters,
                within: limit,
                taking: report.cost.time,
                for: target.duration
            ) {
            case .fits: break
            case .isMinimum:
                printError("these are the minimum parameters, but a hash takes longer than the target on this machine")
            case .isMaximum:
                printError("these are the maximum parameters within the limits, but a hash takes less than the target")
            case .isUnsteady:
                printError(
                    "the time per hash differs from the target by more than a fifth, perhaps because other programs "
                        + "use the processor: run this again when the machine is quiet"
                )
            }
        }

        /// Returns the maximum memory in KiB of a hash: it is within ``Argon2Parameters/ceiling``, and all workers
        /// together stay within the limit and within the memory that `serve` accepts. Throws if that is too little for
        /// the minimum parameters.
        ///
        /// - Parameters:
        ///   - limit: the maximum memory of all workers together; nil for no limit.
        ///   - memory: the memory in bytes that this process may use.
        static func maximumMemoryKiB(
            workers: Int,
            within limit: MemorySize?,
            of memory: Int = Machine.memory
        ) throws -> Int {
            let minimum = Argon2Parameters()
            let required = (minimum.memoryKiB(ofWorkers: workers) + 1023) / 1024
            let maximum = limit.map { $0.kibibytes / workers - Argon2Parameters.overheadKiB }
            if let maximum, maximum < minimum.memoryKiB {
                throw ValidationError("--memory-limit must be at least \(required)MiB for \(workers) workers")
            }
            let accepted = Argon2Parameters.maximumMemoryKiB(workers: workers, within: memory)
            if accepted < minimum.memoryKiB {
                throw ValidationError(
                    "\(workers) workers need \(required)MiB, but only \(memory >> 20)MiB are available: pass fewer "
                        + "--workers"
                )
            }
            let ceiling = min(accepted, Argon2Parameters.ceiling.memoryKiB)
            return min(maximum ?? ceiling, ceiling)
        }
    }
}

/// An amount of memory such as `512MiB` or `2GiB`.
struct MemorySize: ExpressibleByArgument, Sendable {
    let kibibytes: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isNumber && $0.isASCII }
        guard let number = Int(digits), (1...1_000_000).contains(number) else { return nil }
        switch argument.dropFirst(digits.count) {
        case "MiB": kibibytes = number * 1024
        case "GiB": kibibytes = number * 1024 * 1024
        default: return nil
        }
    }
}

/// A duration such as `250ms` or `1s`.
struct HashTime: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        let digits = argument.prefix { $0.isNumber && $0.isASCII }
        guard let number = Int(digits), (1...10_000).contains(number) else { return nil }
        switch argument.dropFirst(digits.count) {
        case "ms": duration = .milliseconds(number)
        case "s": duration = .seconds(number)
        default: return nil
        }
    }
}
