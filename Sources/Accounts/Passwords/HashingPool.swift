/// A fixed number of threads that hash passwords, each with memory of its own, and a bounded queue before them.
///
/// Memory is `workers` times the parameters', taken at the start and kept; the cooperative threads never hash.
package final class HashingPool: Sendable {
    typealias Hash = @Sendable (SharedSecret, Arena) throws(Argon2Error) -> PHCString

    package let parameters: Argon2Parameters
    private let makeHash: Hash
    private let pool: WorkPool<Arena>
    private let workers, capacity: Int

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
        var arenas: [Arena] = []
        for _ in 0..<workers {
            arenas.append(try Arena(kibibytes: parameters.memoryKiB))
        }
        self.parameters = parameters
        makeHash = hash
        (self.workers, capacity) = (workers, queue)
        pool = WorkPool(
            named: "argon2",
            arenas,
            queue: queue,
            patience: patience,
            priority: priority,
            finished: { meters.hashes.record($0) },
            refused: { meters.hashesRefused.add() }
        )
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
    package func shutdown() { pool.shutdown() }

    /// Passwords in the queue.
    package var waiting: Int { pool.load.waiting }
    /// Passwords on a worker.
    package var running: Int { pool.load.running }

    private func run<Answer: Sendable>(
        _ work: @escaping @Sendable (Arena) throws(Argon2Error) -> Answer
    ) async throws(HashingError) -> Answer {
        let result: Result<Answer, Argon2Error>
        do throws(Unserved) {
            result = try await pool.run { arena in
                do throws(Argon2Error) { return .success(try work(arena)) } catch { return .failure(error) }
            }
        } catch {
            throw .unserved(error)
        }
        do throws(Argon2Error) { return try result.get() } catch { throw .argon2(error) }
    }

    var families: [Family] {
        let load = pool.load
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
    case unserved(Unserved)
    /// The stored hash needs more memory than a worker has.
    case tooCostly
    case argon2(Argon2Error)
}
