import Foundation
import Testing

@testable import Accounts

@Suite("The thread with the lowest priority", .timeLimit(.minutes(30)))
struct IdleThreadTests {
    private static let idle: Int32 = 5

    @Test func `the thread computes for one caller after the other`() {
        let thread = IdleThread(named: "test")
        var sum = 0
        for number in 1...1000 { thread.run { sum += number } }
        #expect(sum == 500_500)
        var policy: Int32 = 0
        thread.run { policy = sched_getscheduler(0) }
        #expect(policy == Self.idle)
    }

    @Test func `a thread without references ends`() {
        final class Marker {}
        weak var held: Marker?
        do {
            let (thread, marker) = (IdleThread(named: "test"), Marker())
            held = marker
            thread.run { withExtendedLifetime(marker) {} }
        }
        #expect(held == nil)
    }

    /// A thread of the lowest priority that waits for the processor while it holds a lock stops all that need the lock.
    @Test(arguments: [(DedicatedThread.Priority.normal, SCHED_OTHER), (.idle, idle)])
    func `hashing computes with the chosen priority, and takes its locks with the normal one`(
        priority: DedicatedThread.Priority,
        policy: Int32
    ) async throws {
        let (policies, continuation) = AsyncStream<Int32>.makeStream()
        let pool = try HashingPool(parameters: Argon2Tests.cheap, workers: 1, queue: 1, priority: priority) {
            password,
            _,
            arena throws(Argon2Error) in
            continuation.yield(sched_getscheduler(0))
            arena.run { continuation.yield(sched_getscheduler(0)) }
            return try Argon2.hash(password.secret, with: Argon2Tests.cheap, in: arena)
        }
        _ = try await pool.hash(SharedSecret(text: "password"))
        pool.shutdown()
        continuation.finish()
        var found: [Int32] = []
        for await policy in policies { found.append(policy) }
        #expect(found == [SCHED_OTHER, policy])
    }
}
