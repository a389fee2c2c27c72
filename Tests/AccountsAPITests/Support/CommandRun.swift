import Foundation
import TestSupport

/// One run of the real executable, to its end.
struct CommandRun: Sendable {
    let status: Int32
    let output: String
    let complaints: String

    /// - Parameter settings: all of the environment that it sees.
    static func of(_ arguments: String..., settings: [String: String] = [:]) async throws -> CommandRun {
        try await of(arguments, settings: settings)
    }

    static func of(_ arguments: [String], settings: [String: String]) async throws -> CommandRun {
        try await onThread {
            let process = Process()
            process.executableURL = ServerProcess.program
            // Where somebody would type it.
            process.currentDirectoryURL = Repository.root
            process.arguments = arguments
            process.environment = settings
            let (output, complaints) = (Pipe(), Pipe())
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = complaints
            try process.run()
            let heard = output.fileHandleForReading.readDataToEndOfFile()
            let complained = complaints.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return CommandRun(
                status: process.terminationStatus,
                output: String(decoding: heard, as: UTF8.self),
                complaints: String(decoding: complained, as: UTF8.self)
            )
        }
    }
}

/// Lends a file with that text, gone afterwards.
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
