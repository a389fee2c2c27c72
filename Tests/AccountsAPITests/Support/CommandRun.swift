import Accounts
import Foundation
import TestSupport

/// The result of a run of the real executable.
struct CommandRun: Sendable {
    let status: Int32
    let output: String
    let errorOutput: String

    /// - Parameter settings: the whole environment of the process, apart from the options of a sanitizer.
    static func of(_ arguments: String..., settings: [String: String] = [:]) async throws -> CommandRun {
        try await of(arguments, settings: settings)
    }

    static func of(_ arguments: [String], settings: [String: String]) async throws -> CommandRun {
        try await onThread {
            let process = Process()
            process.executableURL = ServerProcess.program
            // The commands in the documents have paths relative to this folder.
            process.currentDirectoryURL = Repository.root
            process.arguments = arguments
            process.environment = settings.merging(ProcessInfo.processInfo.sanitizerOptions) { $1 }
            let (output, errors) = (Pipe(), Pipe())
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            let outputData = output.fileHandleForReading.readDataToEndOfFile()
            let errorData = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return CommandRun(
                status: process.terminationStatus,
                output: String(decoding: outputData, as: UTF8.self),
                errorOutput: String(decoding: errorData, as: UTF8.self)
            )
        }
    }
}

extension CommandRun {
    /// The exit status of another program, which reads and prints nothing.
    static func status(of command: [String]) async throws -> Int32 {
        try await onThread {
            let process = Process()
            process.executableURL = URL(filePath: command[0])
            process.arguments = Array(command.dropFirst())
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    /// The settings of the operator mina on the database of the test.
    static var settingsOfMina: [String: String] {
        ["DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys, "USER": "mina"]
    }

    /// Runs a command of the operator mina on the database of the test.
    static func byMina(_ arguments: String..., settings: [String: String] = [:]) async throws -> CommandRun {
        try await byMina(arguments, settings: settings)
    }

    static func byMina(_ arguments: [String], settings: [String: String] = [:]) async throws -> CommandRun {
        try await of(arguments, settings: settingsOfMina.merging(settings) { $1 })
    }

    var json: JSON { get throws { try JSON.read(Array(output.utf8)) } }
    var errorJSON: JSON { get throws { try JSON.read(Array(errorOutput.utf8)) } }
}

extension JSON {
    /// The elements of a list; none if it is no list.
    var items: [JSON] { if case .array(let items) = self { items } else { [] } }

    /// The text of this member in each element of the list; nil where the member is missing or no string.
    func texts(of member: String) -> [String?] {
        guard case .array(let elements) = self else { return [] }
        return elements.map { $0[member]?.string }
    }
}

/// Writes the text to a temporary file that exists while the body runs.
func withFile<Value>(
    _ text: String,
    named name: String = "signup.yaml",
    _ body: (String) async throws -> Value
) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "file-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: name)
    try Data(text.utf8).write(to: file)
    return try await body(file.path)
}
