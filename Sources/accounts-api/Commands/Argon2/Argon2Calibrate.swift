import Accounts
import ArgumentParser

extension Argon2Commands {
    struct Calibrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Finds the parameters with which a hash takes about so long on this machine.",
            discussion: """
                Measures with all workers at once, as under a storm. Passwords that are hashed already keep their parameters.

                EXAMPLES
                  accounts-api argon2 calibrate --target 250ms
                  accounts-api argon2 calibrate --target 250ms --workers 4 --memory-limit 512MiB
                """
        )

        @Option(help: "How long a hash may take, such as 250ms.") var target: HashTime
        @Option(help: .of(.argon2Workers)) var workers: String?
        @Option(help: "The most memory of all workers, such as 512MiB.") var memoryLimit: MemorySize?
        @Flag(help: "Answers in JSON.") var json = false

        func run() async throws {
            let settings = try HashingSettings(SettingSource([.argon2Workers: workers]))
            let workers = settings.workers
            // Each worker has two MiB beside.
            let room = memoryLimit.map { $0.kibibytes / workers - 2048 } ?? Argon2Parameters.ceiling.memoryKiB
            guard room >= Argon2Parameters().memoryKiB else {
                throw ValidationError("that is no room for \(workers) workers with the least memory that is accepted")
            }
            let parameters = try await Calibration.parameters(
                for: target.duration,
                mostMemoryKiB: min(room, Argon2Parameters.ceiling.memoryKiB)
            ) {
                try await Calibration.measure($0, workers: workers).time
            }
            let report = try await HashingReport(of: parameters, workers: workers, queue: settings.queue)
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

/// Memory such as `512MiB` or `2GiB`.
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
