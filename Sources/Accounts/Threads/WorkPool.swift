internal import Dispatch
internal import Synchronization

/// Where callers and workers meet. The workers hold it, not the pool, so a forgotten pool still ends.
final class HashingDesk: Sendable {
    let queue: Mutex<HashingQueue<HashingJob>>
    private let work = DispatchSemaphore(value: 0)
    private let workers: Int
    private let meters: Meters

    init(workers: Int, queue: Int, patience: Duration, meters: Meters) {
        self.workers = workers
        self.meters = meters
        self.queue = Mutex(HashingQueue(workers: workers, queue: queue, patience: patience))
    }

    func enter(_ job: HashingJob, with ticket: HashingQueue<HashingJob>.Ticket) {
        do throws(HashingError) {
            try queue.withLock { queue throws(HashingError) in try queue.enter(job, with: ticket) }
            work.signal()
        } catch {
            if case .busy = error { meters.hashesRefused.add() }
            job.refuse(error)
        }
    }

    func withdraw(_ ticket: HashingQueue<HashingJob>.Ticket) {
        queue.withLock { $0.withdraw(ticket) }?.refuse(.cancelled)
    }

    func close() {
        for job in queue.withLock({ $0.stop() }) {
            job.refuse(.stopped)
        }
        for _ in 0..<workers {
            work.signal()
        }
    }

    /// A worker's whole life.
    func serve(in arena: Arena) {
        while true {
            work.wait()
            switch queue.withLock({ $0.next() }) {
            case .run(let job):
                let start = ContinuousClock.now
                let deliver = job.run(arena)
                let took = ContinuousClock.now - start
                meters.hashes.record(took)
                // Before the delivery, so that a caller who has its answer finds the place free.
                queue.withLock { $0.finish(after: took) }
                deliver()
            case .sleep: continue
            case .leave: return
            }
        }
    }
}

/// One password's work and the caller who waits for it.
struct HashingJob: Sendable {
    /// Does the work, and returns what delivers its outcome.
    let run: @Sendable (Arena) -> @Sendable () -> Void
    let refuse: @Sendable (HashingError) -> Void

    init<Answer: Sendable>(
        _ work: @escaping @Sendable (Arena) throws(Argon2Error) -> Answer,
        for caller: CheckedContinuation<Result<Answer, HashingError>, Never>
    ) {
        run = { arena in
            let outcome: Result<Answer, HashingError>
            do throws(Argon2Error) {
                outcome = .success(try work(arena))
            } catch {
                outcome = .failure(.argon2(error))
            }
            return { caller.resume(returning: outcome) }
        }
        refuse = { caller.resume(returning: .failure($0)) }
    }
}
