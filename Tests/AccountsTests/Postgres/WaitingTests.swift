import Foundation
import Testing

@testable import Accounts

@Suite("Who waits, and who goes together")
struct WaitingTests {
    @Test func `no more wait than there is room for`() {
        var waiting = Waiting(capacity: 2, lanes: 1, groupLimit: 1)
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.add(read()) == .refused("the queue is full"))
        _ = waiting.next()
        #expect(waiting.add(read()) == .taken(wake: false))
    }

    @Test(arguments: [(1, 1), (3, 3), (5, 5), (9, 5)])
    func `a group is no larger than its limit`(limit: Int, taken: Int) {
        var waiting = Waiting(capacity: 9, lanes: 1, groupLimit: limit)
        for _ in 1...5 { _ = waiting.add(read()) }
        #expect(waiting.takeGroup()?.jobs.count == taken)
        #expect(waiting.jobs.count == 5 - taken)
    }

    @Test func `one row is written once in a group, in order of arrival`() {
        var waiting = Waiting(capacity: 9, lanes: 1)
        let (row, other) = (UUID(), UUID())
        let (first, second, third, elsewhere) = (write(row), write(row), write(row), write(other))
        for job in [first, second, third, elsewhere] { _ = waiting.add(job) }
        let groups = (1...3).map { _ in Set(waiting.next().map(ObjectIdentifier.init)) }
        #expect(groups == [[first, elsewhere], [second], [third]].map { Set($0.map(ObjectIdentifier.init)) })
        #expect(waiting.takeGroup() == nil)
    }

    @Test func `a group is in order of rows, reads before them`() {
        var waiting = Waiting(capacity: 300, lanes: 1)
        let rows = (0..<200).map { _ in UUID() }
        for row in rows { _ = waiting.add(write(row)) }
        _ = waiting.add(read())
        let group = waiting.next()
        #expect(group.first?.writes == nil)
        #expect(group.dropFirst().map(\.writes) == rows.sorted { $0.uuidString < $1.uuidString })
    }

    @Test func `a job whose caller went away is dropped`() async {
        var waiting = Waiting(capacity: 9, lanes: 1)
        let (row, stays) = (UUID(), read())
        let gone = write(row)
        let next = write(row)
        for job in [gone, stays, next] { _ = waiting.add(job) }
        let caller = Task { await gone.failure() }
        caller.cancel()
        #expect(await caller.value?.isCancelled == true)
        // It does not stand in the way of the next one for its row either.
        #expect(waiting.next().map(ObjectIdentifier.init) == [ObjectIdentifier(stays), .init(next)])
        #expect(waiting.jobs.isEmpty)
    }

    @Test func `a job that was sent is no longer cancelled`() async throws {
        let job = read()
        #expect(job.send())
        let caller = Task { await job.outcome() }
        caller.cancel()
        job.answer(.success([]))
        #expect(try await caller.value.get().isEmpty)
    }

    @Test func `only the first answer counts`() async {
        let job = read()
        job.answer(.failure(.unavailable("first")))
        job.answer(.success([]))
        #expect(await job.failure()?.isUnavailable == true)
    }

    @Test func `who stops takes what waits, and nobody comes after`() {
        var waiting = Waiting(capacity: 9, lanes: 1)
        _ = waiting.add(read())
        _ = waiting.add(read())
        #expect(waiting.stop().count == 2)
        #expect(waiting.jobs.isEmpty)
        #expect(waiting.add(read()) == .refused("the service is stopping"))
    }

    @Test func `a lane sleeps only while nothing waits and nobody stops it`() {
        var waiting = Waiting(capacity: 9, lanes: 2)
        let first = waiting.goToSleep()
        #expect(waiting.add(read()) == .taken(wake: true))
        let whileOneWaits = waiting.goToSleep()
        waiting.wakeUp()
        _ = waiting.next()
        #expect(waiting.add(read()) == .taken(wake: false))
        _ = waiting.stop()
        let afterTheEnd = waiting.goToSleep()
        #expect([first, whileOneWaits, afterTheEnd] == [true, false, false])
    }

    @Test func `jobs wait while one lane is up, and not when the last has gone`() {
        var waiting = Waiting(capacity: 9, lanes: 2)
        _ = waiting.add(read())
        #expect(waiting.laneIsDown("gone").isEmpty)
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.laneIsDown("gone").count == 2)
        #expect(waiting.add(read()) == .refused("gone"))
        waiting.laneIsUp()
        #expect(waiting.add(read()) == .taken(wake: false))
    }

    @Test func `what comes while a group is open waits for its end, and is one group then`() {
        var waiting = Waiting(capacity: 9, lanes: 2)
        _ = waiting.add(read())
        let first = waiting.takeGroup()
        let mayTheOtherSleep = waiting.goToSleep()
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.takeGroup() == nil)
        waiting.closeGroup(first!.number)
        #expect(mayTheOtherSleep)
        #expect(waiting.takeGroup()?.jobs.count == 2)
    }

    @Test func `where a group takes long, somebody is called for what waits, and for what comes`() {
        var waiting = Waiting(capacity: 9, lanes: 3)
        _ = waiting.add(read())
        let first = waiting.takeGroup()!
        _ = waiting.goToSleep()
        _ = waiting.goToSleep()
        _ = waiting.add(read())
        waiting.closeGroup(first.number)
        let callsForWhatWaits = waiting.shouldWakeLane()
        waiting.wakeUp()
        let second = waiting.takeGroup()!
        let callsBesideTheYoung = waiting.add(read())
        // The end of an old one does not close the open one.
        waiting.closeGroup(first.number)
        #expect(waiting.takeGroup() == nil)
        waiting.closeGroup(second.number)
        let callsForWhatComes = waiting.add(read())
        #expect(callsForWhatWaits)
        #expect([callsBesideTheYoung, callsForWhatComes] == [.taken(wake: false), .taken(wake: true)])
    }

    @Test(arguments: [(1, 3), (256, 1)])
    func `who goes alone is called for alone, who goes together once`(limit: Int, calls: Int) {
        var waiting = Waiting(capacity: 9, lanes: 3, groupLimit: limit)
        for _ in 1...3 { _ = waiting.goToSleep() }
        let admissions = (1...4).map { _ in waiting.add(read()) }
        #expect(admissions.count { $0 == .taken(wake: true) } == calls)
    }

    private func read() -> Job { Job(["SELECT 1"]) }
    private func write(_ row: UUID) -> Job { Job(["UPDATE"], writes: row) }
}

extension Waiting {
    /// The next group, whose end nothing waits for.
    fileprivate mutating func next() -> [Job] {
        guard let group = takeGroup() else { return [] }
        closeGroup(group.number)
        return group.jobs
    }
}
