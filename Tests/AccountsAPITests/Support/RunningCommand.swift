import Accounts
import Foundation
import Synchronization
import TestSupport

/// A run of the real executable that prints lines until it is told to end.
final class RunningCommand: Sendable {
    struct Ended: Error {}

    private let lines: AsyncStream<String>
    private let output = Pipe()
    private let process: Mutex<Process>
    private let pid: pid_t

    /// Starts a command of the operator mina on the database of the test.
    init(byMina arguments: String...) throws {
        let process = Process()
        process.executableURL = ServerProcess.program
        process.arguments = arguments
        process.environment = CommandRun.settingsOfMina.merging(ProcessInfo.processInfo.sanitizerOptions) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        pid = process.processIdentifier
        self.process = Mutex(process)
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let reader = output.fileHandleForReading.fileDescriptor
        _ = DedicatedThread(named: "lines") {
            var (rest, buffer) = ([] as [UInt8], [UInt8](repeating: 0, count: 65_536))
            while case let count = read(reader, &buffer, buffer.count), count > 0 {
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    sink.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeSubrange(...end)
                }
            }
            sink.finish()
        }
    }

    /// Kills the command if a failed test has left it running.
    deinit { kill(pid, SIGKILL) }

    /// The next line, as soon as it is printed.
    func line() async throws -> String {
        for await line in lines { return line }
        throw Ended()
    }

    /// Sends a signal, and returns the exit status when the command has ended.
    func end(by signal: Int32) async throws -> Int32 {
        kill(pid, signal)
        return try await onThread {
            self.process.withLock { process in
                process.waitUntilExit()
                return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
            }
        }
    }
}
