import Accounts
import ArgumentParser

extension Argon2Commands {
    struct Calibrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds parameters with which a hash takes about the target time on this machine.",
            discussion: """
                Measures with all workers busy, as under full load, eight times and then once more with the result. \
                Existing password hashes keep their parameters.

                EXAMPLES
                  accounts-api argon2 calibrate --target 250ms
                  accounts-api argon2 calibrate --target 250ms --workers 4 --memory-limit 512MiB
                """
        )

        @Option(help: "The target time of a hash, such as 250ms.") var target: HashTime
        @Option(\.argon2Workers, name: .long) var workers: String?
        @Option(help: "The maximum memory of all workers together, such as 512MiB.") var memoryLimit: MemorySize?
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let settings = try HashingSettings(SettingSource([\.argon2Workers: workers]))
            let workers = settings.workers
            let maximumMemory =
                memoryLimit.map { $0.kibibytes / workers - Argon2Parameters.overheadKiB }
                ?? Argon2Parameters.ceiling.memoryKiB
            let minimum = Argon2Parameters()
            guard maximumMemory >= minimum.memoryKiB else {
                let required = (minimum.memoryKiB(ofWorkers: workers) + 1023) / 1024
                throw ValidationError("--memory-limit must be at least \(required)MiB for \(workers) workers")
            }
            let limit = min(maximumMemory, Argon2Parameters.ceiling.memoryKiB)
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
                    "the measurements differ by more than a fifth, so other programs use the processor: run this again "
                        + "when the machine is quiet"
                )
            }
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
