internal import CPostgres
internal import Foundation
internal import Synchronization

/// The state of a ``LaneQueue``: its jobs, its groups and its lanes, which are threads with a connection (``Lane``). It
/// has the rules for grouping jobs and waking lanes.
struct LaneQueueState {
    /// The maximum number of waiting jobs.
    let capacity: Int
    /// The maximum number of jobs in a group. If it is 1, each job is a group of its own, and lanes run groups at the
    /// same time.
    let groupLimit: Int
    /// The jobs that wait for a lane, in order of arrival.
    private(set) var jobs: [Job] = []
    /// Jobs whose lock wait timed out and that are not yet in `jobs` again, because as many jobs as possible use the
    /// longer lock timeout (``park(_:at:)``).
    private(set) var parked: [Job] = []
    /// The number of lanes that are not known to be down. A lane is down after a failed connection attempt, or after
    /// PostgreSQL has become read-only, until it is connected again.
    private(set) var lanesUp: Int
    private(set) var idleLanes = 0
    /// The number of lanes that were sent a wakeup and are still asleep.
    private var pendingWakeups = 0
    /// The number of groups that have started.
    private var startedGroups = 0
    /// The number of the latest group; nil after ``closeGroup(_:)``, and always nil if ``groupLimit`` is 1. No other
    /// group starts while this group is open, so that the jobs that arrive meanwhile form one group.
    private var openGroup: Int?
    /// The sent jobs of each group that has not ended, by the number of the group.
    private var running: [Int: [Job]] = [:]
    private(set) var isStopped = false
    /// The error of the lane that went or stayed down most recently.
    private(set) var downReason = "no connection"

    static let overdueReason = "no answer before the deadline"

    enum Admission: Equatable {
        case taken(wake: Bool)
        case refused(String)
    }

    /// Jobs that share a transaction.
    struct Group {
        let number: Int
        let jobs: [Job]
    }

    /// The jobs whose deadline has passed. The caller must answer them.
    struct Expiry {
        /// Jobs that waited for their first or second run. They have left the queue, and do not run any more, so they
        /// have no effect.
        var waiting: [Job] = []
        /// Jobs of groups that have not ended, so they may still take effect.
        var sent: [Job] = []
        /// The earliest deadline of all other jobs; nil if there are none.
        var nextDeadline: ContinuousClock.Instant?
    }

    init(capacity: Int, lanes: Int, groupLimit: Int = 256) {
        self.capacity = capacity
        self.groupLimit = groupLimit
        lanesUp = lanes
    }

    /// Adds the job to the queue, or refuses it with a reason.
    mutating func add(_ job: Job, at now: ContinuousClock.Instant = .now) -> Admission {
        if let reason = refusal(of: job, at: now) { return .refused(reason) }
        jobs.append(job)
        return .taken(wake: reserveWakeup())
    }

    /// Parks a job whose lock wait timed out, or refuses it with a reason. The job moves to `jobs`, with the longer
    /// lock timeout (``StatementTimeouts/parkedLock``), when fewer than `lanesUp - 1` jobs use that timeout (or none if
    /// `lanesUp` is 1).
    mutating func park(_ job: Job, at now: ContinuousClock.Instant = .now) -> Admission {
        if let reason = refusal(of: job, at: now) { return .refused(reason) }
        parked.append(job)
        return .taken(wake: unpark())
    }

    /// Returns the reason why the queue does not take the job; nil if it does.
    private func refusal(of job: Job, at now: ContinuousClock.Instant) -> String? {
        if job.deadline <= now { return Self.overdueReason }
        if isStopped { return "the service is stopping" }
        if lanesUp == 0 { return downReason }
        return jobs.count + parked.count >= capacity ? "the queue is full" : nil
    }

    /// Moves parked jobs to the queue while more jobs may use the longer timeout. Returns whether the caller must wake
    /// a lane.
    private mutating func unpark() -> Bool { moveParkedJobs() && reserveWakeup() }

    /// Returns whether any job has moved.
    @discardableResult
    private mutating func moveParkedJobs() -> Bool {
        var hasMoved = false
        while !parked.isEmpty, longTimeoutJobs < max(1, lanesUp - 1) {
            let job = parked.removeFirst()
            if job.isAnswered { continue }
            job.usesLongLockTimeout = true
            jobs.append(job)
            hasMoved = true
        }
        return hasMoved
    }

    /// The number of jobs, waiting and sent, that use the longer timeout. Leaves out waiting jobs that are answered:
    /// they are never sent.
    private var longTimeoutJobs: Int {
        jobs.count { $0.usesLongLockTimeout && !$0.isAnswered }
            + running.values.joined().count(where: \.usesLongLockTimeout)
    }

    /// Whether the caller must wake a lane for the waiting jobs. If so, this function counts the wakeup as sent.
    mutating func reserveWakeup() -> Bool {
        let wanted = groupLimit > 1 ? 1 : jobs.count
        guard !jobs.isEmpty, openGroup == nil, pendingWakeups < min(idleLanes, wanted) else { return false }
        pendingWakeups += 1
        return true
    }

    /// Takes the next jobs that may share a transaction: in order of arrival, and at most one for each written row.
    /// Sorts them by row, so that two lanes take their locks in the same order. Returns nil if no job waits, or if no
    /// group may start now.
    mutating func takeGroup() -> Group? {
        guard openGroup == nil else { return nil }
        // A parked job may move to `jobs` now, because another one has expired there or more lanes are up.
        moveParkedJobs()
        var group: [Job] = []
        var rows: Set<UUID> = []
        var skipped: [Job] = []
        var next = 0
        while next < jobs.count, group.count < groupLimit {
            let job = jobs[next]
            next += 1
            if let row = job.writes, rows.contains(row) {
                skipped.append(job)
                continue
            }
            // Already answered: cancelled or expired.
            guard job.markSent() else { continue }
            group.append(job)
            if let row = job.writes { rows.insert(row) }
        }
        jobs.replaceSubrange(..<next, with: skipped)
        if group.isEmpty { return nil }
        startedGroups += 1
        if groupLimit > 1 { openGroup = startedGroups }
        running[startedGroups] = group
        return Group(
            number: startedGroups,
            jobs: group.sorted { ($0.writes?.sqlBytes ?? []).lexicographicallyPrecedes($1.writes?.sqlBytes ?? []) }
        )
    }

    /// Lets another group start. Called when the group is slow, is rolled back or ends.
    mutating func closeGroup(_ group: Int) {
        if openGroup == group { openGroup = nil }
    }

    /// Forgets the group. Called when all jobs of the group are answered or parked. Returns whether the caller must
    /// wake a lane.
    @discardableResult
    mutating func endGroup(_ group: Int) -> Bool {
        closeGroup(group)
        running[group] = nil
        return unpark()
    }

    /// Removes the waiting jobs whose deadline has passed. Returns them, and the sent jobs whose deadline has passed.
    mutating func expire(at now: ContinuousClock.Instant) -> Expiry {
        var expired = Expiry()
        expired.waiting = (jobs + parked).filter { $0.deadline <= now }
        if !expired.waiting.isEmpty {
            jobs.removeAll { $0.deadline <= now }
            parked.removeAll { $0.deadline <= now }
        }
        let sent = running.values.joined()
        expired.sent = sent.filter { $0.deadline <= now }
        expired.nextDeadline = (jobs + parked + sent).lazy.map(\.deadline).filter { $0 > now }.min()
        return expired
    }

    /// Returns whether the lane must sleep, and then counts it as idle. True if the queue is not stopped, and either no
    /// job waits or no group may start yet.
    mutating func tryToIdle() -> Bool {
        guard jobs.isEmpty || openGroup != nil, !isStopped else { return false }
        idleLanes += 1
        return true
    }

    mutating func laneWoke() {
        idleLanes -= 1
        pendingWakeups = max(0, pendingWakeups - 1)
    }

    mutating func markLaneUp() {
        lanesUp += 1
    }

    /// Returns the jobs that the caller must refuse: all waiting jobs if every lane is down now; otherwise none.
    mutating func markLaneDown(_ reason: String) -> [Job] {
        lanesUp -= 1
        downReason = reason
        return lanesUp == 0 ? drain() : []
    }

    mutating func updateDownReason(_ reason: String) {
        downReason = reason
    }

    /// Returns the waiting jobs, which the caller must refuse.
    mutating func stop() -> [Job] {
        isStopped = true
        return drain()
    }

    private mutating func drain() -> [Job] {
        defer { (jobs, parked) = ([], []) }
        return jobs + parked
    }
}

/// The queue that several ``Lane``s share: ``LaneQueueState`` behind a lock, and eventfds that wake sleeping lanes.
final class LaneQueue: Sendable {
    private let state: Mutex<LaneQueueState>
    /// An eventfd that is readable while a sleeping lane is needed. Its count is the number of wakeups that no lane has
    /// consumed.
    let wakeupEvent: Int32
    /// An eventfd that is readable after the queue has stopped.
    let stopEvent: Int32

    init(capacity: Int, lanes: Int, groupLimit: Int = 256) {
        state = Mutex(LaneQueueState(capacity: capacity, lanes: lanes, groupLimit: groupLimit))
        wakeupEvent = eventfd(0, Int32(EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC))
        stopEvent = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(wakeupEvent >= 0 && stopEvent >= 0, "cannot create an eventfd")
    }

    deinit {
        close(wakeupEvent)
        close(stopEvent)
    }

    /// Queues the job, or refuses it with `unavailable`. Returns the job, so that the caller can wait for its outcome.
    @discardableResult
    func submit(_ job: Job) -> Job {
        switch state.withLock({ $0.add(job) }) {
        case .taken(let wake): if wake { signal(wakeupEvent) }
        case .refused(let reason): job.answer(.failure(.unavailable(reason)))
        }
        return job
    }

    /// Parks a job whose lock wait timed out, so that it may wait longer. Returns false if the queue refuses it.
    func park(_ job: Job) -> Bool {
        guard case .taken(let wake) = state.withLock({ $0.park(job) }) else { return false }
        if wake { signal(wakeupEvent) }
        return true
    }

    /// Takes the next jobs for the calling lane. Wakes another lane if further jobs wait and may start now.
    func takeGroup() -> LaneQueueState.Group? {
        let (group, wake) = state.withLock { state in
            let group = state.takeGroup()
            return (group, state.reserveWakeup())
        }
        if wake { signal(wakeupEvent) }
        return group
    }

    /// Forgets the group. The calling lane takes the next group itself, so this function wakes another lane only for
    /// jobs that were parked.
    func endGroup(_ number: Int) {
        if state.withLock({ $0.endGroup(number) }) { signal(wakeupEvent) }
    }

    /// Lets another group start while this one goes on, and wakes a lane if jobs wait.
    func closeSlowGroup(_ number: Int) {
        let wake = state.withLock { state in
            state.closeGroup(number)
            return state.reserveWakeup()
        }
        if wake { signal(wakeupEvent) }
    }

    /// Called by a lane that runs no more groups on its present connection. Wakes another lane if jobs wait.
    func wakeLaneIfJobsWait() {
        if state.withLock({ $0.reserveWakeup() }) { signal(wakeupEvent) }
    }

    func tryToIdle() -> Bool { state.withLock { $0.tryToIdle() } }
    func laneWoke() { state.withLock { $0.laneWoke() } }
    func markLaneUp() { state.withLock { $0.markLaneUp() } }
    func updateDownReason(_ reason: String) { state.withLock { $0.updateDownReason(reason) } }
    var isStopped: Bool { state.withLock { $0.isStopped } }
    /// The number of waiting and parked jobs, and the number of lanes that are not known to be down.
    var load: (jobs: Int, lanes: Int) { state.withLock { ($0.jobs.count + $0.parked.count, $0.lanesUp) } }

    /// Called by a lane that was woken. Does nothing if another lane has consumed the wakeup.
    func consumeWakeup() {
        var count: UInt64 = 0
        read(wakeupEvent, &count, 8)
    }

    func markLaneDown(_ reason: String) {
        for job in state.withLock({ $0.markLaneDown(reason) }) { job.answer(.failure(.unavailable(reason))) }
    }

    /// Answers the jobs whose deadline has passed. A job that was sent may still take effect.
    ///
    /// - Returns: the earliest deadline of all other jobs; nil if there are none.
    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let expired = state.withLock { $0.expire(at: now) }
        for job in expired.waiting { job.answer(.failure(.unavailable(LaneQueueState.overdueReason))) }
        for job in expired.sent { job.answer(.failure(.outcomeUnknown(LaneQueueState.overdueReason))) }
        return expired.nextDeadline
    }

    /// Refuses the waiting jobs. Lanes still answer the jobs that they have sent.
    func stop() {
        for job in state.withLock({ $0.stop() }) { job.answer(.failure(.unavailable("the service is stopping"))) }
        signal(stopEvent)
    }

    private func signal(_ event: Int32) {
        var count: UInt64 = 1
        write(event, &count, 8)
    }
}
