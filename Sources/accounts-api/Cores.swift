import Foundation

/// The processors that this process may use.
enum Cores {
    /// Those of the machine, or fewer where a control group allows less of their time (cgroup v2, `cpu.max`).
    static var available: Int {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        guard let text = try? String(contentsOfFile: "/sys/fs/cgroup/cpu.max", encoding: .utf8) else { return cores }
        return min(cores, allowed(by: text) ?? cores)
    }

    /// Reads `200000 100000`, microseconds of time in each period; `max` is no bound.
    static func allowed(by text: String) -> Int? {
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] > 0, numbers[1] > 0 else { return nil }
        return (numbers[0] + numbers[1] - 1) / numbers[1]
    }
}
