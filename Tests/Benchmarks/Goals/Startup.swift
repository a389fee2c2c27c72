internal import Foundation

@testable import Accounts

/// Measures the time from the start of the release executable, without migrations, to its first response.
enum Startup {
    static func measure(into report: inout Report, _ extent: Extent) throws {
        guard let program = ProcessInfo.processInfo.environment["ACCOUNTS_API"] else {
            throw Service.Failure(description: "ACCOUNTS_API is not set; scripts/bench sets it")
        }
        let conninfo = try Population.database("startup")
        let times = try (0..<extent.rounds).map { _ in
            let start = ContinuousClock.now
            let service = try Service(program, ["serve"], on: conninfo)
            let response = try service.client.request("GET", "/health/ready")
            guard response.status == 200 else { throw Service.Failure(description: response.body) }
            return (ContinuousClock.now - start) / .milliseconds(1)
        }
        report.add(Goal("from start to ready", atMost: 150, times, unit: " ms"))
        let stripped = FileManager.default.temporaryDirectory.appending(path: "stripped-\(UUID())")
        defer { try? FileManager.default.removeItem(at: stripped) }
        _ = try output(of: "strip", ["--strip-all", "--output-file=\(stripped.path)", program])
        let sizes = try [URL(filePath: program), stripped].map { file in
            Double(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) / 1_000_000
        }
        var table = Table("executable", "MB")
        table.append("as built", String(format: "%.1f", sizes[0]))
        table.append("stripped", String(format: "%.1f", sizes[1]))
        report.add(table, under: "Size")
    }
}
