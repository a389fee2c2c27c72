/// A fixed number of threads that hash passwords, each with its own memory, and a bounded queue.
///
/// The memory of all workers is allocated when the pool is created, and is kept: `workers` times
/// ``Argon2Parameters/memoryKiB``. Swift's cooperative threads never hash.
package final class HashingPool: Sendable {
    typealias Hash = @Sendable (SharedSecret, Pepper?, Arena) throws(Argon2Error) -> PHCString

    package let parameters: Argon2Parameters
    private let makeHash: Hash
    private let pool: WorkPool<Arena>
    private let workers, capacity: Int

    /// Throws if the system refuses the memory of the workers. A pool with 0 workers and a queue of 0 rejects every
    /// password.
    ///
    /// - Parameters:
    ///   - queue: the maximum number of passwords that wait while all workers are busy.
    ///   - maximumWait: a password is rejected if its wait, estimated from the duration of recent hashes, is longer.
    ///   - priority: with `idle`, passwords get almost no processor time while other threads of the machine need it.
    package convenience init(
        parameters: Argon2Parameters = Argon2Parameters(),
        workers: Int,
        queue: Int,
        maximumWait: Duration = .seconds(3600),
        priority: DedicatedThread.Priority = .normal,
        metrics: Metrics = Metrics()
    ) throws(Argon2Error) {
        try self.init(
            parameters: parameters,
            workers: workers,
            queue: queue,
            maximumWait: maximumWait,
            priority: priority,
            metrics: metrics
        ) { password, pepper, arena throws(Argon2Error) in
            try Argon2.hash(password.secret, with: parameters, pepper: pepper, in: arena)
        }
    }

    init(
        parameters: Argon2Parameters,
        workers: Int,
        queue: Int,
        maximumWait: Duration = .seconds(3600),
        priority: DedicatedThread.Priority = .normal,
        metrics: Metrics = Metrics(),
        hash: @escaping Hash
    ) throws(Argon2Error) {
        precondition(parameters.isWithinBounds, "check the parameters before you create a hashing pool")
        var arenas: [Arena] = []
        for number in 0..<workers {
            let idle = priority == .idle ? IdleThread(named: "argon2-idle-\(number)") : nil
            arenas.append(try Arena(kibibytes: parameters.memoryKiB, on: idle))
        }
        self.parameters = parameters
        makeHash = hash
        (self.workers, capacity) = (workers, queue)
        pool = WorkPool(
            named: "argon2",
            arenas,
            queue: queue,
            maximumWait: maximumWait,
            finished: { metrics.hashes.record($0) },
            rejected: { metrics.hashesRefused.add() }
        )
    }

    /// Hashes a password on a worker. Throws `rejected`, with one of these reasons, if there is no hash for the caller:
    ///
    /// - `busy` immediately if the estimated wait is too long, or if the queue is full and no other network has so many
    ///   passwords in it that one of them must give up its place.
    /// - `busy` later if this password must give up its place to a network with fewer passwords, or at the deadline of
    ///   the request. If a worker is hashing the password then, the worker finishes, and the hash is dropped.
    /// - `cancelled` if the task is cancelled while the password waits. If a worker is hashing the password then, the
    ///   function returns the hash.
    /// - `stopped` after ``shutdown()``.
    ///
    /// - Parameter network: the network that sent the password. Networks are served in turn.
    package func hash(
        _ password: SharedSecret,
        pepper: Pepper? = nil,
        for network: Network = .unknown
    ) async throws(HashingError) -> PHCString {
        try await run(for: network) { [makeHash] arena throws(Argon2Error) in
            try makeHash(password, pepper, arena)
        }
    }

    /// Returns whether `candidate` is the password that was hashed. Waits and throws `rejected` as
    /// ``hash(_:pepper:for:)`` does.
    /// Throws `tooCostly` if the hash needs more memory than a worker of this pool has.
    ///
    /// - Parameter pepper: the pepper of the hash (``KeyRing/pepper(of:)``). With any other pepper, the function throws
    ///   `unknownPepper`.
    package func verify(
        _ candidate: SharedSecret,
        against phc: PHCString,
        pepper: Pepper? = nil,
        for network: Network = .unknown
    ) async throws(HashingError) -> Bool {
        try await check(candidate, against: StoredPassword(phc), pepper: pepper, for: network).isRight
    }

    /// Compares a password with a stored hash. Waits and throws as ``verify(_:against:pepper:for:)`` does.
    func check(
        _ candidate: SharedSecret,
        against stored: StoredPassword,
        pepper: Pepper? = nil,
        for network: Network = .unknown
    ) async throws(HashingError) -> PasswordCheck {
        let argon2 = stored.argon2
        guard argon2.keyID == pepper?.id else { throw .unknownPepper }
        guard argon2.parameters.memoryKiB <= parameters.memoryKiB else { throw .tooCostly }
        return try await run(for: network) { arena throws(Argon2Error) in
            let began = ContinuousClock.now
            let isRight: Bool
            if let method = stored.method {
                var output: Secret?
                arena.run { output = method.output(of: candidate.secret) }
                isRight =
                    switch consume output {
                    case .some(let output): try Argon2.verify(output, against: argon2, pepper: pepper, in: arena)
                    case .none: false
                    }
            } else {
                isRight = try Argon2.verify(candidate.secret, against: argon2, pepper: pepper, in: arena)
            }
            return PasswordCheck(isRight: isRight, began: began, time: .now - began)
        }
    }

    /// Hashes an imported hash with Argon2id, so that the imported hash itself is not stored. Waits and throws like
    /// ``hash(_:pepper:for:)``.
    func wrap(_ imported: ImportedHash, pepper: Pepper?) async throws(HashingError) -> StoredPassword {
        let parameters = parameters
        let argon2 = try await run(for: .unknown) { arena throws(Argon2Error) in
            let output = Secret(capacity: imported.output.count) { buffer in
                buffer.copyBytes(from: imported.output)
                return buffer.count
            }
            return try Argon2.hash(output, with: parameters, pepper: pepper, in: arena)
        }
        return StoredPassword(argon2, over: imported.method)
    }

    /// The error with which a password from this network would be rejected immediately; nil if it would be accepted.
    /// Counts the error `busy` in the metrics, because the caller then refuses the password.
    func rejection(of network: Network) -> HashingError? { pool.rejection(of: network).map(HashingError.rejected) }

    /// The estimated wait of a password from this network.
    func wait(of network: Network) -> Duration { pool.wait(of: network) }

    /// Rejects waiting passwords with `stopped`, finishes running hashes, and blocks until the threads have ended.
    package func shutdown() { pool.shutdown() }

    /// The number of passwords in the queue.
    package var waiting: Int { pool.load.waiting }
    /// The number of passwords on a worker.
    package var running: Int { pool.load.running }

    private func run<Answer: Sendable>(
        for network: Network,
        _ work: @escaping @Sendable (Arena) throws(Argon2Error) -> Answer
    ) async throws(HashingError) -> Answer {
        let result: Result<Answer, Argon2Error>
        let submitted = ContinuousClock.now
        do throws(WorkRejection) {
            let (answer, began, ended) = try await pool.run(for: network) { arena in
                let began = ContinuousClock.now
                let answer: Result<Answer, Argon2Error>
                do throws(Argon2Error) { answer = .success(try work(arena)) } catch { answer = .failure(error) }
                return (answer, began, ContinuousClock.now)
            }
            RequestWork.current?.addHash(wait: began - submitted, time: ended - began)
            result = answer
        } catch {
            throw .rejected(error)
        }
        do throws(Argon2Error) { return try result.get() } catch { throw .argon2(error) }
    }

    var families: [Family] {
        let load = pool.load
        return [
            .gauge("accounts_hash_queue_depth", "Passwords that wait for a worker.", Double(load.waiting)),
            .gauge("accounts_hash_queue_capacity", "Maximum number of passwords that wait.", Double(capacity)),
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

/// The result of the comparison of a password with a hash.
struct PasswordCheck: Sendable {
    let isRight: Bool
    /// The time when a worker began the comparison.
    let began: ContinuousClock.Instant
    /// The duration of the comparison, without the wait for a worker.
    let time: Duration
}

/// Why a password was not hashed or verified.
package enum HashingError: Error, Hashable, Sendable {
    case rejected(WorkRejection)
    /// The stored hash needs more memory than a worker has.
    case tooCostly
    /// The key ring lacks the key of the hash's pepper, so no password can be compared with the hash.
    case unknownPepper
    case argon2(Argon2Error)
}

extension HashingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .rejected(.busy): "too many passwords wait, or the machine is too busy"
        case .rejected(.cancelled): "the request was cancelled"
        case .rejected(.stopped): "the hashing pool is stopped"
        case .tooCostly: "the stored hash needs more memory than ARGON2_MEMORY_KIB"
        case .unknownPepper: "ACCOUNTS_KEYS lacks the key of the pepper of the stored hash"
        case .argon2(let error): "\(error)"
        }
    }
}
