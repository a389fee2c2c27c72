import Accounts
import Foundation
import Synchronization
import TestSupport

/// The real executable in its own process, for tests of signals, kills and memory.
final class ServerProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let pid: pid_t
    let port: Int
    private let process: Mutex<Process>
    private let output: Output

    /// Starts `accounts-api` and returns when it serves.
    ///
    /// - Parameter launcher: a command that replaces itself by the program in its last arguments.
    static func start(
        database: String,
        arguments: [String] = ["serve"],
        settings: [String: String] = [:],
        mails: Mails = Mails(),
        by launcher: [String] = []
    ) async throws -> ServerProcess {
        let process = Process()
        let command = launcher + [program.path] + arguments
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = [
            "DATABASE_URL": database, "ACCOUNTS_KEYS": TestSignups.keys, "LISTEN": "127.0.0.1:0", "LOG_FORMAT": "json",
            "ARGON2_MEMORY_KIB": "7168", "ARGON2_ITERATIONS": "5", "ARGON2_QUEUE": "1000",
            // Other tests use the processor at the same time, so hashes may wait longer than the default.
            "ARGON2_WAIT": "60", "ARGON2_PRIORITY": "normal",
            "TRUSTED_PROXIES": "127.0.0.1", "METRICS_LISTEN": "127.0.0.1:0",
        ].merging(settings) { $1 }.merging(ProcessInfo.processInfo.sanitizerOptions) { $1 }
        let output = Output(mails: mails)
        process.standardOutput = output.mailPipe
        process.standardError = output.logPipe
        try process.run()
        let pid = process.processIdentifier
        guard let port = await output.port() else {
            throw Failure(description: "the server did not start: \(output.log)")
        }
        return ServerProcess(process, pid: pid, port: port, output: output)
    }

    private init(_ process: Process, pid: pid_t, port: Int, output: Output) {
        self.process = Mutex(process)
        self.pid = pid
        self.port = port
        self.output = output
    }

    /// Kills the server if a failed test has left it running.
    deinit {
        kill(pid, SIGKILL)
    }

    var log: String { output.log }

    /// The port of the listener for monitoring; nil until it serves.
    var monitoringPort: Int? { Output.port(in: log, after: "serving metrics") }

    /// The metrics that Prometheus would scrape now.
    func metrics() async throws -> String {
        while monitoringPort == nil {
            try Task.checkCancellation()
            await Task.yield()
        }
        let response = try await onThread { [port = monitoringPort!] in
            try RawClient(port: port).exchange("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        }
        guard response.hasPrefix("HTTP/1.1 200"), let end = response.range(of: "\r\n\r\n") else {
            throw Failure(description: response)
        }
        return String(response[end.upperBound...])
    }

    /// The peak memory of the process, in bytes (proc_pid_status(5)).
    func maximumMemory() throws -> Int {
        let status = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(pid)/status")).readToEnd() ?? Data()
        let text = String(decoding: status, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let number = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw Failure(description: text) }
        return number * 1024
    }

    /// Waits until the log contains the text. Throws if the test is cancelled, for example at its time limit.
    func waitUntilLogged(_ text: String) async throws {
        while !log.contains(text) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Sends a signal and returns the exit status when the process has ended; negative for the signal that ended it.
    @discardableResult
    func end(by signal: Int32) async -> Int32 {
        kill(pid, signal)
        return await exit()
    }

    /// Sends a signal until the process has ended, because a server ignores those that follow shortly after the first.
    /// Returns the exit status as ``end(by:)`` does.
    func end(byRepeated signal: Int32) async -> Int32 {
        await withTaskGroup(of: Int32?.self) { tasks in
            tasks.addTask { await self.exit() }
            tasks.addTask {
                while !Task.isCancelled {
                    kill(self.pid, signal)
                    await Task.yield()
                }
                return nil
            }
            let status = await tasks.next() ?? nil
            tasks.cancelAll()
            return status ?? 0
        }
    }

    func exit() async -> Int32 {
        await withCheckedContinuation { ended in
            _ = DedicatedThread(named: "wait") {
                let status: Int32 = self.process.withLock { process in
                    process.waitUntilExit()
                    return process.terminationReason == .uncaughtSignal
                        ? -process.terminationStatus : process.terminationStatus
                }
                ended.resume(returning: status)
            }
        }
    }

    static let program = TestSignups.program
}

/// The codes that servers print on a development terminal, by address.
final class Mails: Sendable {
    private let codes = Mutex<[String: String]>([:])

    func code(for address: String) -> String? { codes.withLock { $0[address] } }

    func read(_ text: String) {
        var address: String?
        for line in text.split(separator: "\n").map({ $0.drop { "│ ".contains($0) } }) {
            if line.hasPrefix("To: ") { address = String(line.dropFirst(4)) }
            if let address, let code = Mailbox.code(in: String(line)) { codes.withLock { $0[address] = code } }
        }
    }
}

/// Reads the standard output and the standard error of the server as they arrive.
private final class Output: Sendable {
    let mailPipe = Pipe()
    let logPipe = Pipe()
    private let lines: Mutex<[UInt8]> = Mutex([])
    private let ports: AsyncStream<Int?>

    var log: String { lines.withLock { String(decoding: $0, as: UTF8.self) } }

    init(mails: Mails) {
        let (ports, found) = AsyncStream<Int?>.makeStream()
        self.ports = ports
        let (mailReader, logReader) = (
            mailPipe.fileHandleForReading.fileDescriptor, logPipe.fileHandleForReading.fileDescriptor
        )
        _ = DedicatedThread(named: "mails") {
            var text = ""
            Self.read(from: mailReader) { bytes in
                text += String(decoding: bytes, as: UTF8.self)
                mails.read(text)
            }
        }
        _ = DedicatedThread(named: "log") {
            Self.read(from: logReader) { bytes in
                let log = self.lines.withLock { lines in
                    lines += bytes
                    return String(decoding: lines, as: UTF8.self)
                }
                if let port = Self.port(in: log, after: "serving") { found.yield(port) }
            }
            found.yield(nil)
        }
    }

    func port() async -> Int? {
        for await port in ports { return port }
        return nil
    }

    /// The port in the log line with this message; nil if there is no such line yet. The line contains
    /// `"message":"serving","address":"127.0.0.1:40123"`, for example.
    static func port(in log: String, after message: String) -> Int? {
        guard let start = log.range(of: "\"message\":\"\(message)\""),
            let member = log[start.upperBound...].range(of: "\"address\":\""),
            let end = log[member.upperBound...].firstIndex(of: "\"")
        else { return nil }
        return log[member.upperBound..<end].split(separator: ":").last.flatMap { Int($0) }
    }

    private static func read(from descriptor: Int32, _ body: ([UInt8]) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count <= 0 { return }
            body(Array(buffer[..<count]))
        }
    }
}
