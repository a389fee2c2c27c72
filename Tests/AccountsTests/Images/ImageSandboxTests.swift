import Foundation
import TestSupport
import Testing

@testable import Accounts

/// The real worker, in which a library tries system calls in place of reading the image.
@Suite("The sandbox of the image process")
struct ImageSandboxTests {
    private static let folder = Repository.root.appending(path: "Tests/AccountsTests/Images")

    /// The error of each system call: 0 if it succeeded.
    private static func errors(of arguments: [String], by launcher: [String] = []) async throws -> [String: Int32] {
        try await onThread {
            let library = FileManager.default.temporaryDirectory.appending(path: "forbidden-calls-\(UUID()).so")
            defer { try? FileManager.default.removeItem(at: library) }
            let source = folder.appending(path: "forbidden-calls.c").path
            // Swift needs clang, too.
            _ = try output(of: ["/usr/bin/env", "clang", "-shared", "-fPIC", "-o", library.path, source])
            let worker =
                ["/usr/bin/env", "LD_PRELOAD=\(library.path)", TestSignups.program.path] + arguments
                + ["--\(ImageWorker.wallSecondsOption)", "300"]
            let text = try output(of: launcher + worker)
            let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
            return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), Int32($0[1]) ?? -1) })
        }
    }

    private static func output(of command: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(command)")
        return String(decoding: data, as: UTF8.self)
    }

    private static let forbidden = [
        "openat", "socket", "mmap-exec", "mprotect-exec", "pkey-mprotect-exec", "personality", "memfd", "unlinkat",
        "kill",
        "process-vm-readv", "ptrace", "execve",
    ]

    @Test func `the filter refuses files, sockets, memory that can be executed, and other processes`() async throws {
        var errors = try await Self.errors(of: ["image-worker"])
        // Not every processor has this call.
        #expect([nil, EPERM].contains(errors.removeValue(forKey: "open")))
        #expect(errors.removeValue(forKey: "mmap") == 0, "the decoders need memory")
        #expect(errors == Dictionary(uniqueKeysWithValues: Self.forbidden.map { ($0, EPERM) }))
    }

    @Test func `without the filter none of these calls would have this error`() async throws {
        let script = Self.folder.appending(path: "without-seccomp.py").path
        let python = ProcessInfo.processInfo.environment["PYTHON"] ?? "python3"
        let errors = try await Self.errors(
            of: ["image-worker", "--sandbox-optional"],
            by: ["/usr/bin/env", python, script]
        )
        #expect(Set(errors.keys).isSuperset(of: Self.forbidden))
        #expect(errors.filter { $0.value == EPERM } == [:])
        #expect(errors["mmap-exec"] == 0 && errors["mprotect-exec"] == 0)
    }
}
