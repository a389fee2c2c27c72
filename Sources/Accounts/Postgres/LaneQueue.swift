internal import CPostgres
internal import Foundation
internal import Synchronization

/// What waits for a lane, and the rules of who goes together.
struct Waiting {
    let capacity: Int
    private(set) var jobs: [Job] = []
    /// Lanes that are connected, or trying for the first time since they last were.
    private(set) var lanesUp: Int
    private(set) var sleepers = 0
    private(set) var isStopped = false
    /// Why the last of the lanes is down.
    private(set) var trouble = "no connection"

    enum Admission: Equatable {
        case taken(wake: Bool)
        case refused(String)
    }

    init(capacity: Int, lanes: Int) {
        self.capacity = capacity
        lanesUp = lanes
    }

    mutating func add(_ job: Job) -> Admission {
        if isStopped { return .refused("the service is stopping") }
        if lanesUp == 0 { return .refused(trouble) }
        if jobs.count >= capacity { return .refused("the queue is full") }
        jobs.append(job)
        return .taken(wake: sleepers > 0)
    }

    /// The next jobs that may share a transaction: in order of arrival, at most one for each row that is written, and
    /// sorted by row, so that two lanes take their locks in the same order.
    mutating func takeGroup(of limit: Int) -> [Job] {
        var group: [Job] = []
        var rows: Set<UUID> = []
        var left: [Job] = []
        var next = 0
        while next < jobs.count, group.count < limit {
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
        return group.sorted { ($0.writes?.sqlBytes ?? []).lexicographicallyPrecedes($1.writes?.sqlBytes ?? []) }
    }

    /// True if the lane may sleep: nothing waits and nobody stops it.
    mutating func goToSleep() -> Bool {
        guard jobs.isEmpty, !isStopped else { return false }
        sleepers += 1
        return true
    }

    mutating func wakeUp() {
        sleepers -= 1
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
    let bell: Int32
    /// Readable from the moment the queue stops.
    let end: Int32

    init(capacity: Int, lanes: Int) {
        waiting = Mutex(Waiting(capacity: capacity, lanes: lanes))
        bell = eventfd(0, Int32(EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC))
        end = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(bell >= 0 && end >= 0, "the system gave no eventfd")
    }

    deinit {
        close(bell)
        close(end)
    }

    func submit(_ job: Job) {
        switch waiting.withLock({ $0.add(job) }) {
        case .taken(let wake): if wake { ring(bell) }
        case .refused(let reason): job.answer(.failure(.unavailable(reason)))
        }
    }

    func takeGroup(of limit: Int) -> [Job] { waiting.withLock { $0.takeGroup(of: limit) } }
    func goToSleep() -> Bool { waiting.withLock { $0.goToSleep() } }
    func laneIsUp() { waiting.withLock { $0.laneIsUp() } }
    func wakeUp() { waiting.withLock { $0.wakeUp() } }
    var isStopped: Bool { waiting.withLock { $0.isStopped } }
    /// How many jobs wait, and how many lanes there are to serve them.
    var load: (jobs: Int, lanes: Int) { waiting.withLock { ($0.jobs.count, $0.lanesUp) } }

    /// To be called by a lane that is about to serve; another may have been faster.
    func answerBell() {
        var count: UInt64 = 0
        read(bell, &count, 8)
    }

    func laneIsDown(_ reason: String) {
        for job in waiting.withLock({ $0.laneIsDown(reason) }) { job.answer(.failure(.unavailable(reason))) }
    }

    /// Refuses what waits; what is on its way is still answered by its lane.
    func stop() {
        for job in waiting.withLock({ $0.stop() }) { job.answer(.failure(.unavailable("the service is stopping"))) }
        ring(end)
    }

    private func ring(_ event: Int32) {
        var count: UInt64 = 1
        write(event, &count, 8)
    }
}
