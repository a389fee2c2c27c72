internal import Foundation

/// Runs a program, and returns its standard output and standard error. Throws if its exit status is not 0.
func output(of program: String, _ arguments: [String], _ environment: [String: String]? = nil) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    // Swift tasks run on threads that block signals, and pgbench uses a signal to stop.
    process.arguments = ["--default-signal", program] + arguments
    if let environment { process.environment = environment }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Service.Failure(description: "\(program): \(text)") }
    return text
}

/// The processor time that processes have used so far.
struct ProcessorTime {
    /// The time of the server without that of its hashing threads.
    var server = Duration.zero
    /// The time of the hashing threads of the server.
    var hashing = Duration.zero
    /// The time of PostgreSQL with its background processes and all backends, including those that have ended.
    var database = Duration.zero
    /// The time of this process, and of the load generators that have ended.
    var load = Duration.zero

    static func - (after: Self, before: Self) -> Self {
        Self(
            server: after.server - before.server,
            hashing: after.hashing - before.hashing,
            database: after.database - before.database,
            load: after.load - before.load
        )
    }

    /// The mean time for one of `count` operations.
    static func / (time: Self, count: Double) -> Self {
        Self(
            server: time.server / count,
            hashing: time.hashing / count,
            database: time.database / count,
            load: time.load / count
        )
    }

    /// - Parameter postmaster: the process id of PostgreSQL's first process.
    init(of service: Service? = nil, postmaster: Int32) throws {
        server = try service?.cpuTime { !$0.hasPrefix("argon2") } ?? .zero
        hashing = try service?.cpuTime { $0.hasPrefix("argon2") } ?? .zero
        guard var first = Status(of: postmaster) else {
            throw Service.Failure(description: "PostgreSQL is not running")
        }
        // A backend that ends during a pass is counted twice or not at all, so the pass is repeated.
        repeat {
            first = Status(of: postmaster) ?? first
            database = first.own + first.ended
            for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
                guard let process = Int32(name), let status = Status(of: process), status.parent == postmaster else {
                    continue
                }
                database += status.own
            }
        } while Status(of: postmaster)?.ended != first.ended
        for processes in [RUSAGE_SELF, RUSAGE_CHILDREN] {
            var usage = rusage()
            getrusage(processes.rawValue, &usage)
            load += .init(usage.ru_utime) + .init(usage.ru_stime)
        }
    }

    private init(server: Duration, hashing: Duration, database: Duration, load: Duration) {
        (self.server, self.hashing, self.database, self.load) = (server, hashing, database, load)
    }

    /// The content of `/proc/pid/stat` (proc(5)): the parent process, the processor time of the process, and that of
    /// its children that have ended.
    private struct Status {
        let parent: Int32
        let own, ended: Duration

        /// Returns nil if the process has ended.
        init?(of process: Int32) {
            guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                // The name may have spaces and parentheses in it.
                let name = text.lastIndex(of: ")")
            else { return nil }
            let fields = text[name...].split(separator: " ").dropFirst().map(String.init)
            let ticks = fields[11...14].compactMap { Int64($0) }
            guard let parent = Int32(fields[1]), ticks.count == 4 else { return nil }
            let tick = Duration.seconds(1) / sysconf(Int32(_SC_CLK_TCK))
            self.parent = parent
            own = tick * (ticks[0] + ticks[1])
            ended = tick * (ticks[2] + ticks[3])
        }
    }
}

extension Duration {
    fileprivate init(_ time: timeval) {
        self = .seconds(time.tv_sec) + .microseconds(time.tv_usec)
    }
}
