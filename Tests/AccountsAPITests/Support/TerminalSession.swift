import Accounts
import Foundation
import Synchronization
import TestSupport

/// The executable in a terminal of its own, by `scripts/terminal`.
final class TerminalSession: Sendable {
    private struct State {
        let process: Process
        let wishes: FileHandle
        let answers: FileHandle
        var rest: [UInt8] = []
    }

    struct Ended: Error {}

    /// What somebody sees.
    struct Picture {
        let lines: [String]
        /// The words that stand out.
        let bold: [String]
        /// What should have been there, and was not.
        let late: String?

        var text: String { lines.joined(separator: "\n") }
    }

    private let state: Mutex<State>

    init(columns: Int, lines: Int, _ arguments: [String], settings: [String: String]) throws {
        let script = Repository.root.appending(path: "scripts/terminal")
        let (wishes, answers) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [
                ProcessInfo.processInfo.environment["PYTHON"] ?? "python3", script.path, "\(columns)", "\(lines)",
                ServerProcess.program.path,
            ] + arguments
        process.environment = ["TERM": "xterm-256color", "PATH": "/usr/bin:/bin"].merging(settings) { $1 }
        process.standardInput = wishes
        process.standardOutput = answers
        try process.run()
        state = Mutex(
            State(process: process, wishes: wishes.fileHandleForWriting, answers: answers.fileHandleForReading)
        )
    }

    deinit {
        state.withLock { state in
            try? state.wishes.close()
            state.process.waitUntilExit()
        }
    }

    private func ask(_ wish: JSON) async throws -> JSON {
        try await onThread {
            try self.state.withLock { state in
                try state.wishes.write(contentsOf: wish.bytes + [UInt8(ascii: "\n")])
                while !state.rest.contains(UInt8(ascii: "\n")) {
                    let piece = state.answers.availableData
                    if piece.isEmpty { throw Ended() }
                    state.rest += piece
                }
                let end = state.rest.firstIndex(of: UInt8(ascii: "\n"))!
                defer { state.rest.removeSubrange(...end) }
                return try JSON.read(Array(state.rest[..<end]))
            }
        }
    }

    func press(_ keys: String) async throws { _ = try await ask(["keys": .string(keys)]) }

    func send(_ signal: Int32) async throws { _ = try await ask(["signal": .integer(Int(signal))]) }

    func resize(columns: Int, lines: Int) async throws {
        _ = try await ask(["resize": .array([.integer(columns), .integer(lines)])])
    }

    func expect(_ text: String) async throws -> Picture { picture(try await ask(["expect": .string(text)])) }
    func expectGone(_ text: String) async throws -> Picture { picture(try await ask(["gone": .string(text)])) }

    func expectRestored() async throws -> Picture { picture(try await ask(["restored": true])) }

    /// The exit status, and whether the terminal is as it was.
    func end() async throws -> (status: Int, isSane: Bool) {
        let answer = try await ask(["end": true])
        guard case .integer(let status)? = answer["status"] else { throw Ended() }
        return (status, answer["sane"] == true)
    }

    private func picture(_ answer: JSON) -> Picture {
        func strings(_ name: String) -> [String] {
            guard case .array(let items)? = answer[name] else { return [] }
            return items.compactMap(\.string)
        }
        return Picture(lines: strings("screen"), bold: strings("bold"), late: answer["late"]?.string)
    }
}
