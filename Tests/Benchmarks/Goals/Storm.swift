internal import Foundation
internal import Synchronization

@testable import Accounts

/// Measures steps while the server hashes as many passwords as it can, compared with steps without passwords, with the
/// default number of hashing threads and with one for each core. Also measures the memory of the server.
enum Storm {
    /// The default number of hashing threads, and one for each core.
    static let workers: (normal: Int, all: Int) = {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return (max(1, cores - 1), cores)
    }()

    static func measure(into report: inout Report, _ extent: Extent) throws {
        let conninfo = try Population.database("storm")
        let database = try Connection(to: conninfo)
        let file = try Population.file(of: Population.drafts(1024, on: database))
        let flow = try Population.flowFile()
        defer { for file in [file, flow] { try? FileManager.default.removeItem(at: file) } }
        let service = try Service(["FLOW_FILE": flow.path], on: conninfo)
        Thread.sleep(forTimeInterval: 1)
        let idle = service.memory.now
        _ = try Wrk(port: service.port, tokens: file).run(connections: 64, for: .seconds(1))
        let loaded = service.memory.now

        let all = try Service(["FLOW_FILE": flow.path, "ARGON2_WORKERS": "\(workers.all)"], on: conninfo)
        _ = try Wrk(port: all.port, tokens: file).run(connections: 64, for: .seconds(1))
        var rounds: (normal: [Round], all: [Round]) = ([], [])
        for _ in 0..<extent.rounds {
            rounds.normal.append(try Round(at: service, tokens: file, on: database, for: extent.run))
            rounds.all.append(try Round(at: all, tokens: file, on: database, for: extent.run))
        }
        let ratios = rounds.normal.map(\.ratios)
        report.add(Goal("steps a second during a hashing storm ÷ without", atLeast: 0.6, ratios.map(\.rate)))
        report.add(Goal("their p50, in the worst run", atMost: 1.5, [ratios.map(\.p50).max()!]))
        report.add(Goal("their p99, in the worst run", atMost: 4, [ratios.map(\.p99).max()!]))
        var table = Table(
            "hashing threads",
            "passwords",
            "steps a second",
            "p50 ms",
            "p99 ms",
            "hashes a second",
            "worst p50 ÷ without",
            "worst p99 ÷ without"
        )
        for (workers, rounds) in [(workers.normal, rounds.normal), (workers.all, rounds.all)] {
            let loads: [(String, [Load], [Round])] = [
                ("none", rounds.map(\.calm), []), ("32 at a time", rounds.map(\.storm), rounds),
            ]
            for (name, loads, rounds) in loads {
                let load = loads.median
                table.append(
                    "\(workers)",
                    name,
                    String(format: "%.0f", load.rate),
                    load.p50.text(in: .milliseconds(1)),
                    load.p99.text(in: .milliseconds(1)),
                    rounds.isEmpty ? "–" : String(format: "%.1f", rounds.map(\.hashes).median),
                    rounds.map(\.ratios.p50).max().map { String(format: "%.2f", $0) } ?? "–",
                    rounds.map(\.ratios.p99).max().map { String(format: "%.2f", $0) } ?? "–"
                )
            }
        }
        report.add(table, under: "Steps on 64 connections, and passwords beside them")

        // Sends ten times as many passwords at once as the hashing threads and their queue hold.
        let burst = try PasswordClients(
            to: service,
            tokens: Population.drafts(10 * (workers.normal + 32), on: database)
        )
        Thread.sleep(forTimeInterval: extent.run / .seconds(1))
        burst.stop()
        let peak = service.memory.peak
        let allowed = 45 + Double(workers.normal) * (19 + 2)
        report.add(Goal("memory at rest", atMost: allowed, [idle], unit: " MiB"))
        report.add(Goal("memory in a tenfold burst of passwords, at most", atMost: allowed, [peak], unit: " MiB"))
        var memory = Table("when", "MiB")
        for (name, size) in [
            ("at rest", idle), ("after steps on 64 connections", loaded), ("at most, in a tenfold burst", peak),
        ] {
            memory.append(name, String(format: "%.1f", size))
        }
        report.add(memory, under: "Memory of the server, with \(workers.normal) × 19 MiB for hashing in it")
    }

    /// Steps without passwords, and then beside them.
    private struct Round {
        let calm, storm: Load
        let hashes: Double

        init(at service: Service, tokens: URL, on database: borrowing Connection, for time: Duration) throws {
            let wrk = Wrk(port: service.port, tokens: tokens)
            calm = try wrk.run(connections: 64, for: time)
            let passwords = try PasswordClients(to: service, tokens: Population.drafts(32, on: database))
            let (start, before) = (ContinuousClock.now, passwords.count)
            storm = try wrk.run(connections: 64, for: time)
            hashes = Double(passwords.count - before) / ((ContinuousClock.now - start) / .seconds(1))
            passwords.stop()
        }

        /// The figures of the storm, divided by those without passwords.
        var ratios: (rate: Double, p50: Double, p99: Double) {
            (storm.rate / calm.rate, storm.p50 / calm.p50, storm.p99 / calm.p99)
        }
    }
}

/// Clients that send a password, and send it again after each response, accepted or not.
private final class PasswordClients: Sendable {
    private let isStopped = Atomic(false)
    private let hashed = Atomic(0)
    private let threads = Mutex<[DedicatedThread]>([])

    init(to service: Service, tokens: [Token<Draft>]) throws {
        let profile: JSON = ["name": "Ann Lee", "introduction": "Nothing to say."]
        for token in tokens {
            let response = try service.client.request(
                "PUT",
                "/signup/profile",
                profile,
                ["Authorization": "Bearer \(token.text)"]
            )
            guard response.status == 200 else { throw Service.Failure(description: response.body) }
        }
        let clients = tokens.enumerated().map { number, token in
            DedicatedThread(named: "password-\(number)") {
                let client = Client(port: service.port)
                while !self.isStopped.load(ordering: .relaxed) {
                    let response = try? client.request(
                        "PUT",
                        "/signup/password",
                        ["password": "four plain words here"],
                        ["Authorization": "Bearer \(token.text)"]
                    )
                    switch response?.status {
                    case 200: self.hashed.add(1, ordering: .relaxed)
                    // A refused client waits less than Retry-After says, but it does not retry immediately.
                    default: Thread.sleep(forTimeInterval: 0.1)
                    }
                }
            }
        }
        threads.withLock { $0 = clients }
    }

    /// The number of hashed passwords.
    var count: Int { hashed.load(ordering: .relaxed) }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}
