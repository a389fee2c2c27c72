import Foundation

/// The name of the machine, and the resources that this process may use: those of the machine, or less if the root of
/// `/sys/fs/cgroup` has lower limits (cgroup v2), as in a container. Limits of a systemd unit are not read.
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
        return min(cores, limit("cpu.max").flatMap(cores(allowedBy:)) ?? cores)
    }

    /// In bytes.
    static var memory: Int {
        let memory = Int(ProcessInfo.processInfo.physicalMemory)
        return min(memory, limit("memory.max").flatMap(memory(allowedBy:)) ?? memory)
    }

    private static func limit(_ name: String) -> String? {
        try? String(contentsOfFile: "/sys/fs/cgroup/\(name)", encoding: .utf8)
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
