internal import Foundation
internal import Synchronization

@testable import Accounts

/// Measures steps while the server hashes as many passwords as it can, compared with steps without passwords. Also
/// measures the memory of the server.
enum Storm {
    static func measure(into report: inout Report, _ extent: Extent) throws {
        let conninfo = try Population.database("storm")
        let database = try Connection(to: conninfo)
        let file = try Population.file(of: Population.drafts(1024, on: database))
        let flow = try Population.flowFile()
        defer { for file in [file, flow] { try? FileManager.default.removeItem(at: file) } }
        let service = try Service(["FLOW_FILE": flow.path], on: conninfo)
        let wrk = Wrk(port: service.port, tokens: file)
        Thread.sleep(forTimeInterval: 1)
        let idle = service.memory.now

        _ = try wrk.run(connections: 64, for: .seconds(1))
        let loaded = service.memory.now
        var withoutStorm: [Load] = []
        var duringStorm: [Load] = []
        var hashes: [Double] = []
        for _ in 0..<extent.rounds {
            withoutStorm.append(try wrk.run(connections: 64, for: extent.run))
            let storm = try PasswordClients(to: service, tokens: Population.drafts(32, on: database))
            let (start, before) = (ContinuousClock.now, storm.count)
            duringStorm.append(try wrk.run(connections: 64, for: extent.run))
            hashes.append(Double(storm.count - before) / ((ContinuousClock.now - start) / .seconds(1)))
            storm.stop()
        }
        func ratio(_ figure: (Load) -> Double) -> [Double] {
            zip(duringStorm, withoutStorm).map { figure($0) / figure($1) }
        }
        report.add(Goal("steps a second during a hashing storm ÷ without", atLeast: 0.6, ratio(\.rate)))
        report.add(Goal("their p50", atMost: 1.5, ratio { $0.p50 / .seconds(1) }))
        report.add(Goal("their p99", atMost: 4, ratio { $0.p99 / .seconds(1) }))
        var table = Table("passwords", "steps a second", "p50 ms", "p99 ms", "hashes a second")
        for (name, loads, rate) in [("none", withoutStorm, 0), ("32 at a time", duringStorm, hashes.median)] {
            let load = loads.median
            table.append(
                name,
                String(format: "%.0f", load.rate),
                load.p50.text(in: .milliseconds(1)),
                load.p99.text(in: .milliseconds(1)),
                String(format: "%.1f", rate)
            )
        }
        report.add(table, under: "Steps on 64 connections, and passwords beside them")

        // Sends ten times as many passwords at once as the hashing threads and their queue hold.
        let workers = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
        let burst = try PasswordClients(to: service, tokens: Population.drafts(10 * (workers + 32), on: database))
        Thread.sleep(forTimeInterval: extent.run / .seconds(1))
        burst.stop()
        let peak = service.memory.peak
        let allowed = 45 + Double(workers) * (19 + 2)
        report.add(Goal("memory at rest", atMost: allowed, [idle], unit: " MiB"))
        report.add(Goal("memory in a tenfold burst of passwords, at most", atMost: allowed, [peak], unit: " MiB"))
        var memory = Table("when", "MiB")
        for (name, size) in [
            ("at rest", idle), ("after steps on 64 connections", loaded), ("at most, in a tenfold burst", peak),
        ] {
            memory.append(name, String(format: "%.1f", size))
        }
        report.add(memory, under: "Memory of the server, with \(workers) × 19 MiB for hashing in it")
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
