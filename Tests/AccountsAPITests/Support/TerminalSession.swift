import Accounts
import Foundation
import Synchronization
import TestSupport

/// The executable in its own terminal, run by `scripts/terminal`.
final class TerminalSession: Sendable {
    private struct State {
        let process: Process
        let requests: FileHandle
        let responses: FileHandle
        var rest: [UInt8] = []
    }

    struct Ended: Error {}

    /// The content of the terminal.
    struct Screen {
        let lines: [String]
        /// The words in bold or reverse.
        let bold: [String]
        /// The text that the script waited for until its timeout; nil without a timeout.
        let timedOut: String?

        var text: String { lines.joined(separator: "\n") }
    }

    private let state: Mutex<State>

    init(columns: Int, lines: Int, _ arguments: [String], settings: [String: String]) throws {
        let script = Repository.root.appending(path: "scripts/terminal")
        let (requests, responses) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [
                ProcessInfo.processInfo.environment["PYTHON"] ?? "python3", script.path, "\(columns)", "\(lines)",
                ServerProcess.program.path,
            ] + arguments
        process.environment = ["TERM": "xterm-256color", "PATH": "/usr/bin:/bin"].merging(settings) { $1 }
            .merging(ProcessInfo.processInfo.sanitizerOptions) { $1 }
        process.standardInput = requests
        process.standardOutput = responses
        try process.run()
        state = Mutex(
            State(process: process, requests: requests.fileHandleForWriting, responses: responses.fileHandleForReading)
        )
    }

    deinit {
        state.withLock { state in
            try? state.requests.close()
            state.process.waitUntilExit()
        }
    }

    private func perform(_ request: JSON) async throws -> JSON {
        try await onThread {
            try self.state.withLock { state in
                try state.requests.write(contentsOf: request.bytes + [UInt8(ascii: "\n")])
                while !state.rest.contains(UInt8(ascii: "\n")) {
                    let part = state.responses.availableData
                    if part.isEmpty { throw Ended() }
                    state.rest += part
                }
                let end = state.rest.firstIndex(of: UInt8(ascii: "\n"))!
                defer { state.rest.removeSubrange(...end) }
                return try JSON.read(Array(state.rest[..<end]))
            }
        }
    }

    func press(_ keys: String) async throws { _ = try await perform(["keys": .string(keys)]) }

    func send(_ signal: Int32) async throws { _ = try await perform(["signal": .integer(Int(signal))]) }

    func resize(columns: Int, lines: Int) async throws {
        _ = try await perform(["resize": .array([.integer(columns), .integer(lines)])])
    }

    func expect(_ text: String) async throws -> Screen { screen(try await perform(["expect": .string(text)])) }
    func expectGone(_ text: String) async throws -> Screen { screen(try await perform(["gone": .string(text)])) }

    func expectRestored() async throws -> Screen { screen(try await perform(["restored": true])) }

    /// Waits until the program has ended. Returns its exit status, and whether the terminal is as it was before.
    func end() async throws -> (status: Int, isRestored: Bool) {
        let response = try await perform(["end": true])
        guard case .integer(let status)? = response["status"] else { throw Ended() }
        return (status, response["restored"] == true)
    }

    private func screen(_ response: JSON) -> Screen {
        func strings(_ name: String) -> [String] {
            guard case .array(let items)? = response[name] else { return [] }
            return items.compactMap(\.string)
        }
        return Screen(lines: strings("screen"), bold: strings("bold"), timedOut: response["timed_out"]?.string)
    }
}
