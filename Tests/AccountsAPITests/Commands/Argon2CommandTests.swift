import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The argon2 commands", .freshDatabase, .timeLimit(.minutes(30)))
struct Argon2CommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `argon2 info shows the parameters, and argon2 calibrate recommends some`() async throws {
        let info = try await command("argon2", "info", "--json", settings: ["ARGON2_WORKERS": "1"])
        let json = try JSON.read(Array(info.output.utf8))
        #expect(info.status == 0 && json["library"]?.string?.contains("libargon2") == true)
        #expect(json["memory_kib"] == 19456 && json["iterations"] == 2 && json["workers"] == 1)
        #expect(json["memory_mib"] == 21, "with the 2 MiB that the worker uses in addition")
        let found = try await command("argon2", "calibrate", "--target", "1ms", settings: ["ARGON2_WORKERS": "1"])
        #expect(found.status == 0 && found.output.contains("ARGON2_MEMORY_KIB=19456\nARGON2_ITERATIONS=2\n"))
        #expect(found.errorOutput.contains("these are the minimum parameters"))
        let bounded = try await command(
            "argon2",
            "calibrate",
            "--json",
            "--target",
            "1s",
            "--workers",
            "2",
            "--memory-limit",
            "50MiB"
        )
        let room = try JSON.read(Array(bounded.output.utf8))
        guard case .integer(let memory)? = room["memory_kib"] else {
            Issue.record("\(room)")
            return
        }
        #expect((19_456...23_552).contains(memory) && room["workers"] == 2)
        for arguments in [
            ["--target", "soon"], ["--target", "1s", "--memory-limit", "1MiB"],
            ["--target", "1s", "--memory-limit", "64"],
        ] {
            #expect(try await CommandRun.of(["argon2", "calibrate"] + arguments, settings: [:]).status == 2)
        }
        #expect(try await command("argon2", "info", settings: ["ARGON2_MEMORY_KIB": "64"]).status == 2)
    }

    @Test(arguments: [(1, 200, 202_751), (2, 200, 100_351), (64, 3072, 47_103), (4, 8192, 262_144)])
    func `a calibration uses no more memory than serve accepts`(workers: Int, mebibytes: Int, expected: Int) throws {
        let memory = mebibytes << 20
        let limit = try Argon2Commands.Calibrate.maximumMemoryKiB(workers: workers, within: nil, of: memory)
        #expect(limit == expected)
        func mistakes(_ memoryKiB: Int) -> [String] {
            Argon2Parameters(memoryKiB: memoryKiB).mistakes(workers: workers, within: memory)
        }
        #expect(mistakes(limit) == [])
        #expect(limit == Argon2Parameters.ceiling.memoryKiB || mistakes(limit + 1).count == 1)
    }

    @Test func `the memory limit and the memory of the machine both apply to a calibration`() throws {
        func limit(_ text: String, workers: Int = 2) throws -> Int {
            let size = try #require(MemorySize(argument: text))
            return try Argon2Commands.Calibrate.maximumMemoryKiB(workers: workers, within: size, of: 200 << 20)
        }
        #expect(try limit("64MiB") == 30_720)
        #expect(try limit("1GiB") == 100_351)
        #expect(throws: (any Error).self) { try limit("41MiB") }
        #expect(throws: (any Error).self) { try limit("1GiB", workers: 10) }
    }

    /// With two workers that take 100 ms for a hash, a password waits 50 ms for each place of the queue before its own.
    @Test(arguments: [
        (32, 5, "1.7 s, behind a full queue of 32"), (100, 5, "5.1 s, behind a full queue of 100"),
        (101, 5, "5.1 s, limited by ARGON2_WAIT=5"), (1000, 7, "7.1 s, limited by ARGON2_WAIT=7"),
    ])
    func `the longest wait is that of the last password that a server accepts`(queue: Int, wait: Int, text: String) {
        let report = HashingReport(
            parameters: Argon2Parameters(),
            workers: 2,
            queue: queue,
            maximumWait: .seconds(wait),
            cost: Calibration.Cost(of: .milliseconds(100), workers: 2)
        )
        #expect(report.text.hasSuffix("longest wait   \(text)"))
        #expect(report.text.contains("memory         42 MiB for all workers\n"))
    }
}
