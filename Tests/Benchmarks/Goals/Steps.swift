internal import Foundation
internal import Logging

@testable import Accounts

/// Measures submissions of a step, compared with pgbench, which runs the same two statements, with the same server on a
/// usual connection pool, and with the same server without a database.
enum Steps {
    private struct Sample {
        let load: Load
        /// The processor time for one step.
        let cost: ProcessorTime
    }

    private enum Design: CaseIterable {
        case lanes, pool, echo, pgbench

        var name: String {
            switch self {
            case .lanes: "this service"
            case .pool: "the same with 16 blocking connections"
            case .echo: "the same without a database"
            case .pgbench: "pgbench, the same two statements"
            }
        }
    }

    static func measure(into report: inout Report, _ extent: Extent) async throws {
        let conninfo = try Population.database("steps")
        let database = try Connection(to: conninfo)
        let tokens = try Population.drafts(1024, on: database)
        let file = try Population.file(of: tokens)
        let flow = try Population.flowFile()
        defer { for file in [file, flow] { try? FileManager.default.removeItem(at: file) } }
        let pgbench = try await statements(on: Population.database("pgbench"))
        let services = try [Design.lanes: Connections.lanes, .pool: .pool, .echo: .echo].mapValues {
            try Service(["FLOW_FILE": flow.path], on: conninfo, with: $0)
        }
        let postmaster = try Service.postmaster(of: database)

        func sample(_ design: Design, _ connections: Int) throws -> Sample {
            let before = try ProcessorTime(of: services[design], postmaster: postmaster)
            let load =
                try services[design].map {
                    try Wrk(port: $0.port, tokens: file).run(connections: connections, for: extent.run)
                }
                ?? pgbench.run(clients: connections, for: extent.run)
            let spent = try ProcessorTime(of: services[design], postmaster: postmaster) - before
            return Sample(load: load, cost: spent / load.count)
        }

        for service in services.values {
            _ = try Wrk(port: service.port, tokens: file).run(connections: 16, for: .seconds(2))
        }
        _ = try pgbench.run(clients: 16, for: .seconds(2))
        var samples: [Design: [Int: [Sample]]] = [:]
        for _ in 0..<extent.rounds {
            for connections in extent.connections {
                for design in Design.allCases {
                    samples[design, default: [:]][connections, default: []].append(try sample(design, connections))
                }
            }
        }

        func rates(_ design: Design, _ connections: Int) -> [Double] { samples[design]![connections]!.map(\.load.rate) }
        func ratios(_ figures: [Double], _ others: [Double]) -> [Double] { zip(figures, others).map { $0 / $1 } }
        let ours = rates(.lanes, 64)
        report.add(
            Goal(
                "steps a second at 64 connections ÷ pgbench's with 16",
                atLeast: 1.3,
                ratios(ours, rates(.pgbench, 16))
            )
        )
        report.add(Goal("the same ÷ without a database", atLeast: 0.45, ratios(ours, rates(.echo, 64))))
        report.add(Goal("the same ÷ with 16 blocking connections", atLeast: 2, ratios(ours, rates(.pool, 64))))
        report.add(
            Goal(
                "p50 of a lone step ÷ pgbench's",
                atMost: 2,
                zip(samples[.lanes]![1]!, samples[.pgbench]![1]!).map { $0.load.p50 / $1.load.p50 }
            )
        )
        report.add(
            Goal(
                "processor time of a step at 64 connections, server and database",
                atMost: 150,
                samples[.lanes]![64]!.map { ($0.cost.server + $0.cost.database) / .microseconds(1) },
                unit: " µs"
            )
        )
        var table = Table(
            "design",
            "connections",
            "steps a second",
            "p50 ms",
            "p99 ms",
            "server µs",
            "database µs",
            "load µs"
        )
        for connections in extent.connections {
            for design in Design.allCases {
                let samples = samples[design]![connections]!
                let load = samples.map(\.load).median
                func cost(_ part: (ProcessorTime) -> Duration) -> String {
                    String(format: "%.0f", samples.map { part($0.cost) / .microseconds(1) }.median)
                }
                table.append(
                    design.name,
                    "\(connections)",
                    String(format: "%.0f", load.rate),
                    load.p50.text(in: .milliseconds(1)),
                    load.p99.text(in: .milliseconds(1)),
                    design == .pgbench ? "–" : cost(\.server),
                    cost(\.database),
                    cost(\.load)
                )
            }
        }
        report.add(
            table,
            under:
                "Step writes, durable; processor time of each, medians of \(extent.rounds) runs of \(extent.run.components.seconds) s"
        )
    }

    /// Inserts drafts, submits a step to four of them and records its statements. Returns pgbench with these
    /// statements. Afterwards only pgbench can use the drafts.
    private static func statements(on conninfo: String) async throws -> Pgbench {
        let tokens = try Population.drafts(1024, on: Connection(to: conninfo))
        let recorder = StatementRecorder()
        let database = Database(conninfo, threads: 1) { queue in Echo(queue, recorder: recorder).run(on: conninfo) }
        let signups = Signups(
            flow: try Flow(yaml: Population.flow, file: "benchmark.yaml"),
            serviceName: "Benchmark",
            database: database,
            keys: try KeyRing(Population.keys),
            hashing: try HashingPool(parameters: Argon2Parameters(), workers: 1, queue: 1),
            images: .none,
            outbox: Outbox(keys: try KeyRing(Population.keys))
        )
        try await signups.partitions.load(from: database)
        var steps: [(statements: [SQL], draft: Draft)] = []
        for token in tokens.prefix(4) {
            let before = recorder.statements.count
            let draft = try await signups.find(token)
            _ = try await signups.submit(
                Answers([
                    .init("name", .json("Ann Lee")),
                    .init("introduction", .json(.string(String(repeating: "a word and ", count: 20)))),
                ]),
                to: signups.flow.steps[0],
                of: draft
            )
            steps.append((Array(recorder.statements.dropFirst(before)), draft))
        }
        await database.shutdown()
        guard steps.allSatisfy({ $0.statements.count == 2 }) else {
            throw Service.Failure(description: "a step must have two statements, one that reads and one that writes")
        }
        return try Pgbench(steps, on: conninfo)
    }
}
