internal import CPostgres
internal import Foundation
internal import Synchronization

/// The jobs that wait for a lane, and the rules for grouping them.
struct Waiting {
    /// The maximum number of waiting jobs.
    let capacity: Int
    /// The maximum number of jobs in a group. If it is 1, each job is a group of its own, and lanes run groups at the
    /// same time.
    let groupLimit: Int
    private(set) var jobs: [Job] = []
    /// Jobs that have waited too long for a lock, and run again when fewer such jobs do. They are not in `jobs`.
    private(set) var parked: [Job] = []
    /// The number of lanes that have a connection, or that have not failed to connect since the start or since they
    /// lost it.
    private(set) var lanesUp: Int
    private(set) var idleLanes = 0
    /// The number of lanes that were sent a wakeup and are still asleep.
    private var pendingWakeups = 0
    /// The number of groups that have started.
    private var startedGroups = 0
    /// The number of the last group, until it has ended or has taken too long. No other group starts while it is open,
    /// so that the jobs that arrive meanwhile form one group.
    private var openGroup: Int?
    /// The sent jobs of each group that has not ended, by the number of the group.
    private var running: [Int: [Job]] = [:]
    private(set) var isStopped = false
    /// The reason why the last lane that lost its connection, or could not connect, is down.
    private(set) var downReason = "no connection"

    static let overdue = "no answer before the deadline"

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
    struct Expired {
        /// Jobs that were waiting. They have left the queue, and are never sent.
        var unsent: [Job] = []
        /// Jobs that were sent. Their lane still waits for their result.
        var sent: [Job] = []
        /// The earliest deadline of all other jobs; nil if there are none.
        var next: ContinuousClock.Instant?
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
        return .taken(wake: shouldWakeLane())
    }

    /// Adds a job that has waited too long for a lock. It runs again, and may wait for long, at once or when another such
    /// job has ended: such jobs have all lanes but one, or the only lane.
    mutating func addPatient(_ job: Job, at now: ContinuousClock.Instant = .now) -> Admission {
        if let reason = refusal(of: job, at: now) { return .refused(reason) }
        parked.append(job)
        return .taken(wake: unpark())
    }

    /// Returns the reason why the queue does not take the job; nil if it does.
    private func refusal(of job: Job, at now: ContinuousClock.Instant) -> String? {
        if job.deadline <= now { return Self.overdue }
        if isStopped { return "the service is stopping" }
        if lanesUp == 0 { return downReason }
        return jobs.count + parked.count >= capacity ? "the queue is full" : nil
    }

    /// Moves parked jobs to the queue while there may be more patient jobs. Returns whether the caller must wake a lane.
    private mutating func unpark() -> Bool {
        var hasMoved = false
        while !parked.isEmpty, patientJobs < max(1, lanesUp - 1) {
            let job = parked.removeFirst()
            if job.isAnswered { continue }
            job.isPatient = true
            jobs.append(job)
            hasMoved = true
        }
        return hasMoved && shouldWakeLane()
    }

    /// The number of jobs, waiting and sent, that may wait for a lock for long.
    private var patientJobs: Int { (jobs + running.values.joined()).count(where: \.isPatient) }

    /// Whether the caller must wake a lane for the waiting jobs. If so, this function counts the wakeup as sent.
    mutating func shouldWakeLane() -> Bool {
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
        var group: [Job] = []
        var rows: Set<UUID> = []
        var left: [Job] = []
        var next = 0
        while next < jobs.count, group.count < groupLimit {
            let job = jobs[next]
            next += 1
            guard job.writes.map({ !rows.contains($0) }) ?? true else {
                left.append(job)
                continue
            }
            guard job.send() else { continue }
            group.append(job)
            if let row = job.writes { rows.insert(row) }
        }
        jobs.replaceSubrange(..<next, with: left)
        if group.isEmpty { return nil }
        startedGroups += 1
        if groupLimit > 1 { openGroup = startedGroups }
        running[startedGroups] = group
        return Group(
            number: startedGroups,
            jobs: group.sorted { ($0.writes?.sqlBytes ?? []).lexicographicallyPrecedes($1.writes?.sqlBytes ?? []) }
        )
    }

    /// Lets another group start. Called when the group takes long.
    mutating func closeGroup(_ group: Int) {
        if openGroup == group { openGroup = nil }
    }

    /// Forgets the group. Called when all its jobs are answered or wait again. Returns whether the caller must wake a lane.
    @discardableResult
    mutating func endGroup(_ group: Int) -> Bool {
        closeGroup(group)
        running[group] = nil
        return unpark()
    }

    /// Removes the waiting jobs whose deadline has passed. Returns them, and the sent jobs whose deadline has passed.
    mutating func expire(at now: ContinuousClock.Instant) -> Expired {
        var expired = Expired()
        expired.unsent = (jobs + parked).filter { $0.deadline <= now }
        if !expired.unsent.isEmpty {
            jobs.removeAll { $0.deadline <= now }
            parked.removeAll { $0.deadline <= now }
        }
        let sent = running.values.joined()
        expired.sent = sent.filter { $0.deadline <= now }
        expired.next = (jobs + parked + sent).lazy.map(\.deadline).filter { $0 > now }.min()
        return expired
    }

    /// Returns whether the lane must sleep, and then counts it as idle. It must if the queue is not stopped and no job
    /// waits, or no group may start yet.
    mutating func goToSleep() -> Bool {
        guard jobs.isEmpty || openGroup != nil, !isStopped else { return false }
        idleLanes += 1
        return true
    }

    mutating func wakeUp() {
        idleLanes -= 1
        pendingWakeups = max(0, pendingWakeups - 1)
    }

    mutating func laneIsUp() {
        lanesUp += 1
    }

    /// Returns the jobs that the caller must reject: all waiting jobs if this was the last lane with a connection.
    mutating func laneIsDown(_ reason: String) -> [Job] {
        lanesUp -= 1
        downReason = reason
        return lanesUp == 0 ? drain() : []
    }

    mutating func laneIsStillDown(_ reason: String) {
        downReason = reason
    }

    /// Returns the waiting jobs, which the caller must reject.
    mutating func stop() -> [Job] {
        isStopped = true
        return drain()
    }

    private mutating func drain() -> [Job] {
        defer { (jobs, parked) = ([], []) }
        return jobs + parked
    }
}

/// The queue that lanes share: ``Waiting`` behind a lock, and eventfds that wake sleeping lanes.
final class LaneQueue: Sendable {
    private let waiting: Mutex<Waiting>
    /// An eventfd that is readable while a sleeping lane is needed. Each count wakes one lane.
    let wakeup: Int32
    /// An eventfd that is readable after the queue has stopped.
    let end: Int32

    init(capacity: Int, lanes: Int, groupLimit: Int = 256) {
        waiting = Mutex(Waiting(capacity: capacity, lanes: lanes, groupLimit: groupLimit))
        wakeup = eventfd(0, Int32(EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC))
        end = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(wakeup >= 0 && end >= 0, "cannot create an eventfd")
    }

    deinit {
        close(wakeup)
        close(end)
    }

    /// Queues the job, or rejects it with `unavailable`. Returns the job, so that the caller can wait for its outcome.
    @discardableResult
    func submit(_ job: Job) -> Job {
        switch waiting.withLock({ $0.add(job) }) {
        case .taken(let wake): if wake { signal(wakeup) }
        case .refused(let reason): job.answer(.failure(.unavailable(reason)))
        }
        return job
    }

    /// Queues a job that has waited too long for a lock, so that it may wait longer. Returns false if it must fail.
    func submitPatient(_ job: Job) -> Bool {
        guard case .taken(let wake) = waiting.withLock({ $0.addPatient(job) }) else { return false }
        if wake { signal(wakeup) }
        return true
    }

    func takeGroup() -> Waiting.Group? { waiting.withLock { $0.takeGroup() } }

    /// Called by a lane that takes the next group itself, so that another lane is woken only for jobs that were parked.
    func groupHasEnded(_ number: Int) {
        if waiting.withLock({ $0.endGroup(number) }) { signal(wakeup) }
    }

    func groupTakesLong(_ number: Int) {
        let wake = waiting.withLock { waiting in
            waiting.closeGroup(number)
            return waiting.shouldWakeLane()
        }
        if wake { signal(wakeup) }
    }

    /// Called by a lane that takes no more groups from its present connection. Wakes another lane if jobs wait.
    func handOver() {
        if waiting.withLock({ $0.shouldWakeLane() }) { signal(wakeup) }
    }

    func goToSleep() -> Bool { waiting.withLock { $0.goToSleep() } }
    func laneIsUp() { waiting.withLock { $0.laneIsUp() } }
    func laneIsStillDown(_ reason: String) { waiting.withLock { $0.laneIsStillDown(reason) } }
    func wakeUp() { waiting.withLock { $0.wakeUp() } }
    var isStopped: Bool { waiting.withLock { $0.isStopped } }
    /// The numbers of waiting jobs and of lanes that are up.
    var load: (jobs: Int, lanes: Int) { waiting.withLock { ($0.jobs.count + $0.parked.count, $0.lanesUp) } }

    /// Called by a lane that was woken. Does nothing if another lane has consumed the wakeup.
    func consumeWakeup() {
        var count: UInt64 = 0
        read(wakeup, &count, 8)
    }

    func laneIsDown(_ reason: String) {
        for job in waiting.withLock({ $0.laneIsDown(reason) }) { job.answer(.failure(.unavailable(reason))) }
    }

    /// Answers the jobs whose deadline has passed. A job that was sent may still take effect.
    ///
    /// - Returns: the earliest deadline of all other jobs; nil if there are none.
    func expire(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let expired = waiting.withLock { $0.expire(at: now) }
        for job in expired.unsent { job.answer(.failure(.unavailable(Waiting.overdue))) }
        for job in expired.sent { job.answer(.failure(.outcomeUnknown(Waiting.overdue))) }
        return expired.next
    }

    /// Rejects the waiting jobs. Lanes still answer the jobs that they have sent.
    func stop() {
        for job in waiting.withLock({ $0.stop() }) { job.answer(.failure(.unavailable("the service is stopping"))) }
        signal(end)
    }

    private func signal(_ event: Int32) {
        var count: UInt64 = 1
        write(event, &count, 8)
    }
}
