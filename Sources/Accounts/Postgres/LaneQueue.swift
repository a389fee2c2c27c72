internal import CPostgres
internal import Foundation
internal import Synchronization

/// What waits for a lane, and the rules of who goes together.
struct Waiting {
    let capacity: Int
    /// How many go together at most; where it is one, nobody waits in order to go together.
    let groupLimit: Int
    private(set) var jobs: [Job] = []
    /// Lanes that are connected, or trying for the first time since they last were.
    private(set) var lanesUp: Int
    private(set) var idleLanes = 0
    /// Sleepers that were called and have not woken yet.
    private var called = 0
    /// How many groups have begun.
    private var begun = 0
    /// The last of them, until it has ended or taken long. Nothing begins beside it, so that what comes meanwhile is one
    /// group, too.
    private var openGroup: Int?
    private(set) var isStopped = false
    /// Why the last of the lanes is down.
    private(set) var trouble = "no connection"

    enum Admission: Equatable {
        case taken(wake: Bool)
        case refused(String)
    }

    /// What a lane carries out at once.
    struct Group {
        let number: Int
        let jobs: [Job]
    }

    init(capacity: Int, lanes: Int, groupLimit: Int = 256) {
        self.capacity = capacity
        self.groupLimit = groupLimit
        lanesUp = lanes
    }

    mutating func add(_ job: Job) -> Admission {
        if isStopped { return .refused("the service is stopping") }
        if lanesUp == 0 { return .refused(trouble) }
        if jobs.count >= capacity { return .refused("the queue is full") }
        jobs.append(job)
        return .taken(wake: call())
    }

    /// Whether to wake somebody for what waits.
    mutating func call() -> Bool {
        let wanted = groupLimit > 1 ? 1 : jobs.count
        guard !jobs.isEmpty, openGroup == nil, called < min(idleLanes, wanted) else { return false }
        called += 1
        return true
    }

    /// The next jobs that may share a transaction: in order of arrival, at most one for each row that is written, and
    /// sorted by row, so that two lanes take their locks in the same order. Nil where nothing may begin now.
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
        begun += 1
        if groupLimit > 1 { openGroup = begun }
        return Group(
            number: begun,
            jobs: group.sorted { ($0.writes?.sqlBytes ?? []).lexicographicallyPrecedes($1.writes?.sqlBytes ?? []) }
        )
    }

    /// The group has ended, or takes so long that another shall begin beside it.
    mutating func isYoungNoMore(_ group: Int) {
        if openGroup == group { openGroup = nil }
    }

    /// True if the lane may sleep: nothing waits, or what waits is not to begin yet, and nobody stops it.
    mutating func goToSleep() -> Bool {
        guard jobs.isEmpty || openGroup != nil, !isStopped else { return false }
        idleLanes += 1
        return true
    }

    mutating func wakeUp() {
        idleLanes -= 1
        called = max(0, called - 1)
    }

    mutating func laneIsUp() {
        lanesUp += 1
    }

    /// Returns the jobs that nobody is left to serve.
    mutating func laneIsDown(_ reason: String) -> [Job] {
        lanesUp -= 1
        trouble = reason
        return lanesUp == 0 ? drain() : []
    }

    mutating func stop() -> [Job] {
        isStopped = true
        return drain()
    }

    private mutating func drain() -> [Job] {
        defer { jobs = [] }
        return jobs
    }
}

/// The queue that lanes share: ``Waiting`` behind a lock, and eventfds that wake who sleeps.
final class LaneQueue: Sendable {
    private let waiting: Mutex<Waiting>
    /// Readable while a sleeping lane is wanted; each count wakes one.
    let wakeup: Int32
    /// Readable from the moment the queue stops.
    let end: Int32

    init(capacity: Int, lanes: Int, groupLimit: Int = 256) {
        waiting = Mutex(Waiting(capacity: capacity, lanes: lanes, groupLimit: groupLimit))
        wakeup = eventfd(0, Int32(EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC))
        end = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(wakeup >= 0 && end >= 0, "the system gave no eventfd")
    }

    deinit {
        close(wakeup)
        close(end)
    }

    func submit(_ job: Job) {
        switch waiting.withLock({ $0.add(job) }) {
        case .taken(let wake): if wake { signal(wakeup) }
        case .refused(let reason): job.answer(.failure(.unavailable(reason)))
        }
    }

    func takeGroup() -> Waiting.Group? { waiting.withLock { $0.takeGroup() } }

    /// To be called by a lane that goes on with what waits, if anything does.
    func groupHasEnded(_ number: Int) {
        waiting.withLock { $0.isYoungNoMore(number) }
    }

    func groupTakesLong(_ number: Int) {
        let wake = waiting.withLock { waiting in
            waiting.isYoungNoMore(number)
            return waiting.call()
        }
        if wake { signal(wakeup) }
    }

    /// To be called by a lane that does not go on: what waits is for another.
    func handOver() {
        if waiting.withLock({ $0.call() }) { signal(wakeup) }
    }

    func goToSleep() -> Bool { waiting.withLock { $0.goToSleep() } }
    func laneIsUp() { waiting.withLock { $0.laneIsUp() } }
    func wakeUp() { waiting.withLock { $0.wakeUp() } }
    var isStopped: Bool { waiting.withLock { $0.isStopped } }
    /// How many jobs wait, and how many lanes there are to serve them.
    var load: (jobs: Int, lanes: Int) { waiting.withLock { ($0.jobs.count, $0.lanesUp) } }

    /// To be called by a lane that is about to serve; another may have been faster.
    func answerBell() {
        var count: UInt64 = 0
        read(wakeup, &count, 8)
    }

    func laneIsDown(_ reason: String) {
        for job in waiting.withLock({ $0.laneIsDown(reason) }) { job.answer(.failure(.unavailable(reason))) }
    }

    /// Refuses what waits; what is on its way is still answered by its lane.
    func stop() {
        for job in waiting.withLock({ $0.stop() }) { job.answer(.failure(.unavailable("the service is stopping"))) }
        signal(end)
    }

    private func signal(_ event: Int32) {
        var count: UInt64 = 1
        write(event, &count, 8)
    }
}
