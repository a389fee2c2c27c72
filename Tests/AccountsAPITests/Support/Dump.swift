import Foundation
import Testing

/// Dumps and restores databases with the programs of PostgreSQL.
enum Dump {
    static func of(_ conninfo: String) throws -> String {
        // The cluster of the restored database may lack the roles, and `migrate` gives them their privileges again.
        let dump = try process("pg_dump", ["--dbname=\(conninfo)", "--no-privileges"])
        let output = Pipe()
        dump.standardOutput = output
        try dump.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        dump.waitUntilExit()
        try #require(dump.terminationStatus == 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Restores a dump into an empty database.
    static func restore(_ text: String, to conninfo: String) throws {
        let psql = try process("psql", ["--dbname=\(conninfo)", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"])
        let input = Pipe()
        psql.standardInput = input
        psql.standardOutput = FileHandle.nullDevice
        try psql.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        psql.waitUntilExit()
        try #require(psql.terminationStatus == 0)
    }

    private static func process(_ program: String, _ arguments: [String]) throws -> Process {
        let versions = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql").compactMap(Int.init)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/lib/postgresql/\(versions.max()!)/bin/\(program)")
        process.arguments = arguments
        return process
    }
}
