import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Accounts

/// Images in processes of their own. The shell stands in for a worker that misbehaves.
@Suite("Images in processes of their own")
struct ImagePoolTests {
    @Test func `the process makes the same photo as the function`() async throws {
        let image = try [UInt8].onFile("turned-6.jpg")
        #expect(try await TestSignups.images.photo(of: image).jpeg == Photo(of: image).jpeg)
    }

    @Test func `what is no image is refused for what it is`() async throws {
        await #expect(throws: ImageError.fault(.unsupported)) {
            try await TestSignups.images.photo(of: .onFile("moves.gif"))
        }
        await #expect(throws: ImageError.fault(.unsupported)) { try await TestSignups.images.photo(of: []) }
        var png = try [UInt8].onFile("plain.png")
        png.replaceSubrange(16..<24, with: [0, 0, 0x1B, 0x58, 0, 0, 0x17, 0x70])
        let large = png
        await #expect(throws: ImageError.fault(.tooLarge)) { try await TestSignups.images.photo(of: large) }
        await #expect(throws: ImageError.fault(.tooLarge)) {
            try await TestSignups.images.photo(of: [UInt8](repeating: 0, count: ImageFile.maximumBytes + 1))
        }
    }

    @Test(arguments: ["kill -XCPU $$", "exec 0<&-; kill -SEGV $$", "kill -ABRT $$"])
    func `a process that a limit has ended refuses its image`(_ script: String) async throws {
        await #expect(throws: ImageError.fault(.unsupported)) {
            try await shell(script).photo(of: .onFile("plain.png"))
        }
    }

    @Test(arguments: ["kill -KILL $$", "kill -ALRM $$"])
    func `one that had no chance to work is no word about its image`(_ script: String) async throws {
        await #expect(throws: ImageError.rejected(.busy(wait: .seconds(5)))) {
            try await shell(script).photo(of: .onFile("plain.png"))
        }
    }

    @Test(arguments: ["exit 0", "exit 1", "exit 5", "echo no photo", "head -c 2000000 /dev/zero"])
    func `what is no photo is never taken for one`(_ script: String) async throws {
        let error = await #expect(throws: ImageError.self) {
            try await shell("cat >/dev/null; \(script)").photo(of: .onFile("plain.png"))
        }
        #expect(error?.isWithoutWorker == true)
    }

    @Test func `a program that is not there makes no photo, and says why`() async throws {
        let pool = ImagePool(program: "/nonexistent")
        await #expect(throws: ImageError.noWorker("posix_spawn: No such file or directory")) {
            try await pool.photo(of: .onFile("plain.png"))
        }
    }

    @Test func `whatever the process has to do, it ends with the pool`() async throws {
        let pool = shell("echo begun; exec sleep 1000")
        let image = try [UInt8].onFile("plain.png")
        let photo = Task { try await pool.photo(of: image) }
        while pool.running == 0 { await Task.yield() }
        try await onThread { pool.shutdown() }
        await #expect(throws: ImageError.rejected(.stopped)) { try await photo.value }
        await #expect(throws: ImageError.rejected(.stopped)) { try await pool.photo(of: image) }
    }

    @Test func `nothing is left of those that have ended`() async throws {
        func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        func children() throws -> String {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").map { task in
                let file = FileHandle(forReadingAtPath: "/proc/self/task/\(task)/children")
                return String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self)
            }.joined()
        }
        let pool = shell("cat >/dev/null; exit 3")
        let image = try [UInt8].onFile("plain.png")
        await #expect(throws: ImageError.fault(.unsupported)) { try await pool.photo(of: image) }
        // Other tests open files and start processes meanwhile, but not 200 of either.
        let (files, before) = (try open(), try children().split(separator: " ").count)
        for _ in 0..<300 { await #expect(throws: ImageError.fault(.unsupported)) { try await pool.photo(of: image) } }
        #expect(try open() < files + 200)
        #expect(try children().split(separator: " ").count < before + 200)
    }

    @Test func `a process sees nothing of ours`() async throws {
        // It tells by its way of ending: what is open, and what is in its environment.
        let open = "test \"$(ls /proc/self/fd | sort -n | tr '\\n' ' ')\" = '0 1 2 3 '"
        let bare = "! env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^LD_LIBRARY_PATH= -e ^OLDPWD="
        await #expect(throws: ImageError.fault(.tooLarge)) {
            try await shell("cat >/dev/null; \(open) && \(bare) && exit 4; exit 5").photo(of: .onFile("plain.png"))
        }
    }

    @Test func `the worker can ask nothing of the system`() async throws {
        let process = Process()
        process.executableURL = TestSignups.program
        process.arguments = ["image-worker"]
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        defer { process.terminate() }
        func file(_ name: String) throws -> String {
            let file = FileHandle(forReadingAtPath: "/proc/\(process.processIdentifier)/\(name)")
            return String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self)
        }
        while try !file("status").contains("\nSeccomp:\t2\n") { try Task.checkCancellation() }
        #expect(try file("status").contains("\nNoNewPrivs:\t1\n"))
        let limits = try file("limits").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for limit in ["open files 0 0", "cpu time 5 6", "data size 335544320 335544320", "file size 0 0"] {
            #expect(limits.contains("Max \(limit) "))
        }
        #expect(try file("oom_score_adj") == "1000\n")
    }

    @Test func `a system that cannot confine it is told of once`() async throws {
        let told = Mutex(0)
        let script = "cat >/dev/null; printf '\\377\\330'; exit 2"
        let process = ImageProcess(program: "/bin/sh", arguments: ["-c", script]) { told.withLock { $0 += 1 } }
        try await onThread {
            for _ in 0..<3 {
                let photo = try process.photo(of: [1])
                #expect(photo.jpeg == [0xFF, 0xD8])
            }
        }
        #expect(told.withLock { $0 } == 1)
    }

    @Test func `one more than may wait is refused at once`() async throws {
        let pool = ImagePool(program: "/bin/sh", arguments: ["-c", "cat >/dev/null; exit 3"], workers: 1, queue: 0)
        let image = try [UInt8].onFile("plain.png")
        let outcomes = await withTaskGroup(of: ImageError?.self) { tasks in
            for _ in 0..<50 {
                tasks.addTask {
                    do throws(ImageError) { _ = try await pool.photo(of: image) } catch { return error }
                    return nil
                }
            }
            return await tasks.reduce(into: [ImageError?]()) { $0.append($1) }
        }
        #expect(
            outcomes.allSatisfy { [.fault(.unsupported), .rejected(.busy(wait: .zero))].contains($0.map(\.untimed)) }
        )
        #expect(outcomes.contains(.fault(.unsupported)))
    }

    private func shell(_ script: String) -> ImagePool {
        ImagePool(program: "/bin/sh", arguments: ["-c", script])
    }
}

extension ImageError {
    fileprivate var isWithoutWorker: Bool { if case .noWorker = self { true } else { false } }

    /// Without how long it would take.
    fileprivate var untimed: ImageError {
        if case .rejected(.busy) = self { .rejected(.busy(wait: .zero)) } else { self }
    }
}
