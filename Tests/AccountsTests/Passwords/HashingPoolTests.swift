import Dispatch
import Synchronization
import Testing

@testable import Accounts

@Suite("The queue before the hashing workers")
struct WorkQueueTests {
    @Test(arguments: [(workers: 1, queue: 0), (1, 1), (2, 3)])
    func `it takes what the workers and the queue hold, and one more is refused`(workers: Int, queue: Int) throws {
        var waiting = WorkQueue<Int>(workers: workers, queue: queue, maximumWait: .seconds(60))
        for job in 0..<(workers + queue) {
            try waiting.enter(job, with: waiting.makeTicket())
        }
        #expect(throws: WorkRejection.busy(wait: .zero)) { try waiting.enter(99, with: waiting.makeTicket()) }
        #expect(waiting.waiting == workers + queue && waiting.running == 0)
    }

    @Test func `running jobs count until they finish`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 0, maximumWait: .seconds(60))
        try queue.enter(1, with: queue.makeTicket())
        #expect(queue.next().job == 1)
        #expect(queue.waiting == 0 && queue.running == 1)
        #expect(throws: WorkRejection.busy(wait: .zero)) { try queue.enter(2, with: queue.makeTicket()) }
        queue.finish(after: .zero)
        try queue.enter(2, with: queue.makeTicket())
        #expect(queue.next().job == 2)
    }

    @Test func `nobody waits longer than they may, as far as jobs take what they took lately`() throws {
        var queue = WorkQueue<Int>(workers: 2, queue: 1000, maximumWait: .seconds(1))
        for job in 1...2 { try queue.enter(job, with: queue.makeTicket()) }
        for _ in 1...2 { _ = queue.next() }
        for _ in 1...2 { queue.finish(after: .milliseconds(100)) }
        #expect(queue.averageDuration == .milliseconds(100) && queue.wait == .zero)
        // Twenty a second: two that run, and as many as start within a second.
        for job in 1...2 { try queue.enter(job, with: queue.makeTicket()) }
        for _ in 1...2 { _ = queue.next() }
        for job in 3...22 { try queue.enter(job, with: queue.makeTicket()) }
        #expect(queue.waiting == 20 && queue.wait == .milliseconds(1050))
        #expect(throws: WorkRejection.busy(wait: .milliseconds(1050))) { try queue.enter(99, with: queue.makeTicket()) }
        queue.finish(after: .milliseconds(900))
        #expect(queue.averageDuration == .milliseconds(200), "an eighth of what is new")
    }

    @Test func `the oldest is next, and a worker without work sleeps`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 2, maximumWait: .seconds(60))
        for job in 1...3 {
            try queue.enter(job, with: queue.makeTicket())
        }
        #expect([queue.next().job, queue.next().job, queue.next().job] == [1, 2, 3])
        guard case .sleep = queue.next() else {
            Issue.record("an empty queue has no work")
            return
        }
    }

    @Test func `a waiting job can be withdrawn once, a running one cannot`() throws {
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

    @Test func `a stopped queue gives back who waits, takes nobody, and sends workers home`() throws {
        var queue = WorkQueue<Int>(workers: 1, queue: 1, maximumWait: .seconds(60))
        try queue.enter(1, with: queue.makeTicket())
        try queue.enter(2, with: queue.makeTicket())
        #expect(queue.stop() == [1, 2])
        #expect(queue.stop() == [])
        #expect(throws: WorkRejection.stopped) { try queue.enter(3, with: queue.makeTicket()) }
        guard case .exit = queue.next() else {
            Issue.record("a stopped queue has no work")
            return
        }
    }
}

@Suite("Hashing on workers", .timeLimit(.minutes(2)))
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

    @Test func `many callers share few workers`() async throws {
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

    @Test func `a hash that needs more memory than a worker has is too costly`() async throws {
        let pool = try HashingPool(parameters: Self.cheap, workers: 1, queue: 1)
        let phc = try PHCString(Argon2Tests.known)
        await #expect(throws: HashingError.tooCostly) {
            try await pool.verify(SharedSecret(text: "password"), against: phc)
        }
    }

    @Test func `an error of the library reaches the caller`() async throws {
        let pool = try HashingPool(parameters: Self.cheap, workers: 1, queue: 1) { _, _ throws(Argon2Error) in
            throw Argon2Error(code: -22)
        }
        await #expect(throws: HashingError.argon2(Argon2Error(code: -22))) {
            try await pool.hash(SharedSecret(text: "password"))
        }
    }

    @Test func `a full queue refuses at once, and has room again afterwards`() async throws {
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

    @Test func `a cancelled task leaves the queue at once and is never hashed`() async throws {
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

    @Test func `a task cancelled before it asks does not stay in the queue`() async throws {
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

    @Test func `a hash that has begun is finished and delivered, whatever its caller does`() async throws {
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

    @Test func `shutting down refuses who waits, lets running ones finish, and takes nobody more`() async throws {
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

    @Test func `a pool that nobody holds any more ends its threads`() async throws {
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

/// Work that counts how many passwords are hashed at once.
private final class CountedWork: Sendable {
    private struct Count {
        var now = 0
        var most = 0

        mutating func begin() {
            now += 1
            most = max(most, now)
        }
    }

    private let count = Mutex(Count())

    func pool(workers: Int, queue: Int) throws -> HashingPool {
        let cheap = Argon2Tests.cheap
        return try HashingPool(parameters: cheap, workers: workers, queue: queue) { shared, arena throws(Argon2Error) in
            self.count.withLock { $0.begin() }
            defer { self.count.withLock { $0.now -= 1 } }
            return try Argon2.hash(shared.secret, with: cheap, in: arena)
        }
    }

    var maximumAtOnce: Int { count.withLock { $0.most } }
}

/// Work for one worker that says when it begins and then waits until the test lets it go on.
private final class HeldWork: Sendable {
    private let beginnings: AsyncStream<Void>
    private let beginning: AsyncStream<Void>.Continuation
    private let gate = DispatchSemaphore(value: 0)
    private let finished = Atomic(0)

    init() {
        (beginnings, beginning) = AsyncStream.makeStream()
    }

    func pool(queue: Int) throws -> HashingPool {
        try HashingPool(parameters: Argon2Tests.cheap, workers: 1, queue: queue) { shared, arena throws(Argon2Error) in
            self.beginning.yield()
            self.gate.wait()
            self.finished.add(1, ordering: .relaxed)
            return try Argon2.hash(shared.secret, with: Argon2Tests.cheap, in: arena)
        }
    }

    /// Returns when the worker has begun one more password.
    func begun() async {
        for await _ in beginnings { return }
    }

    /// Lets so many passwords go on, now or when they come.
    func release(_ passwords: Int) {
        for _ in 0..<passwords {
            gate.signal()
        }
    }

    /// Passwords that went on to be hashed.
    var count: Int { finished.load(ordering: .relaxed) }
}

extension HashingPool {
    /// Returns when so many callers are in the queue.
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
    /// For tests, whose passwords are no secrets.
    convenience init(text: String) {
        self.init(Secret(text: text))
    }
}
