import Foundation
import Testing

@testable import Accounts

@Suite("The queue of the lanes")
struct WaitingTests {
    @Test func `the queue refuses jobs beyond its capacity`() {
        var waiting = Waiting(capacity: 2, lanes: 1, groupLimit: 1)
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.add(read()) == .refused("the queue is full"))
        _ = waiting.next()
        #expect(waiting.add(read()) == .taken(wake: false))
    }

    @Test(arguments: [(1, 1), (3, 3), (5, 5), (9, 5)])
    func `a group is not larger than its limit`(limit: Int, taken: Int) {
        var waiting = Waiting(capacity: 9, lanes: 1, groupLimit: limit)
        for _ in 1...5 { _ = waiting.add(read()) }
        #expect(waiting.takeGroup()?.jobs.count == taken)
        #expect(waiting.jobs.count == 5 - taken)
    }

    @Test func `a group writes each row at most once, in order of arrival`() {
        var waiting = Waiting(capacity: 9, lanes: 1)
        let (row, other) = (UUID(), UUID())
        let (first, second, third, elsewhere) = (write(row), write(row), write(row), write(other))
        for job in [first, second, third, elsewhere] { _ = waiting.add(job) }
        let groups = (1...3).map { _ in Set(waiting.next().map(ObjectIdentifier.init)) }
        #expect(groups == [[first, elsewhere], [second], [third]].map { Set($0.map(ObjectIdentifier.init)) })
        #expect(waiting.takeGroup() == nil)
    }

    @Test func `a group has its reads first, then its writes in order of rows`() {
        var waiting = Waiting(capacity: 300, lanes: 1)
        let rows = (0..<200).map { _ in UUID() }
        for row in rows { _ = waiting.add(write(row)) }
        _ = waiting.add(read())
        let group = waiting.next()
        #expect(group.first?.writes == nil)
        #expect(group.dropFirst().map(\.writes) == rows.sorted { $0.uuidString < $1.uuidString })
    }

    @Test func `a job whose caller was cancelled is dropped`() async {
        var waiting = Waiting(capacity: 9, lanes: 1)
        let (row, remaining) = (UUID(), read())
        let abandoned = write(row)
        let next = write(row)
        for job in [abandoned, remaining, next] { _ = waiting.add(job) }
        let caller = Task { await abandoned.failure() }
        caller.cancel()
        #expect(await caller.value?.isCancelled == true)
        // The dropped job does not delay the next job for the same row.
        #expect(waiting.next().map(ObjectIdentifier.init) == [ObjectIdentifier(remaining), .init(next)])
        #expect(waiting.jobs.isEmpty)
    }

    @Test func `a job that was sent cannot be cancelled`() async throws {
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

    @Test func `a stopped queue returns the waiting jobs and refuses new ones`() {
        var waiting = Waiting(capacity: 9, lanes: 1)
        _ = waiting.add(read())
        _ = waiting.add(read())
        #expect(waiting.stop().count == 2)
        #expect(waiting.jobs.isEmpty)
        #expect(waiting.add(read()) == .refused("the service is stopping"))
    }

    @Test func `a lane sleeps only if no job waits and the queue is not stopped`() {
        var waiting = Waiting(capacity: 9, lanes: 2)
        let first = waiting.goToSleep()
        #expect(waiting.add(read()) == .taken(wake: true))
        let whileOneWaits = waiting.goToSleep()
        waiting.wakeUp()
        _ = waiting.next()
        #expect(waiting.add(read()) == .taken(wake: false))
        _ = waiting.stop()
        let afterStop = waiting.goToSleep()
        #expect([first, whileOneWaits, afterStop] == [true, false, false])
    }

    @Test func `jobs wait while one lane is up, and are refused when the last is down`() {
        var waiting = Waiting(capacity: 9, lanes: 2)
        _ = waiting.add(read())
        #expect(waiting.laneIsDown("gone").isEmpty)
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.laneIsDown("gone").count == 2)
        #expect(waiting.add(read()) == .refused("gone"))
        waiting.laneIsUp()
        #expect(waiting.add(read()) == .taken(wake: false))
    }

    @Test func `jobs that arrive while a group is open form the next group`() {
        var waiting = Waiting(capacity: 9, lanes: 2)
        _ = waiting.add(read())
        let first = waiting.takeGroup()
        let otherLaneMaySleep = waiting.goToSleep()
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.add(read()) == .taken(wake: false))
        #expect(waiting.takeGroup() == nil)
        waiting.closeGroup(first!.number)
        #expect(otherLaneMaySleep)
        #expect(waiting.takeGroup()?.jobs.count == 2)
    }

    @Test func `a lane is woken for waiting and new jobs when a group takes long`() {
        var waiting = Waiting(capacity: 9, lanes: 3)
        _ = waiting.add(read())
        let first = waiting.takeGroup()!
        _ = waiting.goToSleep()
        _ = waiting.goToSleep()
        _ = waiting.add(read())
        waiting.closeGroup(first.number)
        let wakesForWaitingJob = waiting.shouldWakeLane()
        waiting.wakeUp()
        let second = waiting.takeGroup()!
        let admissionToOpenGroup = waiting.add(read())
        // Closing an older group again does not close the open group.
        waiting.closeGroup(first.number)
        #expect(waiting.takeGroup() == nil)
        waiting.closeGroup(second.number)
        let admissionOfNewJob = waiting.add(read())
        #expect(wakesForWaitingJob)
        #expect([admissionToOpenGroup, admissionOfNewJob] == [.taken(wake: false), .taken(wake: true)])
    }

    @Test(arguments: [(1, 3), (256, 1)])
    func `each job that runs alone wakes a lane, and jobs of one group wake one lane`(limit: Int, wakes: Int) {
        var waiting = Waiting(capacity: 9, lanes: 3, groupLimit: limit)
        for _ in 1...3 { _ = waiting.goToSleep() }
        let admissions = (1...4).map { _ in waiting.add(read()) }
        #expect(admissions.count { $0 == .taken(wake: true) } == wakes)
    }

    @Test func `the jobs whose deadline has passed leave the queue`() {
        let start = ContinuousClock.now
        let jobs = [2, 1, 4, 3].map { Job(["SELECT 1"], by: start + .seconds($0)) }
        var waiting = Waiting(capacity: 9, lanes: 1)
        for job in jobs { _ = waiting.add(job, at: start) }
        let early = waiting.expire(at: start)
        #expect(early.unsent.isEmpty && early.sent.isEmpty && early.next == start + .seconds(1))
        let expired = waiting.expire(at: start + .seconds(2))
        #expect(expired.unsent.map(ObjectIdentifier.init) == jobs.prefix(2).map(ObjectIdentifier.init))
        #expect(expired.sent.isEmpty && expired.next == start + .seconds(3))
        #expect(waiting.jobs.map(ObjectIdentifier.init) == jobs.suffix(2).map(ObjectIdentifier.init))
    }

    @Test func `the deadline of a sent job counts until its group has ended`() {
        let start = ContinuousClock.now
        let jobs = [1, 2].map { Job(["SELECT 1"], by: start + .seconds($0)) }
        var waiting = Waiting(capacity: 9, lanes: 1)
        for job in jobs { _ = waiting.add(job, at: start) }
        let group = waiting.takeGroup()!
        waiting.closeGroup(group.number)
        let expired = waiting.expire(at: start + .seconds(1))
        #expect(expired.unsent.isEmpty && expired.next == start + .seconds(2))
        #expect(expired.sent.map(ObjectIdentifier.init) == [ObjectIdentifier(jobs[0])])
        waiting.endGroup(group.number)
        let ended = waiting.expire(at: start + .seconds(2))
        #expect(ended.sent.isEmpty && ended.next == nil)
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2)])
    func `jobs that may wait for a lock for long leave a lane to others, and the next one follows when one has ended`(
        lanes: Int,
        atOnce: Int
    ) {
        var waiting = Waiting(capacity: 9, lanes: lanes, groupLimit: 1)
        let jobs = (0..<atOnce + 1).map { _ in read() }
        for job in jobs { _ = waiting.addPatient(job) }
        let other = read()
        _ = waiting.add(other)
        #expect(jobs.map(\.isPatient) == Array(repeating: true, count: atOnce) + [false])
        let groups = (0..<atOnce).map { _ in waiting.takeGroup()! }
        #expect(waiting.takeGroup()?.jobs.first === other, "the last job is parked")
        #expect(waiting.takeGroup() == nil)
        waiting.endGroup(groups[0].number)
        #expect(waiting.takeGroup()?.jobs.first === jobs[atOnce] && jobs[atOnce].isPatient)
    }

    @Test func `a parked job counts as waiting, and is answered at its deadline or when the queue stops`() {
        let start = ContinuousClock.now
        let jobs = [3, 1, 2].map { Job(["SELECT 1"], by: start + .seconds($0)) }
        var waiting = Waiting(capacity: 3, lanes: 1, groupLimit: 1)
        for job in jobs { _ = waiting.addPatient(job, at: start) }
        #expect(waiting.addPatient(read(), at: start) == .refused("the queue is full"))
        #expect(waiting.add(read(), at: start) == .refused("the queue is full"))
        let expired = waiting.expire(at: start + .seconds(1))
        #expect(expired.unsent.map(ObjectIdentifier.init) == [ObjectIdentifier(jobs[1])])
        #expect(expired.next == start + .seconds(2))
        #expect(waiting.stop().map(ObjectIdentifier.init) == [jobs[0], jobs[2]].map(ObjectIdentifier.init))
        #expect(waiting.addPatient(read(), at: start) == .refused("the service is stopping"))
    }

    @Test func `a job whose deadline has passed is refused`() {
        let start = ContinuousClock.now
        var waiting = Waiting(capacity: 9, lanes: 1)
        let job = Job(["SELECT 1"], by: start)
        #expect(waiting.add(job, at: start) == .refused(Waiting.overdue))
        #expect(waiting.add(job, at: start - .seconds(1)) == .taken(wake: false))
    }

    private func read() -> Job { Job(["SELECT 1"]) }
    private func write(_ row: UUID) -> Job { Job(["UPDATE"], writes: row) }
}

extension Waiting {
    /// Takes the next group, closes it, and returns its jobs; no jobs if there is no group.
    fileprivate mutating func next() -> [Job] {
        guard let group = takeGroup() else { return [] }
        closeGroup(group.number)
        return group.jobs
    }
}
