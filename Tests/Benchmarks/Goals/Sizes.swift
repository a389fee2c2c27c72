internal import Foundation

@testable import Accounts

/// Measures whether steps take longer when the table contains more drafts.
enum Sizes {
    /// The times at which the drafts were created are spread over this many hours before the measurement.
    private static let creationHours = 20.0

    static func measure(into report: inout Report, _ extent: Extent) throws {
        let flow = try Population.flowFile()
        var wrks: [Wrk] = []
        var services: [Service] = []
        defer { for file in wrks.map(\.tokens) + [flow] { try? FileManager.default.removeItem(at: file) } }
        for size in extent.sizes {
            let conninfo = try Population.database("drafts_\(size)")
            let database = try Connection(to: conninfo)
            // The creation times of the drafts that the steps use are spread among those of the other drafts.
            let tokens = try Population.drafts(4096, within: creationHours, on: database)
            try Population.insertOtherDrafts(size - tokens.count, within: creationHours, on: database)
            let service = try Service(["FLOW_FILE": flow.path], on: conninfo)
            services.append(service)
            wrks.append(Wrk(port: service.port, tokens: try Population.file(of: tokens.shuffled())))
        }
        try Connection(to: Service.conninfo).run("CHECKPOINT")
        for wrk in wrks { _ = try wrk.run(connections: 16, for: .seconds(3)) }
        var loadsBySize = [[Load]](repeating: [], count: wrks.count)
        for _ in 0..<extent.rounds {
            for (index, wrk) in wrks.enumerated() {
                loadsBySize[index].append(try wrk.run(connections: 16, for: extent.run))
            }
        }
        let ratios = zip(loadsBySize.last!, loadsBySize[0]).map { $0.p99 / $1.p99 }
        report.add(
            Goal("p99 of steps with \(extent.sizes.last!) drafts ÷ with \(extent.sizes[0])", atMost: 1.3, ratios)
        )
        var table = Table("drafts", "steps a second", "p50 ms", "p99 ms")
        for (size, loads) in zip(extent.sizes, loadsBySize) {
            let load = loads.median
            table.append(
                "\(size)",
                String(format: "%.0f", load.rate),
                load.p50.text(in: .milliseconds(1)),
                load.p99.text(in: .milliseconds(1))
            )
        }
        report.add(table, under: "Steps on 16 connections, by how many drafts there are")
        withExtendedLifetime(services) {}
    }
}
