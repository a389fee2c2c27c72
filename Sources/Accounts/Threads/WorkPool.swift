internal import Dispatch
internal import Synchronization

/// A fixed number of threads, each with a tool of its own, and a bounded queue before them: for work that blocks, or takes
/// long, and must not hold up the cooperative pool.
final class WorkPool<Tool: Sendable>: Sendable {
    private let desk: Desk
    private let threads: Mutex<[DedicatedThread]>

    /// - Parameters:
    ///   - name: of the threads, to which a number is added.
    ///   - queue: how much work may wait while all threads are busy.
    ///   - patience: how long it may wait, as far as work takes what it took lately.
    ///   - finished: hears how long each piece of work took.
    ///   - refused: hears of each that was `busy`.
    init(
        named name: String,
        _ tools: [Tool],
        queue: Int,
        patience: Duration,
        priority: DedicatedThread.Priority,
        finished: @escaping @Sendable (Duration) -> Void,
        refused: @escaping @Sendable () -> Void
    ) {
        let desk = Desk(tools.count, queue, patience, finished: finished, refused: refused)
        self.desk = desk
        threads = Mutex(
            tools.enumerated().map { number, tool in
                DedicatedThread(named: "\(name)-\(number)", priority: priority) { desk.serve(with: tool) }
            }
        )
    }

    /// Whoever waits for work holds the pool, so by now its threads are idle and gone within microseconds.
    deinit {
        shutdown()
    }

    /// Throws `busy` at once if there is no room to wait.
    ///
    /// Cancelling the task takes waiting work out of the queue and throws `cancelled` at once; what is under way keeps its
    /// thread to the end, and its answer is returned.
    func run<Answer: Sendable>(_ work: @escaping @Sendable (Tool) -> Answer) async throws(Unserved) -> Answer {
        let ticket = desk.queue.withLock { $0.makeTicket() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                desk.enter(Job(work, for: caller), with: ticket)
                // A task cancelled before it entered has had its handler called in vain.
                if Task.isCancelled { desk.withdraw(ticket) }
            }
        } onCancel: {
            desk.withdraw(ticket)
        }
        return try outcome.get()
    }

    /// Refuses those who wait with `stopped`, lets running work finish, and blocks until the threads are gone.
    /// A second call has nothing to wait for and returns at once.
    func shutdown() {
        desk.close()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads {
            thread.join()
        }
    }

    /// Pieces of work in the queue, and on a thread.
    var load: (waiting: Int, running: Int) { desk.queue.withLock { ($0.waiting, $0.running) } }
}

extension WorkPool {
    /// Where callers and threads meet. The threads hold it, not the pool, so a forgotten pool still ends.
    private final class Desk: Sendable {
        let queue: Mutex<WorkQueue<Job>>
        private let work = DispatchSemaphore(value: 0)
        private let workers: Int
        private let finished: @Sendable (Duration) -> Void
        private let refused: @Sendable () -> Void

        init(
            _ workers: Int,
            _ queue: Int,
            _ patience: Duration,
            finished: @escaping @Sendable (Duration) -> Void,
            refused: @escaping @Sendable () -> Void
        ) {
            self.workers = workers
            self.finished = finished
            self.refused = refused
            self.queue = Mutex(WorkQueue(workers: workers, queue: queue, patience: patience))
        }

        func enter(_ job: Job, with ticket: WorkQueue<Job>.Ticket) {
            do throws(Unserved) {
                try queue.withLock { queue throws(Unserved) in try queue.enter(job, with: ticket) }
                work.signal()
            } catch {
                if case .busy = error { refused() }
                job.refuse(error)
            }
        }

        func withdraw(_ ticket: WorkQueue<Job>.Ticket) {
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

        /// A thread's whole life.
        func serve(with tool: Tool) {
            while true {
                work.wait()
                switch queue.withLock({ $0.next() }) {
                case .run(let job):
                    let start = ContinuousClock.now
                    let deliver = job.run(tool)
                    let took = ContinuousClock.now - start
                    finished(took)
                    // Before the delivery, so that a caller who has its answer finds the place free.
                    queue.withLock { $0.finish(after: took) }
                    deliver()
                case .sleep: continue
                case .leave: return
                }
            }
        }
    }

    /// One piece of work and the caller who waits for it.
    private struct Job: Sendable {
        /// Does the work, and returns what delivers its outcome.
        let run: @Sendable (Tool) -> @Sendable () -> Void
        let refuse: @Sendable (Unserved) -> Void

        init<Answer: Sendable>(
            _ work: @escaping @Sendable (Tool) -> Answer,
            for caller: CheckedContinuation<Result<Answer, Unserved>, Never>
        ) {
            run = { tool in
                let answer = work(tool)
                return { caller.resume(returning: .success(answer)) }
            }
            refuse = { caller.resume(returning: .failure($0)) }
        }
    }
}
