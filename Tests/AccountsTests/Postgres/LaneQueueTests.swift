import Foundation
import Testing

@testable import Accounts

@Suite("The queue of the lanes")
struct LaneQueueTests {
    @Test func `the queue refuses jobs beyond its capacity`() {
        var state = LaneQueueState(capacity: 2, lanes: 1, groupLimit: 1)
        #expect(state.add(read()) == .taken(wake: false))
        #expect(state.add(read()) == .taken(wake: false))
        #expect(state.add(read()) == .refused("the queue is full"))
        _ = state.next()
        #expect(state.add(read()) == .taken(wake: false))
    }

    @Test(arguments: [(1, 1), (3, 3), (5, 5), (9, 5)])
    func `a group is not larger than its limit`(limit: Int, taken: Int) {
        var state = LaneQueueState(capacity: 9, lanes: 1, groupLimit: limit)
        for _ in 1...5 { _ = state.add(read()) }
        #expect(state.takeGroup()?.jobs.count == taken)
        #expect(state.jobs.count == 5 - taken)
    }

    @Test func `a group writes each row at most once, in order of arrival`() {
        var state = LaneQueueState(capacity: 9, lanes: 1)
        let (row, other) = (UUID(), UUID())
        let (first, second, third, elsewhere) = (write(row), write(row), write(row), write(other))
        for job in [first, second, third, elsewhere] { _ = state.add(job) }
        let groups = (1...3).map { _ in Set(state.next().map(ObjectIdentifier.init)) }
        #expect(groups == [[first, elsewhere], [second], [third]].map { Set($0.map(ObjectIdentifier.init)) })
        #expect(state.takeGroup() == nil)
    }

    @Test func `a group has its reads first, then its writes in order of rows`() {
        var state = LaneQueueState(capacity: 300, lanes: 1)
        let rows = (0..<200).map { _ in UUID() }
        for row in rows { _ = state.add(write(row)) }
        _ = state.add(read())
        let group = state.next()
        #expect(group.first?.writes == nil)
        #expect(group.dropFirst().map(\.writes) == rows.sorted { $0.uuidString < $1.uuidString })
    }

    @Test func `a job whose caller was cancelled is dropped`() async {
        var state = LaneQueueState(capacity: 9, lanes: 1)
        let (row, remaining) = (UUID(), read())
        let abandoned = write(row)
        let next = write(row)
        for job in [abandoned, remaining, next] { _ = state.add(job) }
        let caller = Task { await abandoned.failure() }
        caller.cancel()
        #expect(await caller.value?.isCancelled == true)
        // The dropped job does not delay the next job for the same row.
        #expect(state.next().map(ObjectIdentifier.init) == [ObjectIdentifier(remaining), .init(next)])
        #expect(state.jobs.isEmpty)
    }

    @Test func `a job that was sent cannot be cancelled`() async throws {
        let job = read()
        #expect(job.markSent())
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
        var state = LaneQueueState(capacity: 9, lanes: 1)
        _ = state.add(read())
        _ = state.add(read())
        #expect(state.stop().count == 2)
        #expect(state.jobs.isEmpty)
        #expect(state.add(read()) == .refused("the service is stopping"))
    }

    @Test func `a lane sleeps only if no job waits and the queue is not stopped`() {
        var state = LaneQueueState(capacity: 9, lanes: 2)
        let first = state.tryToIdle()
        #expect(state.add(read()) == .taken(wake: true))
        let whileOneWaits = state.tryToIdle()
        state.laneWoke()
        _ = state.next()
        #expect(state.add(read()) == .taken(wake: false))
        _ = state.stop()
        let afterStop = state.tryToIdle()
        #expect([first, whileOneWaits, afterStop] == [true, false, false])
    }

    @Test func `jobs wait while one lane is up, and are refused when the last is down`() {
        var state = LaneQueueState(capacity: 9, lanes: 2)
        _ = state.add(read())
        #expect(state.markLaneDown("gone").isEmpty)
        #expect(state.add(read()) == .taken(wake: false))
        #expect(state.markLaneDown("gone").count == 2)
        #expect(state.add(read()) == .refused("gone"))
        state.markLaneUp()
        #expect(state.add(read()) == .taken(wake: false))
    }

    @Test func `jobs that arrive while a group is open form the next group`() {
        var state = LaneQueueState(capacity: 9, lanes: 2)
        _ = state.add(read())
        let first = state.takeGroup()
        let otherLaneMaySleep = state.tryToIdle()
        #expect(state.add(read()) == .taken(wake: false))
        #expect(state.add(read()) == .taken(wake: false))
        #expect(state.takeGroup() == nil)
        state.closeGroup(first!.number)
        #expect(otherLaneMaySleep)
        #expect(state.takeGroup()?.jobs.count == 2)
    }

    @Test func `a lane is woken for waiting and new jobs when a group takes long`() {
        var state = LaneQueueState(capacity: 9, lanes: 3)
        _ = state.add(read())
        let first = state.takeGroup()!
        _ = state.tryToIdle()
        _ = state.tryToIdle()
        _ = state.add(read())
        state.closeGroup(first.number)
        let wakesForWaitingJob = state.reserveWakeup()
        state.laneWoke()
        let second = state.takeGroup()!
        let admissionToOpenGroup = state.add(read())
        // Closing an older group again does not close the open group.
        state.closeGroup(first.number)
        #expect(state.takeGroup() == nil)
        state.closeGroup(second.number)
        let admissionOfNewJob = state.add(read())
        #expect(wakesForWaitingJob)
        #expect([admissionToOpenGroup, admissionOfNewJob] == [.taken(wake: false), .taken(wake: true)])
    }

    @Test(arguments: [(1, 3), (256, 1)])
    func `each job that runs alone wakes a lane, and jobs of one group wake one lane`(limit: Int, wakes: Int) {
        var state = LaneQueueState(capacity: 9, lanes: 3, groupLimit: limit)
        for _ in 1...3 { _ = state.tryToIdle() }
        let admissions = (1...4).map { _ in state.add(read()) }
        #expect(admissions.count { $0 == .taken(wake: true) } == wakes)
    }

    @Test func `a parked job that another lane takes leaves no wakeup that was never sent`() {
        var state = LaneQueueState(capacity: 9, lanes: 3, groupLimit: 1)
        _ = state.markLaneDown("x")
        _ = state.park(read())
        _ = state.takeGroup()
        _ = state.park(read())
        let isIdle = state.tryToIdle()
        #expect(isIdle)
        state.markLaneUp()
        #expect(state.takeGroup()?.jobs.count == 1, "the parked job")
        #expect(state.add(read()) == .taken(wake: true))
    }

    @Test func `the jobs whose deadline has passed leave the queue`() {
        let start = ContinuousClock.now
        let jobs = [2, 1, 4, 3].map { Job(["SELECT 1"], by: start + .seconds($0)) }
        var state = LaneQueueState(capacity: 9, lanes: 1)
        for job in jobs { _ = state.add(job, at: start) }
        let early = state.expire(at: start)
        #expect(early.waiting.isEmpty && early.sent.isEmpty && early.nextDeadline == start + .seconds(1))
        let expired = state.expire(at: start + .seconds(2))
        #expect(expired.waiting.map(ObjectIdentifier.init) == jobs.prefix(2).map(ObjectIdentifier.init))
        #expect(expired.sent.isEmpty && expired.nextDeadline == start + .seconds(3))
        #expect(state.jobs.map(ObjectIdentifier.init) == jobs.suffix(2).map(ObjectIdentifier.init))
    }

    @Test func `the deadline of a sent job counts until its group has ended`() {
        let start = ContinuousClock.now
        let jobs = [1, 2].map { Job(["SELECT 1"], by: start + .seconds($0)) }
        var state = LaneQueueState(capacity: 9, lanes: 1)
        for job in jobs { _ = state.add(job, at: start) }
        let group = state.takeGroup()!
        state.closeGroup(group.number)
        let expired = state.expire(at: start + .seconds(1))
        #expect(expired.waiting.isEmpty && expired.nextDeadline == start + .seconds(2))
        #expect(expired.sent.map(ObjectIdentifier.init) == [ObjectIdentifier(jobs[0])])
        state.endGroup(group.number)
        let ended = state.expire(at: start + .seconds(2))
        #expect(ended.sent.isEmpty && ended.nextDeadline == nil)
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2)])
    func `jobs with the longer timeout leave a lane to others, and the next one follows when one has ended`(
        lanes: Int,
        atOnce: Int
    ) {
        var state = LaneQueueState(capacity: 9, lanes: lanes, groupLimit: 1)
        let jobs = (0..<atOnce + 1).map { _ in read() }
        for job in jobs { _ = state.park(job) }
        let other = read()
        _ = state.add(other)
        #expect(jobs.map(\.usesLongLockTimeout) == Array(repeating: true, count: atOnce) + [false])
        let groups = (0..<atOnce).map { _ in state.takeGroup()! }
        #expect(state.takeGroup()?.jobs.first === other, "the last job is parked")
        #expect(state.takeGroup() == nil)
        state.endGroup(groups[0].number)
        #expect(state.takeGroup()?.jobs.first === jobs[atOnce] && jobs[atOnce].usesLongLockTimeout)
    }

    @Test(arguments: [false, true])
    func `a parked job is not kept by one whose caller has gone`(isParkedLater: Bool) {
        var state = LaneQueueState(capacity: 10, lanes: 2, groupLimit: 1)
        let (first, second) = (read(), read())
        _ = state.park(first)
        if !isParkedLater { _ = state.park(second) }
        first.answer(.failure(.unavailable("cancelled")))
        if isParkedLater { _ = state.park(second) }
        #expect(state.takeGroup()?.jobs.first === second && second.usesLongLockTimeout)
        #expect(state.parked.isEmpty)
    }

    @Test func `a parked job counts as waiting, and is answered at its deadline or when the queue stops`() {
        let start = ContinuousClock.now
        let jobs = [3, 1, 2].map { Job(["SELECT 1"], by: start + .seconds($0)) }
        var state = LaneQueueState(capacity: 3, lanes: 1, groupLimit: 1)
        for job in jobs { _ = state.park(job, at: start) }
        #expect(state.park(read(), at: start) == .refused("the queue is full"))
        #expect(state.add(read(), at: start) == .refused("the queue is full"))
        let expired = state.expire(at: start + .seconds(1))
        #expect(expired.waiting.map(ObjectIdentifier.init) == [ObjectIdentifier(jobs[1])])
        #expect(expired.nextDeadline == start + .seconds(2))
        #expect(state.stop().map(ObjectIdentifier.init) == [jobs[0], jobs[2]].map(ObjectIdentifier.init))
        #expect(state.park(read(), at: start) == .refused("the service is stopping"))
    }

    @Test func `a job whose deadline has passed is refused`() {
        let start = ContinuousClock.now
        var state = LaneQueueState(capacity: 9, lanes: 1)
        let job = Job(["SELECT 1"], by: start)
        #expect(state.add(job, at: start) == .refused(LaneQueueState.overdueReason))
        #expect(state.add(job, at: start - .seconds(1)) == .taken(wake: false))
    }

    private func read() -> Job { Job(["SELECT 1"]) }
    private func write(_ row: UUID) -> Job { Job(["UPDATE"], writes: row) }
}

extension LaneQueueState {
    /// Takes the next group, closes it, and returns its jobs; no jobs if there is no group.
    fileprivate mutating func next() -> [Job] {
        guard let group = takeGroup() else { return [] }
        closeGroup(group.number)
        return group.jobs
    }
}
