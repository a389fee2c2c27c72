import Accounts
import ArgumentParser

extension Argon2Commands {
    struct Calibrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds the parameters with which a hash takes about so long on this machine.",
            discussion: """
                Measures with all workers at once, as under a storm. Passwords that are hashed already keep their parameters.

                EXAMPLE
                  accounts-api argon2 calibrate --target 250ms
                """
        )

        @Option(help: "How long a hash may take, such as 250ms.") var target: HashTime
        @Option(help: "The most memory of a hash in KiB.") var memoryKib = Argon2Parameters.ceiling.memoryKiB
        @Option(help: .of(.argon2Workers)) var argon2Workers: String?
        @Flag(help: "Answers in JSON.") var json = false

        func run() async throws {
            guard (Argon2Parameters().memoryKiB...Argon2Parameters.ceiling.memoryKiB).contains(memoryKib) else {
                throw ValidationError("--memory-kib is from 19456 to 262144")
            }
            let workers = try HashingSettings(SettingSource([.argon2Workers: argon2Workers])).workers
            let parameters = try await Calibration.parameters(for: target.duration, mostMemoryKiB: memoryKib) {
                try await Calibration.measure($0, workers: workers).time
            }
            let report = try await HashingReport(of: parameters, workers: workers)
            print(json ? JSON.object(report.members).text : report.text)
            let isLeast = parameters == Argon2Parameters()
            if isLeast, report.cost.time > target.duration * 1.2 {
                complain("less than this is not accepted, however long it takes")
            } else if !isLeast, report.cost.time < target.duration * 0.8 {
                complain("more than this is not accepted, however short it takes")
            }
        }
    }
}

/// A time such as `250ms` or `1s`.
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
