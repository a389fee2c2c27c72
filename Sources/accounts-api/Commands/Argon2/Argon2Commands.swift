import Accounts
import ArgumentParser

struct Argon2Commands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "argon2",
        abstract: "Measures the cost of a password hash on this machine, and finds suitable parameters.",
        subcommands: [Info.self, Calibrate.self]
    )
}

/// The parameters of a hash and their measured cost.
struct HashingReport {
    let parameters: Argon2Parameters
    let workers: Int
    let queue: Int
    let maximumWait: Duration
    let cost: Calibration.Cost

    private var milliseconds: Int { Int((cost.time / .milliseconds(1)).rounded()) }
    private var mebibytes: Int { parameters.memoryKiB(ofWorkers: workers) / 1024 }

    /// The time until the last password in a full queue reaches a worker.
    private var queueTime: Duration { cost.time * queue / workers }

    /// The seconds until the last password that a server accepts is hashed. A server accepts no password that would
    /// wait longer than `ARGON2_WAIT` for a worker.
    private var longestWait: Double {
        let seconds = (min(queueTime, maximumWait) + cost.time) / .seconds(1)
        return (seconds * 10).rounded() / 10
    }

    /// A phrase that says what limits the longest wait.
    private var limit: String {
        queueTime > maximumWait
            ? "limited by ARGON2_WAIT=\(Int(maximumWait / .seconds(1)))" : "behind a full queue of \(queue)"
    }

    var text: String {
        let perSecond = "\((cost.perSecond * 10).rounded() / 10)"
        return """
            ARGON2_MEMORY_KIB=\(parameters.memoryKiB)
            ARGON2_ITERATIONS=\(parameters.iterations)
            ARGON2_WORKERS=\(workers)

            time per hash  \(milliseconds) ms with all workers busy
            throughput     \(perSecond) passwords per second
            memory         \(mebibytes) MiB for all workers
            longest wait   \(longestWait) s, \(limit)
            """
    }

    var members: [JSON.Member] {
        [
            .init("memory_kib", .integer(parameters.memoryKiB)), .init("iterations", .integer(parameters.iterations)),
            .init("workers", .integer(workers)), .init("milliseconds", .integer(milliseconds)),
            .init("per_second", .number((cost.perSecond * 10).rounded() / 10)),
            .init("memory_mib", .integer(mebibytes)),
            .init("worst_seconds", .number(longestWait)),
        ]
    }
}

extension HashingReport {
    /// Measures the cost of a hash with all workers of the settings busy.
    init(of parameters: Argon2Parameters, with settings: HashingSettings) async throws {
        self.init(
            parameters: parameters,
            workers: settings.workers,
            queue: settings.queue,
            maximumWait: settings.maximumWait,
            cost: try await Calibration.measure(parameters, workers: settings.workers)
        )
    }
}
