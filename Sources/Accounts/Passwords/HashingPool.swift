internal import Synchronization

/// A fixed number of threads that hash passwords, each with memory of its own, and a bounded queue before them.
///
/// Memory is `workers` times the parameters', taken at the start and kept; the cooperative threads never hash.
package final class HashingPool: Sendable {
    typealias Hash = @Sendable (SharedSecret, Arena) throws(Argon2Error) -> PHCString

    package let parameters: Argon2Parameters
    private let makeHash: Hash
    private let desk: HashingDesk
    private let workers, capacity: Int
    private let threads: Mutex<[DedicatedThread]>

    /// Throws where the system gives no memory. Without workers and queue every password is refused.
    ///
    /// - Parameters:
    ///   - queue: how many passwords may wait while all workers are busy.
    ///   - patience: how long one may wait, as far as hashes take what they took lately.
    ///   - priority: `idle` lets everything else on the machine go first.
    package convenience init(
        parameters: Argon2Parameters = Argon2Parameters(),
        workers: Int,
        queue: Int,
        patience: Duration = .seconds(3600),
        priority: DedicatedThread.Priority = .normal,
        meters: Meters = Meters()
    ) throws(Argon2Error) {
        try self.init(
            parameters: parameters,
            workers: workers,
            queue: queue,
            patience: patience,
            priority: priority,
            meters: meters
        ) { password, arena throws(Argon2Error) in
            try Argon2.hash(password.secret, with: parameters, in: arena)
        }
    }

    init(
        parameters: Argon2Parameters,
        workers: Int,
        queue: Int,
        patience: Duration = .seconds(3600),
        priority: DedicatedThread.Priority = .normal,
        meters: Meters = Meters(),
        hash: @escaping Hash
    ) throws(Argon2Error) {
        precondition(parameters.isWithinBounds, "the parameters of a hashing pool are checked before it starts")
        let desk = HashingDesk(workers: workers, queue: queue, patience: patience, meters: meters)
        var arenas: [Arena] = []
        for _ in 0..<workers {
            arenas.append(try Arena(kibibytes: parameters.memoryKiB))
        }
        self.parameters = parameters
        makeHash = hash
        self.desk = desk
        (self.workers, capacity) = (workers, queue)
        threads = Mutex(
            arenas.enumerated().map { number, arena in
                DedicatedThread(named: "argon2-\(number)", priority: priority) { desk.serve(in: arena) }
            }
        )
    }

    /// Whoever waits for a hash holds the pool, so by now its workers are idle and gone within microseconds.
    deinit {
        shutdown()
    }

    /// Throws `busy` at once if there is no room to wait, before anything is hashed.
    ///
    /// Cancelling the task takes a waiting password out of the queue and throws `cancelled` at once; one that is being
    /// hashed keeps its worker to the end, and its hash is returned.
    package func hash(_ password: SharedSecret) async throws(HashingError) -> PHCString {
        try await run { [makeHash] arena throws(Argon2Error) in
            try makeHash(password, arena)
        }
    }

    /// Queues as ``hash(_:)`` does. Throws `tooCostly` for a hash that needs more memory than this pool's workers have.
    package func verify(_ candidate: SharedSecret, against phc: PHCString) async throws(HashingError) -> Bool {
        guard phc.parameters.memoryKiB <= parameters.memoryKiB else { throw .tooCostly }
        return try await run { arena throws(Argon2Error) in
            try Argon2.verify(candidate.secret, against: phc, in: arena)
        }
    }

    /// Refuses those who wait with `stopped`, lets running hashes finish, and blocks until the threads are gone.
    /// A second call has nothing to wait for and returns at once.
    package func shutdown() {
        desk.close()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads {
            thread.join()
        }
    }

    /// Jobs in the queue.
    package var waiting: Int { desk.queue.withLock { $0.waiting } }
    /// Jobs on a worker.
    package var running: Int { desk.queue.withLock { $0.running } }

    private func run<Answer: Sendable>(
        _ work: @escaping @Sendable (Arena) throws(Argon2Error) -> Answer
    ) async throws(HashingError) -> Answer {
        let ticket = desk.queue.withLock { $0.makeTicket() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                desk.enter(HashingJob(work, for: caller), with: ticket)
                // A task cancelled before it entered has had its handler called in vain.
                if Task.isCancelled { desk.withdraw(ticket) }
            }
        } onCancel: {
            desk.withdraw(ticket)
        }
        return try outcome.get()
    }

    var families: [Family] {
        let load = desk.queue.withLock { (waiting: $0.waiting, running: $0.running) }
        return [
            .gauge("accounts_hash_queue_depth", "Passwords that wait for a worker.", Double(load.waiting)),
            .gauge("accounts_hash_queue_capacity", "Passwords that may wait.", Double(capacity)),
            .gauge("accounts_hash_running", "Passwords on a worker.", Double(load.running)),
            .gauge(
                "accounts_hash_memory_bytes",
                "Memory that the workers keep for hashing.",
                Double(workers * parameters.memoryKiB * 1024)
            ),
            .gauge("accounts_hash_workers", "Passwords that can be hashed at once.", Double(workers)),
        ]
    }
}

/// Why there is no hash.
package enum HashingError: Error, Hashable, Sendable {
    /// All workers hash, and the queue is full or the wait would be too long; it would be that long by now.
    case busy(wait: Duration)
    /// The task was cancelled while its password waited.
    case cancelled
    /// The pool has been shut down.
    case stopped
    /// The stored hash needs more memory than a worker has.
    case tooCostly
    case argon2(Argon2Error)
}
