import Accounts
import ArgumentParser

struct Argon2Commands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "argon2",
        abstract: "Shows what hashing a password costs on this machine, and finds what it should.",
        subcommands: [Info.self, Calibrate.self]
    )
}

/// What a command says about parameters that it has tried.
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
    private var mebibytes: Int { parameters.memoryKiB * workers / 1024 }
    /// Of the last in a full queue, for the end of the hash.
    private var worst: Double { cost.time * (queue + workers) / workers / .seconds(1) }

    var text: String {
        let perSecond = "\((cost.perSecond * 10).rounded() / 10)"
        return """
            ARGON2_MEMORY_KIB=\(parameters.memoryKiB)
            ARGON2_ITERATIONS=\(parameters.iterations)
            ARGON2_WORKERS=\(workers)

            a hash    \(milliseconds) ms, while all workers hash
            a second  \(perSecond) passwords, and so many sign-ups
            memory    \(mebibytes) MiB for all workers
            at worst  \((worst * 10).rounded() / 10) s, behind \(queue) others
            """
    }

    var members: [JSON.Member] {
        [
            .init("memory_kib", .integer(parameters.memoryKiB)), .init("iterations", .integer(parameters.iterations)),
            .init("workers", .integer(workers)), .init("milliseconds", .integer(milliseconds)),
            .init("per_second", .number((cost.perSecond * 10).rounded() / 10)),
            .init("memory_mib", .integer(mebibytes)),
            .init("worst_seconds", .number((worst * 10).rounded() / 10)),
        ]
    }
}
