import Accounts
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// What a service promises in its OpenAPI document, held against what it does by `scripts/contract`.
struct Contract: Sendable {
    /// The number of the document with the checker.
    private let number: Int

    /// Takes the document in and checks it by itself.
    init(_ document: JSON) throws {
        number = try Checker.shared.get().number(of: document)
    }

    /// Records what an exchange broke.
    func check(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ request: String?,
        _ answer: Answer,
        isJSON: Bool = true
    ) throws {
        let request = isJSON ? request.flatMap { try? JSON.read(Array($0.utf8)) } : nil
        let complaints = try Checker.shared.get().ask([
            "of": .integer(number), "method": .string(method.rawValue),
            "path": .string(String(path.prefix { $0 != "?" })), "request": request ?? .null,
            "status": .integer(answer.status), "type": .string(answer.headers[.contentType] ?? ""),
            "body": answer.body.isEmpty ? .null : answer.json == .null ? .string(answer.body) : answer.json,
        ])
        for complaint in complaints { Issue.record("\(method) \(path): \(complaint)") }
    }
}

/// The running script. It ends when the tests do, for then nobody writes to it any more.
private final class Checker: Sendable {
    static let shared = Result { try Checker() }

    private let state: Mutex<State>

    private struct State {
        let process: Process
        let questions: FileHandle
        let answers: FileHandle
        var numbers: [String: Int] = [:]
    }

    private struct Ended: Error {}

    private init() throws {
        let script = Repository.root.appending(path: "scripts/contract")
        let (questions, answers) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [ProcessInfo.processInfo.environment["PYTHON"] ?? "python3", script.path]
        process.standardInput = questions
        process.standardOutput = answers
        try process.run()
        state = Mutex(
            State(
                process: process,
                questions: questions.fileHandleForWriting,
                answers: answers.fileHandleForReading
            )
        )
    }

    func number(of document: JSON) throws -> Int {
        try state.withLock { state in
            if let number = state.numbers[document.digest] { return number }
            for complaint in try Self.ask(["document": document], &state) {
                Issue.record("the description itself: \(complaint)")
            }
            let number = state.numbers.count
            state.numbers[document.digest] = number
            return number
        }
    }

    func ask(_ question: JSON) throws -> [String] {
        try state.withLock { try Self.ask(question, &$0) }
    }

    private static func ask(_ question: JSON, _ state: inout State) throws -> [String] {
        try state.questions.write(contentsOf: question.bytes + [UInt8(ascii: "\n")])
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let piece = state.answers.availableData
            if piece.isEmpty { throw Ended() }
            line += piece
        }
        guard case .array(let complaints) = try JSON.read(line) else { throw Ended() }
        return complaints.compactMap(\.string)
    }
}
