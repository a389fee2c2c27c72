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
    let cost: Calibration.Cost

    init(of parameters: Argon2Parameters, workers: Int, queue: Int) async throws {
        self.parameters = parameters
        self.workers = workers
        self.queue = queue
        cost = try await Calibration.measure(parameters, workers: workers)
    }

    private var milliseconds: Int { Int((cost.time / .milliseconds(1)).rounded()) }
    private var mebibytes: Int { parameters.memoryKiB(ofWorkers: workers) / 1024 }
    /// The seconds until the last password in a full queue is hashed. A server accepts no password that would wait
    /// longer than `ARGON2_WAIT`.
    private var longestWait: Double { cost.time * (queue + workers) / workers / .seconds(1) }

    var text: String {
        let perSecond = "\((cost.perSecond * 10).rounded() / 10)"
        return """
            ARGON2_MEMORY_KIB=\(parameters.memoryKiB)
            ARGON2_ITERATIONS=\(parameters.iterations)
            ARGON2_WORKERS=\(workers)

            time per hash  \(milliseconds) ms with all workers busy
            throughput     \(perSecond) passwords per second
            memory         \(mebibytes) MiB for all workers
            longest wait   \((longestWait * 10).rounded() / 10) s behind a full queue of \(queue)
            """
    }

    var members: [JSON.Member] {
        [
            .init("memory_kib", .integer(parameters.memoryKiB)), .init("iterations", .integer(parameters.iterations)),
            .init("workers", .integer(workers)), .init("milliseconds", .integer(milliseconds)),
            .init("per_second", .number((cost.perSecond * 10).rounded() / 10)),
            .init("memory_mib", .integer(mebibytes)),
            .init("worst_seconds", .number((longestWait * 10).rounded() / 10)),
        ]
    }
}
