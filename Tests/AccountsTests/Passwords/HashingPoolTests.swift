import Dispatch
import Synchronization
import Testing

@testable import Accounts

@Suite("The queue of the hashing pool")
struct WorkQueueTests {
    @Test(arguments: [(workers: 1, queue: 0), (1, 1), (2, 3)])
    func `the queue accepts a job for each worker and each of its places, and refuses the next one`(
        workers: Int,
        queue: Int
    )
        throws
    {
        var waiting = WorkQueue<Int>(workers: workers, queue: queue, maximumWait: .seconds(60))
        for job in 0..<(workers + queue) {
            try waiting.enter(job, with: waiting.makeTicket())
        }
        #expect(throws: WorkRejection.busy(wait: .zero)) { try waiting.enter(99, with: waiting.makeTicket()) }
        #expect(waiting.waiting == workers + queue && waiting.running == 0)
    }

    @Test func `a running job counts towards the capacity until it finishes`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 0, maximumWait: .seconds(60))
        try queue.enter(1, with: queue.makeTicket())
        #expect(queue.next().job == 1)
        #expect(queue.waiting == 0 && queue.running == 1)
        #expect(throws: WorkRejection.busy(wait: .zero)) { try queue.enter(2, with: queue.makeTicket()) }
        queue.finish(after: .zero)
        try queue.enter(2, with: queue.makeTicket())
        #expect(queue.next().job == 2)
    }

    @Test func `a job whose expected wait exceeds the maximum is refused`() throws {
        var queue = WorkQueue<Int>(workers: 2, queue: 1000, maximumWait: .seconds(1))
        for job in 1...2 { try queue.enter(job, with: queue.makeTicket()) }
        for _ in 1...2 { _ = queue.next() }
        for _ in 1...2 { queue.finish(after: .milliseconds(100)) }
        #expect(queue.averageDuration == .milliseconds(100) && queue.wait(of: .unknown) == .zero)
        // The workers finish twenty jobs per second. Two jobs are running, and twenty more can start within the maximum
        // wait of one second.
        for job in 1...2 { try queue.enter(job, with: queue.makeTicket()) }
        for _ in 1...2 { _ = queue.next() }
        for job in 3...22 { try queue.enter(job, with: queue.makeTicket()) }
        #expect(queue.waiting == 20 && queue.wait(of: .unknown) == .milliseconds(1050))
        #expect(throws: WorkRejection.busy(wait: .milliseconds(1050))) { try queue.enter(99, with: queue.makeTicket()) }
        queue.finish(after: .milliseconds(900))
        #expect(queue.averageDuration == .milliseconds(200), "a new duration has a weight of one eighth")
    }

    @Test
    func `a job during which the machine was suspended for an hour little more than doubles the average duration`()
        throws
    {
        var queue = WorkQueue<Int>(workers: 1, queue: 1, maximumWait: .seconds(60))
        for duration in [Duration.milliseconds(80), .seconds(3600)] {
            try queue.enter(1, with: queue.makeTicket())
            _ = queue.next()
            queue.finish(after: duration)
        }
        #expect(queue.averageDuration == .milliseconds(170))
    }

    @Test func `the oldest job is next, and a worker sleeps when the queue is empty`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 2, maximumWait: .seconds(60))
        for job in 1...3 {
            try queue.enter(job, with: queue.makeTicket())
        }
        #expect([queue.next().job, queue.next().job, queue.next().job] == [1, 2, 3])
        guard case .sleep = queue.next() else {
            Issue.record("an empty queue must let its worker sleep")
            return
        }
    }

    @Test func `networks are served in turn`() throws {
        var queue = WorkQueue<String>(workers: 1, queue: 8, maximumWait: .seconds(60))
        let (a, b, c) = (try network("192.0.2.1"), try network("192.0.2.2"), try network("192.0.2.3"))
        for (job, network) in [("a1", a), ("a2", a), ("a3", a), ("b1", b), ("c1", c), ("b2", b)] {
            try queue.enter(job, with: queue.makeTicket(), from: network)
        }
        #expect((0..<6).map { _ in queue.next().job } == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test func `all networks of one /48 of IPv6 share a turn`() throws {
        var queue = WorkQueue<String>(workers: 1, queue: 4, maximumWait: .seconds(60))
        let person = try network("192.0.2.1")
        for job in 1...4 {
            let attacker = try network("2001:db8:7:\(job)::1")
            try queue.enter("attack \(job)", with: queue.makeTicket(), from: attacker)
        }
        try queue.enter("person", with: queue.makeTicket(), from: person)
        let fresh = try network("2001:db8:7:ffff::1")
        #expect(throws: WorkRejection.busy(wait: .zero)) {
            try queue.enter("attack 5", with: queue.makeTicket(), from: fresh)
        }
        #expect((0..<5).map { _ in queue.next().job } == ["attack 1", "person", "attack 2", "attack 3", "attack 4"])
    }

    @Test func `a network that fills the queue gives its newest place to another network`() throws {
        var queue = WorkQueue<String>(workers: 1, queue: 3, maximumWait: .seconds(60))
        let (attacker, person) = (try network("192.0.2.1"), try network("192.0.2.2"))
        for job in 1...4 { try queue.enter("attack \(job)", with: queue.makeTicket(), from: attacker) }
        #expect(queue.next().job == "attack 1")
        #expect(throws: WorkRejection.busy(wait: .zero)) {
            try queue.enter("attack 5", with: queue.makeTicket(), from: attacker)
        }
        #expect(try queue.enter("person", with: queue.makeTicket(), from: person)?.job == "attack 4")
        #expect(queue.waiting == 3 && queue.running == 1)
        #expect((0..<3).map { _ in queue.next().job } == ["attack 2", "person", "attack 3"])
    }

    @Test func `two networks with equal shares do not displace each other`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 1, maximumWait: .seconds(60))
        let (a, b) = (try network("192.0.2.1"), try network("192.0.2.2"))
        try queue.enter(1, with: queue.makeTicket(), from: a)
        try queue.enter(2, with: queue.makeTicket(), from: b)
        #expect(throws: WorkRejection.busy(wait: .zero)) { try queue.enter(3, with: queue.makeTicket(), from: a) }
        #expect(throws: WorkRejection.busy(wait: .zero)) {
            try queue.enter(4, with: queue.makeTicket(), from: self.network("192.0.2.3"))
        }
        #expect(queue.stop() == [1, 2])
    }

    @Test func `the estimated wait counts one turn of each other network`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 100, maximumWait: .seconds(60))
        let (attacker, person) = (try network("192.0.2.1"), try network("192.0.2.2"))
        try queue.enter(0, with: queue.makeTicket(), from: attacker)
        _ = queue.next()
        queue.finish(after: .milliseconds(100))
        for job in 1...50 { try queue.enter(job, with: queue.makeTicket(), from: attacker) }
        _ = queue.next()
        #expect(queue.wait(of: attacker) == .milliseconds(5000))
        #expect(queue.wait(of: person) == .milliseconds(200))
    }

    private func network(_ address: String) throws -> Network { Network(try #require(IPAddress(address))) }

    @Test func `a waiting job can be withdrawn once, and a running job cannot`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 1, maximumWait: .seconds(60))
        let tickets = [queue.makeTicket(), queue.makeTicket()]
        try queue.enter(1, with: tickets[0])
        try queue.enter(2, with: tickets[1])
        _ = queue.next()
        #expect(queue.withdraw(tickets[0]) == nil)
        #expect(queue.withdraw(tickets[1]) == 2)
        #expect(queue.withdraw(tickets[1]) == nil)
        #expect(queue.waiting == 0 && queue.running == 1)
    }

    @Test func `a stopped queue returns the waiting jobs, refuses new ones, and lets workers exit`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 1, maximumWait: .seconds(60))
        try queue.enter(1, with: queue.makeTicket())
        try queue.enter(2, with: queue.makeTicket())
        #expect(queue.stop() == [1, 2])
        #expect(queue.stop() == [])
        #expect(throws: WorkRejection.stopped) { try queue.enter(3, with: queue.makeTicket()) }
        guard case .exit = queue.next() else {
            Issue.record("a stopped queue must let its worker exit")
            return
        }
    }
}

@Suite("The hashing pool", .timeLimit(.minutes(30)))
struct HashingPoolTests {
    static let cheap = Argon2Tests.cheap

    @Test func `a password is hashed with the pool's parameters and verified`() async throws {
        let pool = try HashingPool(parameters: Self.cheap, workers: 2, queue: 4)
        let phc = try await pool.hash(SharedSecret(text: "correct horse"))
        #expect(phc.parameters == Self.cheap && phc.parallelism == 1)
        #expect(try await pool.verify(SharedSecret(text: "correct horse"), against: phc))
        #expect(try await !pool.verify(SharedSecret(text: "wrong horse"), against: phc))
        #expect(pool.waiting == 0 && pool.running == 0)
    }

    @Test func `many callers share a few workers`() async throws {
        let work = CountedWork()
        let pool = try work.pool(workers: 2, queue: 64)
        let hashes = try await withThrowingTaskGroup(of: PHCString.self) { group in
            for number in 0..<64 {
                group.addTask { try await pool.hash(SharedSecret(text: "password \(number)")) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(hashes).count == 64)
        #expect((1...2).contains(work.maximumAtOnce))
    }

    @Test func `a hash that needs more memory than a worker has is rejected as too costly`() async throws {
        let pool = try HashingPool(parameters: Self.cheap, workers: 1, queue: 1)
        let phc = try PHCString(Argon2Tests.known)
        await #expect(throws: HashingError.tooCostly) {
            try await pool.verify(SharedSecret(text: "password"), against: phc)
        }
    }

    @Test func `an error of the library reaches the caller`() async throws {
        let pool = try HashingPool(parameters: Self.cheap, workers: 1, queue: 1) { _, _, _ throws(Argon2Error) in
            throw Argon2Error(code: -22)
        }
        await #expect(throws: HashingError.argon2(Argon2Error(code: -22))) {
            try await pool.hash(SharedSecret(text: "password"))
        }
    }

    @Test func `a full queue refuses immediately, and accepts jobs again later`() async throws {
        let work = HeldWork()
        let pool = try work.pool(queue: 1)
        async let running = pool.hash(SharedSecret(text: "running"))
        await work.begun()
        async let waiting = pool.hash(SharedSecret(text: "waiting"))
        await pool.reaches(waiting: 1)

        await #expect(throws: HashingError.rejected(.busy(wait: .zero))) {
            try await pool.hash(SharedSecret(text: "refused"))
        }
        #expect(pool.waiting == 1 && pool.running == 1)

        work.release(3)
        _ = try await (running, waiting)
        _ = try await pool.hash(SharedSecret(text: "welcome"))
        #expect(work.count == 3)
    }

    @Test func `a cancelled task leaves the queue immediately, and its password is not hashed`() async throws {
        let work = HeldWork()
        let pool = try work.pool(queue: 1)
        async let running = pool.hash(SharedSecret(text: "running"))
        await work.begun()
        let waiting = Task { try await pool.hash(SharedSecret(text: "waiting")) }
        await pool.reaches(waiting: 1)

        waiting.cancel()
        await #expect(throws: HashingError.rejected(.cancelled)) { try await waiting.value }
        #expect(pool.waiting == 0 && pool.running == 1)

        work.release(1)
        _ = try await running
        #expect(work.count == 1)
    }

    @Test func `a task that is cancelled before it submits does not stay in the queue`() async throws {
        let work = HeldWork()
        let pool = try work.pool(queue: 1)
        async let running = pool.hash(SharedSecret(text: "running"))
        await work.begun()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pool.hash(SharedSecret(text: "late"))
        }
        await #expect(throws: HashingError.rejected(.cancelled)) { try await late.value }
        #expect(pool.waiting == 0)
        work.release(1)
        _ = try await running
    }

    @Test(arguments: [Duration.milliseconds(20), .zero])
    func `a password leaves the queue at the deadline of its request, and is not hashed`(time: Duration) async throws {
        let work = HeldWork()
        let pool = try work.pool(queue: 1)
        async let running = pool.hash(SharedSecret(text: "running"))
        await work.begun()
        await #expect(throws: HashingError.rejected(.busy(wait: .zero))) {
            try await Deadline.$current.withValue(Deadline(in: time)) {
                try await pool.hash(SharedSecret(text: "waiting"))
            }
        }
        #expect(pool.waiting == 0 && pool.running == 1)
        work.release(1)
        _ = try await running
        #expect(work.count == 1)
    }

    @Test func `a caller gets its answer at the deadline while its password is hashed, and the worker goes on`()
        async throws
    {
        let work = HeldWork()
        let pool = try work.pool(queue: 1)
        var time = Duration.milliseconds(20)
        // On a busy machine, the deadline may pass before the worker begins.
        while pool.running == 0 {
            await #expect(throws: HashingError.rejected(.busy(wait: .zero))) {
                try await Deadline.$current.withValue(Deadline(in: time)) {
                    try await pool.hash(SharedSecret(text: "slow"))
                }
            }
            time *= 2
        }
        #expect(pool.waiting == 0)
        async let next = pool.hash(SharedSecret(text: "next"))
        await pool.reaches(waiting: 1)
        work.release(2)
        #expect(try await next.parameters == Self.cheap)
        #expect(work.count == 2)
    }

    @Test func `a running hash is finished and returned even if its caller is cancelled`() async throws {
        let work = HeldWork()
        let pool = try work.pool(queue: 0)
        let running = Task { try await pool.hash(SharedSecret(text: "running")) }
        await work.begun()
        running.cancel()
        await #expect(throws: HashingError.rejected(.busy(wait: .zero))) {
            try await pool.hash(SharedSecret(text: "next"))
        }
        work.release(1)
        #expect(try await running.value.parameters == Self.cheap)
    }

    @Test func `a shutdown refuses waiting and new jobs and lets running jobs finish`() async throws {
        let work = HeldWork()
        let pool = try work.pool(queue: 1)
        async let running = pool.hash(SharedSecret(text: "running"))
        await work.begun()
        let waiting = Task { try await pool.hash(SharedSecret(text: "waiting")) }
        await pool.reaches(waiting: 1)

        let (ended, end) = AsyncStream<Void>.makeStream()
        let closer = DedicatedThread(named: "closer") {
            pool.shutdown()
            end.finish()
        }
        await #expect(throws: HashingError.rejected(.stopped)) { try await waiting.value }
        await #expect(throws: HashingError.rejected(.stopped)) { try await pool.hash(SharedSecret(text: "late")) }
        work.release(1)
        _ = try await running
        for await _ in ended {}
        closer.join()
        pool.shutdown()
        #expect(work.count == 1)
    }

    @Test func `a pool without references ends its threads`() async throws {
        weak var heldByWorkers: HeldWork?
        do {
            let work = HeldWork()
            heldByWorkers = work
            work.release(1)
            _ = try await work.pool(queue: 0).hash(SharedSecret(text: "password"))
        }
        #expect(heldByWorkers == nil)
    }
}

/// Work that counts how many passwords are hashed concurrently.
private final class CountedWork: Sendable {
    private struct Count {
        var now = 0
        var maximum = 0

        mutating func begin() {
            now += 1
            maximum = max(maximum, now)
        }
    }

    private let count = Mutex(Count())

    func pool(workers: Int, queue: Int) throws -> HashingPool {
        let cheap = Argon2Tests.cheap
        return try HashingPool(parameters: cheap, workers: workers, queue: queue) {
            shared,
            _,
            arena throws(Argon2Error) in
            self.count.withLock { $0.begin() }
            defer { self.count.withLock { $0.now -= 1 } }
            return try Argon2.hash(shared.secret, with: cheap, in: arena)
        }
    }

    var maximumAtOnce: Int { count.withLock { $0.maximum } }
}

/// Work for a pool with one worker. For each password, it reports its beginning, and waits until the test releases it.
private final class HeldWork: Sendable {
    private let beginnings: AsyncStream<Void>
    private let beginning: AsyncStream<Void>.Continuation
    private let gate = DispatchSemaphore(value: 0)
    private let finished = Atomic(0)

    init() {
        (beginnings, beginning) = AsyncStream.makeStream()
    }

    func pool(queue: Int) throws -> HashingPool {
        try HashingPool(parameters: Argon2Tests.cheap, workers: 1, queue: queue) {
            shared,
            _,
            arena throws(Argon2Error) in
            self.beginning.yield()
            self.gate.wait()
            self.finished.add(1, ordering: .relaxed)
            return try Argon2.hash(shared.secret, with: Argon2Tests.cheap, in: arena)
        }
    }

    /// Waits until the worker has begun to hash another password.
    func begun() async {
        for await _ in beginnings { return }
    }

    /// Lets the worker finish this many passwords, including later ones.
    func release(_ passwords: Int) {
        for _ in 0..<passwords {
            gate.signal()
        }
    }

    /// The number of passwords that were released.
    var count: Int { finished.load(ordering: .relaxed) }
}

extension HashingPool {
    /// Returns when this many callers are in the queue.
    fileprivate func reaches(waiting count: Int) async {
        while waiting < count {
            await Task.yield()
        }
    }
}

extension WorkQueue.Next {
    fileprivate var job: Job? {
        if case .run(let job) = self { job } else { nil }
    }
}

extension SharedSecret {
    /// Creates a secret from a text, which is not wiped. Only for tests, whose passwords need no protection.
    convenience init(text: String) {
        self.init(Secret(text: text))
    }
}
