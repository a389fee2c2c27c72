import Accounts
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// The OpenAPI document of a service, against which `scripts/contract` validates requests and responses.
struct Contract: Sendable {
    /// The number that the checker has given the document.
    private let number: Int

    /// Registers the document with the checker, which validates it.
    init(_ document: JSON) throws {
        number = try Checker.shared.get().number(of: document)
    }

    /// Records an issue for each violation of the document in a request or its response.
    func check(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ request: String?,
        _ response: Response,
        isJSON: Bool = true
    ) throws {
        let request = isJSON ? request.flatMap { try? JSON.read(Array($0.utf8)) } : nil
        let errors = try Checker.shared.get().errors(of: [
            "of": .integer(number), "method": .string(method.rawValue),
            "path": .string(String(path.prefix { $0 != "?" })),
            "query": .string(String(path.drop { $0 != "?" }.dropFirst())), "request": request ?? .null,
            "status": .integer(response.status), "type": .string(response.headers[.contentType] ?? ""),
            "body": response.body.isEmpty ? .null : response.json == .null ? .string(response.body) : response.json,
        ])
        for error in errors { Issue.record("\(method) \(path): \(error)") }
    }
}

/// The running `scripts/contract`. It ends when the tests end, because its standard input is closed then.
private final class Checker: Sendable {
    static let shared = Result { try Checker() }

    private let state: Mutex<State>

    private struct State {
        let process: Process
        let requests: FileHandle
        let responses: FileHandle
        var numbers: [String: Int] = [:]
    }

    private struct Ended: Error {}

    private init() throws {
        let script = Repository.root.appending(path: "scripts/contract")
        let (requests, responses) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [ProcessInfo.processInfo.environment["PYTHON"] ?? "python3", script.path]
        process.standardInput = requests
        process.standardOutput = responses
        try process.run()
        state = Mutex(
            State(
                process: process,
                requests: requests.fileHandleForWriting,
                responses: responses.fileHandleForReading
            )
        )
    }

    func number(of document: JSON) throws -> Int {
        try state.withLock { state in
            if let number = state.numbers[document.digest] { return number }
            for error in try Self.errors(of: ["document": document], &state) {
                Issue.record("the document: \(error)")
            }
            let number = state.numbers.count
            state.numbers[document.digest] = number
            return number
        }
    }

    func errors(of request: JSON) throws -> [String] {
        try state.withLock { try Self.errors(of: request, &$0) }
    }

    private static func errors(of request: JSON, _ state: inout State) throws -> [String] {
        try state.requests.write(contentsOf: request.bytes + [UInt8(ascii: "\n")])
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let part = state.responses.availableData
            if part.isEmpty { throw Ended() }
            line += part
        }
        guard case .array(let errors) = try JSON.read(line) else { throw Ended() }
        return errors.compactMap(\.string)
    }
}
