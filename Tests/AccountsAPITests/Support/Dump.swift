import Foundation
import TestSupport
import Testing

/// Dumps and copies databases with the programs of PostgreSQL.
enum Dump {
    /// The statements that create the database, as text.
    static func of(_ conninfo: String) throws -> String {
        let dump = try process("pg_dump", ["--dbname=\(conninfo)", "--no-privileges"])
        let output = Pipe()
        dump.standardOutput = output
        try dump.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        dump.waitUntilExit()
        try #require(dump.terminationStatus == 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Copies a database into an empty one with the commands that docs/operating.md shows for a backup.
    ///
    /// - Parameter role: the role that will own the tables.
    static func copy(_ conninfo: String, to copy: String, ownedBy role: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).dump")
        defer { try? FileManager.default.removeItem(at: file) }
        let values = [
            "\"$DATABASE_URL\"": conninfo, "--file=accounts.dump": "--file=\(file.path)", "accounts.dump": file.path,
            "--role=accounts": "--role=\(role)", "--dbname=accounts_restored": "--dbname=\(copy)",
        ]
        let document = try String(contentsOf: Repository.root.appending(path: "docs/operating.md"), encoding: .utf8)
        for program in ["pg_dump", "pg_restore"] {
            let line = try #require(document.split(separator: "\n").first { $0.hasPrefix("\(program) ") })
            let words = line.split(separator: " ").dropFirst().map(String.init)
            let command = try process(program, words.map { values[$0] ?? $0 })
            try command.run()
            command.waitUntilExit()
            try #require(command.terminationStatus == 0, "\(line)")
        }
    }

    private static func process(_ program: String, _ arguments: [String]) throws -> Process {
        let versions = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql").compactMap(Int.init)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/lib/postgresql/\(versions.max()!)/bin/\(program)")
        process.arguments = arguments
        return process
    }
}
