import Foundation

/// The name of the machine, and the resources that this process may use: those of the machine, or less if a control
/// group (cgroup v2) of this process has lower limits. Each container and each systemd service has a control group.
enum Machine {
    /// The host name, such as `web-1`; in a container, that of the container. Nil if the host has no name.
    static var name: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { room in
            room.initialize(repeating: 0)
            // The last byte stays zero, so that the name always ends.
            guard let start = room.baseAddress, gethostname(start, room.count - 1) == 0 else { return nil }
            let name = String(cString: start)
            return name.isEmpty ? nil : name
        }
    }

    static var cores: Int {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return limits("cpu.max").compactMap(cores(allowedBy:)).reduce(cores, min)
    }

    /// The memory in bytes.
    static var memory: Int {
        let memory = Int(ProcessInfo.processInfo.physicalMemory)
        return limits("memory.max").compactMap(memory(allowedBy:)).reduce(memory, min)
    }

    /// Returns the texts of the files with this name in the control groups of this process. Omits groups without such a
    /// file.
    private static func limits(_ name: String) -> [String] {
        let text = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
        return controlGroups(in: text).compactMap {
            try? String(contentsOfFile: "/sys/fs/cgroup\($0)/\(name)", encoding: .utf8)
        }
    }

    /// Parses the text of `/proc/self/cgroup`. Returns the paths of the process's control group (cgroup v2) and of all
    /// groups that contain it, such as `["/system.slice/api.service", "/system.slice", ""]`. In a container, the path
    /// is usually that of the root.
    static func controlGroups(in text: String) -> [String] {
        let group = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("0::/") }?.dropFirst("0::".count) ?? ""
        let names = group.split(separator: "/")
        return (0...names.count).reversed().map { count in names.prefix(count).map { "/\($0)" }.joined() }
    }

    /// Reads a text such as `200000 100000`: the microseconds of processor time in each period, and the length of the
    /// period. Returns their quotient, rounded up. Nil for `max`, which means no limit, or if the text is malformed.
    static func cores(allowedBy text: String) -> Int? {
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] > 0, numbers[1] > 0 else { return nil }
        return (numbers[0] + numbers[1] - 1) / numbers[1]
    }

    /// Reads a number of bytes. Nil for `max`, which means no limit, or if the text is malformed.
    static func memory(allowedBy text: String) -> Int? {
        Int(text.prefix { !$0.isNewline })
    }
}
