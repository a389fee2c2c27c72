import Testing

@testable import Accounts

@Suite("Deadlines", .timeLimit(.minutes(30)))
struct DeadlineTests {
    @Test func `an extension moves the deadline by its duration`() {
        let deadline = Deadline(in: .seconds(8))
        let before = deadline.instant
        deadline.extend(by: .seconds(5))
        #expect(deadline.instant == before + .seconds(5))
    }

    @Test func `finding out whether a write took effect has its own deadline`() async throws {
        try await Deadline.$current.withValue(Deadline(in: .seconds(-1))) {
            #expect(Deadline.hasPassed && Deadline.secondsLeft == 0)
            let before = ContinuousClock.now
            let instant = try #require(await Deadline.verifying { Deadline.current?.instant })
            #expect(instant >= before + .seconds(1))
            #expect(Deadline.hasPassed)
        }
    }

    @Test func `a statement has the deadline of its request`() {
        let deadline = Deadline(in: .seconds(-1))
        Deadline.$current.withValue(deadline) {
            #expect(Job(["SELECT 1"]).deadline == deadline.instant)
            #expect(Deadline.hasPassed)
        }
        #expect(Job(["SELECT 1"]).deadline > .now && !Deadline.hasPassed)
    }

    @Test func `the watch wakes for a deadline that is earlier than the one it sleeps for`() async throws {
        let watch = DeadlineWatch()
        let (instants, wakeup) = AsyncStream<ContinuousClock.Instant>.makeStream()
        let late = ContinuousClock.now + .seconds(3600)
        let thread = DedicatedThread(named: "watch") {
            watch.run { now in
                wakeup.yield(now)
                return late
            }
        }
        watch.expect(late)
        var wakeups = instants.makeAsyncIterator()
        for _ in 1...3 {
            let deadline = ContinuousClock.now + .milliseconds(1)
            watch.expect(deadline)
            let wakeup = await wakeups.next()
            #expect(try #require(wakeup) >= deadline)
        }
        watch.stop()
        thread.join()
    }
}
