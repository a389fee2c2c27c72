internal import Foundation

/// Counts the instructions of the release executable for a step, which do not depend on the speed of the machine.
enum Instructions {
    static func measure(into report: inout Report) throws {
        guard let program = ProcessInfo.processInfo.environment["ACCOUNTS_API"] else {
            throw Service.Failure(description: "ACCOUNTS_API is not set; scripts/bench sets it")
        }
        let conninfo = try Population.database("instructions")
        let text = try output(of: "scripts/instructions", [program, conninfo])
        guard let count = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Service.Failure(description: "scripts/instructions has printed no number: \(text)")
        }
        // A tenth more than there were when this goal was set.
        report.add(Goal("instructions of the server for a step", atMost: 1100, [count / 1000], unit: " thousand"))
    }
}
