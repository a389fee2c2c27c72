import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Accounts

/// In many tests a shell script replaces the worker process, to simulate a worker that misbehaves.
@Suite("The image pool")
struct ImagePoolTests {
    @Test func `the worker process makes the same photo as the function`() async throws {
        let image = try [UInt8].onFile("turned-6.jpg")
        #expect(try await TestSignups.images.photo(of: image).jpeg == Photo(of: image).jpeg)
    }

    @Test func `an unsupported or too large image is refused with its reason`() async throws {
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
    func `an image is refused if a resource limit or a crash ended its worker`(_ script: String) async throws {
        await #expect(throws: ImageError.fault(.unsupported)) {
            try await shell(script).photo(of: .onFile("plain.png"))
        }
    }

    @Test(arguments: ["kill -KILL $$", "kill -ALRM $$"])
    func `an image whose worker was killed from outside is rejected as busy`(_ script: String) async throws {
        await #expect(throws: ImageError.rejected(.busy(wait: .seconds(5)))) {
            try await shell(script).photo(of: .onFile("plain.png"))
        }
    }

    @Test func `a worker whose image never arrives ends, and its image is rejected as busy`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        // The shell gets the option and its value as $0 and $1. The worker opens the pipe for writing, too, so the pipe
        // never ends.
        let script = "exec '\(TestSignups.program.path)' image-worker \"$0\" \"$1\" 0<>'\(path)'"
        let pool = ImagePool(program: "/bin/sh", arguments: ["-c", script], wallSeconds: 1)
        await #expect(throws: ImageError.rejected(.busy(wait: .seconds(5)))) {
            try await pool.photo(of: .onFile("plain.png"))
        }
    }

    @Test func `a caller gets its answer at the deadline while its image is decoded`() async throws {
        let pool = shell("cat >/dev/null; exec sleep 600")
        await #expect(throws: ImageError.self) {
            try await Deadline.$current.withValue(Deadline(in: .milliseconds(100))) {
                try await pool.photo(of: .onFile("plain.png"))
            }
        }
        pool.shutdown()
    }

    @Test(arguments: ["exit 0", "exit 1", "exit 2", "exit 5", "echo no photo", "head -c 2000000 /dev/zero"])
    func `worker output that is not a photo causes an error`(_ script: String) async throws {
        let error = await #expect(throws: ImageError.self) {
            try await shell("cat >/dev/null; \(script)").photo(of: .onFile("plain.png"))
        }
        #expect(error?.isNoWorker == true)
    }

    /// The outputs that an attacker who controls a worker could send instead of a photo.
    enum Forgery: CaseIterable, Sendable {
        case rubbish, truncated, trailingBytes, trailingPhoto, trailingVideo, tooLarge, tooSmall, turned, otherFormat
        case comment, profile, thumbnail, secondHeader, restart, manyComponents

        func bytes(from photo: [UInt8]) throws -> [UInt8] {
            switch self {
            case .rubbish: [0xFF, 0xD8, 0xFF] + Array("rubbish".utf8)
            case .truncated: Array(photo.dropLast(2))
            case .trailingBytes: photo + [0, 0]
            case .trailingPhoto: photo + photo
            case .trailingVideo: photo + [0, 0, 0, 8] + Array("ftypmp42".utf8)
            case .tooLarge: try resized(photo, to: 1024)
            case .tooSmall: try resized(photo, to: 511)
            case .turned: try .onFile("turned-6.jpg")
            case .otherFormat: try .onFile("plain.png")
            case .comment: inserting(0xFE, into: photo)
            case .profile: inserting(0xE1, into: photo)
            case .thumbnail: inserting(0xE0, into: photo)
            // The header has 18 bytes, after the 2 of the start.
            case .secondHeader: Array(photo[..<20] + photo[2...])
            case .restart: Array(photo[..<20] + [0xFF, 0xD0] + photo[20...])
            // More components than their three bytes each could be counted with in one byte.
            case .manyComponents: try replacing(9, with: [0xFF], in: photo)
            }
        }

        /// Inserts a segment of 300 bytes of text with this marker.
        private func inserting(_ marker: UInt8, into photo: [UInt8]) -> [UInt8] {
            photo.prefix(2) + [0xFF, marker, 1, 46] + Array(repeating: 0x61, count: 300) + photo.dropFirst(2)
        }

        private func resized(_ photo: [UInt8], to side: Int) throws -> [UInt8] {
            let size = [UInt8(side >> 8), UInt8(side & 0xFF)]
            return try replacing(5, with: size + size, in: photo)
        }

        /// Replaces bytes in the header of the frame (SOF0). The offset is from its marker.
        private func replacing(_ offset: Int, with bytes: [UInt8], in photo: [UInt8]) throws -> [UInt8] {
            let frame = try #require(photo.indices.dropLast(9).first { photo[$0...].starts(with: [0xFF, 0xC0]) })
            let start = frame + offset
            return Array(photo[..<start] + bytes + photo[(start + bytes.count)...])
        }
    }

    @Test(arguments: Forgery.allCases)
    func `worker output with a forged photo is refused`(_ forgery: Forgery) async throws {
        let photo = try Photo(of: .onFile("plain.png"))
        let sent = try await Self.photo(sending: photo.jpeg)
        #expect(sent.jpeg == photo.jpeg)
        let forged = try forgery.bytes(from: photo.jpeg)
        let error = await #expect(throws: ImageError.self) { try await Self.photo(sending: forged) }
        #expect(error?.isNoWorker == true)
    }

    /// The photo that a pool returns if its worker sends these bytes.
    private static func photo(
        sending output: [UInt8],
        exit status: Int = 0,
        sandbox: ImageSandbox = .required
    ) async throws -> Photo {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(output).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let script = "cat >/dev/null; cat '\(file.path)'; exit \(status)"
        return try await ImagePool(program: "/bin/sh", arguments: ["-c", script], sandbox: sandbox)
            .photo(of: .onFile("plain.png"))
    }

    @Test func `a network that fills the queue loses a place to another network`() async throws {
        // Each worker waits for a line of the pipe, so the queue is full until the test writes.
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let gate = try #require(FileHandle(forUpdatingAtPath: path))
        let script = "cat >/dev/null; read line <'\(path)'; exit 3"
        let pool = ImagePool(program: "/bin/sh", arguments: ["-c", script], workers: 1, queue: 2)
        let (attacker, person) = (
            Network(try #require(IPAddress("192.0.2.1"))), Network(try #require(IPAddress("192.0.2.2")))
        )
        let image = try [UInt8].onFile("plain.png")
        @Sendable func outcome(for network: Network) async -> ImageError? {
            do throws(ImageError) { _ = try await pool.photo(of: image, for: network) } catch { return error.untimed }
            return nil
        }
        let first = Task { await outcome(for: attacker) }
        while pool.running == 0 { await Task.yield() }
        let others = [Task { await outcome(for: attacker) }, Task { await outcome(for: attacker) }]
        while pool.waiting < 2 { await Task.yield() }
        let late = Task { await outcome(for: person) }
        // One image of the attacker loses its place to the image of the person.
        var displaced: ImageError?
        await withTaskGroup(of: ImageError?.self) { group in
            for task in others { group.addTask { await task.value } }
            displaced = await group.next() ?? nil
            gate.write(Data("\n\n\n".utf8))
            let last = await group.next() ?? nil
            #expect(last == .fault(.unsupported))
        }
        #expect(displaced == .rejected(.busy(wait: .zero)))
        #expect(await first.value == .fault(.unsupported))
        #expect(await late.value == .fault(.unsupported))
    }

    @Test func `a missing worker program causes an error with the reason`() async throws {
        let pool = ImagePool(program: "/nonexistent")
        await #expect(throws: ImageError.noWorker("posix_spawn: No such file or directory")) {
            try await pool.photo(of: .onFile("plain.png"))
        }
    }

    @Test func `a shutdown ends a running worker process`() async throws {
        let pool = shell("echo begun; exec sleep 1000")
        let image = try [UInt8].onFile("plain.png")
        let photo = Task { try await pool.photo(of: image) }
        while pool.running == 0 { await Task.yield() }
        try await onThread { pool.shutdown() }
        await #expect(throws: ImageError.rejected(.stopped)) { try await photo.value }
        await #expect(throws: ImageError.rejected(.stopped)) { try await pool.photo(of: image) }
    }

    @Test func `finished workers leave no open files and no child processes`() async throws {
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
        // Other tests open files and start processes meanwhile, but fewer than 200 of each.
        let (files, before) = (try open(), try children().split(separator: " ").count)
        for _ in 0..<300 { await #expect(throws: ImageError.fault(.unsupported)) { try await pool.photo(of: image) } }
        #expect(try open() < files + 200)
        #expect(try children().split(separator: " ").count < before + 200)
    }

    @Test func `a worker gets no open files and no environment of the service`() async throws {
        // The script checks its descriptors and its environment, and reports the result by its exit status.
        let open = "test \"$(ls /proc/self/fd | sort -n | tr '\\n' ' ')\" = '0 1 2 3 '"
        let bare = "! env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^LD_LIBRARY_PATH= -e ^OLDPWD="
        await #expect(throws: ImageError.fault(.tooLarge)) {
            try await shell("cat >/dev/null; \(open) && \(bare) && exit 4; exit 5").photo(of: .onFile("plain.png"))
        }
    }

    @Test func `the worker runs under seccomp and resource limits`() async throws {
        let process = Process()
        process.executableURL = TestSignups.program
        process.arguments = ["image-worker", "--\(ImageWorker.wallSecondsOption)", "300"]
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

    @Test func `the trial of a pool succeeds, or returns the error of the worker`() async {
        #expect(await TestSignups.images.trial() == nil)
        let failure = ImageError.noWorker("the image process ended with exit status 5")
        #expect(await shell("cat >/dev/null; exit 5").trial() == failure)
        #expect("\(failure)" == "the image process ended with exit status 5")
    }

    /// A pool with real workers, for which the kernel refuses further seccomp filters.
    private static func pool(withoutSeccomp sandbox: ImageSandbox) -> ImagePool {
        let script = Repository.root.appending(path: "Tests/AccountsTests/Images/without-seccomp.py").path
        let python = ProcessInfo.processInfo.environment["PYTHON"] ?? "python3"
        return ImagePool(
            program: "/usr/bin/env",
            arguments: [python, script, TestSignups.program.path, "image-worker"],
            sandbox: sandbox,
            wallSeconds: 300
        )
    }

    @Test func `without seccomp no image is decoded`() async throws {
        let pool = Self.pool(withoutSeccomp: .required)
        let refusal = ImageError.noWorker("the kernel refuses the seccomp filter of the image process")
        #expect(await pool.trial() == refusal)
        await #expect(throws: refusal) { try await pool.photo(of: .onFile("plain.png")) }
    }

    @Test func `without seccomp images are decoded if the sandbox is optional`() async throws {
        let image = try [UInt8].onFile("plain.png")
        #expect(try await Self.pool(withoutSeccomp: .optional).photo(of: image).jpeg == Photo(of: image).jpeg)
    }

    @Test func `a system that cannot confine workers is reported once`() async throws {
        let reports = Mutex(0)
        // The exit status 2 means that the worker is not confined. Each call throws, because the script sends no photo.
        let script = "cat >/dev/null; exit 2"
        let process = ImageProcess(program: "/bin/sh", arguments: ["-c", script], sandbox: .optional) {
            reports.withLock { $0 += 1 }
        }
        try await onThread {
            for _ in 0..<3 { #expect(throws: ImageError.self) { try process.photo(of: [1]) } }
        }
        #expect(reports.withLock { $0 } == 1)
    }

    @Test func `the output of a worker that was not confined is refused if the sandbox is required`() async throws {
        let photo = try Photo(of: .onFile("plain.png"))
        #expect(try await Self.photo(sending: photo.jpeg, exit: 2, sandbox: .optional).jpeg == photo.jpeg)
        await #expect(throws: ImageError.noWorker("the image process ended with exit status 2")) {
            try await Self.photo(sending: photo.jpeg, exit: 2)
        }
    }

    @Test(arguments: ["baseline.jpg", "progressive.jpg", "plain.png", "lossy.webp", "lossless.webp"])
    func `the confined worker decodes every format`(_ name: String) async throws {
        let image = try [UInt8].onFile(name)
        #expect(try await TestSignups.images.photo(of: image).jpeg == Photo(of: image).jpeg)
    }

    /// Its coefficients need 240 MB, and its pixels would need another 122 MB if the shorter side were kept at 512.
    @Test func `the worker has enough memory for a very long progressive JPEG`() async throws {
        let image = [UInt8].greyJPEG(620, 64_500)
        #expect(try await TestSignups.images.photo(of: image).jpeg.count <= Photo.maximumBytes)
    }

    @Test func `an image is refused immediately if the queue is full`() async throws {
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
    fileprivate var isNoWorker: Bool { if case .noWorker = self { true } else { false } }

    /// The same error; `busy` with a wait of zero.
    fileprivate var untimed: ImageError {
        if case .rejected(.busy) = self { .rejected(.busy(wait: .zero)) } else { self }
    }
}

extension [UInt8] {
    /// A progressive JPEG of grey pixels, whose three components all have the full resolution.
    fileprivate static func greyJPEG(_ width: Int, _ height: Int) -> [UInt8] {
        func big(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            [0xFF, marker] + big(content.count + 2) + content
        }
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let size = big(height) + big(width)
        let blocks = 3 * ((width + 7) / 8) * ((height + 7) / 8)
        let parts: [[UInt8]] = [
            [0xFF, 0xD8],
            segment(0xDB, [0] + [UInt8](repeating: 1, count: 64)),
            segment(0xC2, [8] + size + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]),
            // The only code is the bit 0: the block has the same colour as the one before.
            segment(0xC4, [0, 1] + zeros(16)),
            segment(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 0, 0]),
            zeros((blocks + 7) / 8),
            [0xFF, 0xD9],
        ]
        return Array(parts.joined())
    }
}
