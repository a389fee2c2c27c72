internal import Foundation

/// The goals in docs/performance.md.
enum Goals: String, CaseIterable {
    case steps, hashes, signups, storm, refreshes, sizes, startup, instructions

    /// - Parameter names: the goals to measure; `quick` for a short run of all goals; `goals` for a full run of all
    ///   goals, whose results are written into docs/performance.md.
    static func measure(_ names: [String]) async throws {
        var report = Report()
        let extent = names == ["quick"] ? Extent.quick : .whole
        for goal in allCases where names == ["quick"] || names == ["goals"] || names.contains(goal.rawValue) {
            try await goal.measure(into: &report, extent)
        }
        if names == ["goals"] { try report.write(to: URL(filePath: "docs/performance.md")) }
    }

    private func measure(into report: inout Report, _ extent: Extent) async throws {
        switch self {
        case .steps: try await Steps.measure(into: &report, extent)
        case .hashes: try Hashes.measure(into: &report, extent)
        case .signups: try await WholeSignups.measure(into: &report, extent)
        case .storm: try Storm.measure(into: &report, extent)
        case .refreshes: try Refreshes.measure(into: &report, extent)
        case .sizes: try Sizes.measure(into: &report, extent)
        case .startup: try Startup.measure(into: &report, extent)
        case .instructions: try Instructions.measure(into: &report)
        }
    }
}
