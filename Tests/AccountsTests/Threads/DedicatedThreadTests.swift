import Foundation
import Testing

@testable import Accounts

@Suite("Threads", .timeLimit(.minutes(30)))
struct DedicatedThreadTests {
    /// Each reload of the applications file has a thread of its own, for example.
    @Test func `threads that nobody waits for leave no stack behind`() async throws {
        let before = try addressSpace()
        for _ in 1...1000 {
            await withCheckedContinuation { ended in _ = DedicatedThread(named: "test") { ended.resume() } }
        }
        // A stack has 8 MiB of addresses, so those of all threads would be 8 GB.
        #expect(try addressSpace() - before < 4_000_000)
    }

    /// The addresses that this process uses, in kB.
    private func addressSpace() throws -> Int {
        let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
        return try #require(status.firstMatch(of: /VmSize:\s+(\d+) kB/).flatMap { Int($0.1) })
    }
}
