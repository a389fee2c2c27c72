internal import Dispatch
internal import Synchronization

/// A fixed number of threads, each with its own resource, and a bounded queue. It is for work that blocks or takes
/// long, and therefore must not run on the cooperative pool.
final class WorkPool<Resource: Sendable>: Sendable {
    private let dispatcher: Dispatcher
    private let threads: Mutex<[DedicatedThread]>

    /// - Parameters:
    ///   - name: the name of the threads, to which a number is added.
    ///   - resources: the resources, one for each thread.
    ///   - queue: the maximum number of jobs that wait while all threads are busy.
    ///   - maximumWait: the maximum estimated wait of a job, computed from the duration of recent jobs.
    ///   - finished: called after each job with its duration.
    ///   - rejected: called for each job that is rejected as `busy`, and when ``rejection(of:)`` returns `busy`.
    init(
        named name: String,
        _ resources: [Resource],
        queue: Int,
        maximumWait: Duration,
        finished: @escaping @Sendable (Duration) -> Void,
        rejected: @escaping @Sendable () -> Void
    ) {
        let dispatcher = Dispatcher(resources.count, queue, maximumWait, finished: finished, rejected: rejected)
        self.dispatcher = dispatcher
        threads = Mutex(
            resources.enumerated().map { number, resource in
                DedicatedThread(named: "\(name)-\(number)") { dispatcher.runWorker(with: resource) }
            }
        )
    }

    /// Every caller that waits keeps a reference to the pool, so the threads are idle here and end within microseconds,
    /// unless a thread still runs work whose caller gave up at its deadline.
    deinit {
        shutdown()
    }

    /// Runs the work on a thread.
    ///
    /// Throws `busy` immediately if the wait would be too long, or if the queue is full and no other network must give
    /// up a place (``WorkQueue/enter(_:with:from:)``). Throws `busy` later if another network with fewer jobs needs the
    /// place in the queue, or if the deadline of the request passes. Work that is running at the deadline continues to
    /// its end, but its answer is dropped. ``shutdown()`` makes waiting and later calls throw `stopped`.
    ///
    /// Cancelling the task removes waiting work from the queue and throws `cancelled` immediately. Work that is running
    /// continues to its end, and its answer is returned.
    ///
    /// - Parameter network: the network that causes the work. Networks are served in turn.
    func run<Answer: Sendable>(
        for network: Network = .unknown,
        _ work: @escaping @Sendable (Resource) -> Answer
    ) async throws(WorkRejection) -> Answer {
        let ticket = dispatcher.queue.withLock { $0.makeTicket() }
        let caller = Caller<Answer>()
        let job = Job(work, for: caller)
        let outcome = await Deadline.limiting {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    caller.wait(with: continuation)
                    dispatcher.enter(job, with: ticket, from: network)
                    // A cancellation or a deadline before `enter` did not find the job in the queue.
                    if Task.isCancelled { dispatcher.withdraw(ticket) }
                    if Deadline.hasPassed { dispatcher.giveUp(job, with: ticket, from: network) }
                }
            } onCancel: {
                dispatcher.withdraw(ticket)
            }
        } orGiveUp: { [dispatcher] in
            dispatcher.giveUp(job, with: ticket, from: network)
        }
        return try outcome.get()
    }

    /// Returns the reason why work of that network would be rejected now; nil if it would be accepted. If the reason is
    /// `busy`, calls `rejected`, because the caller then refuses the work.
    func rejection(of network: Network) -> WorkRejection? { dispatcher.rejection(of: network) }

    /// The estimated wait of work of that network.
    func wait(of network: Network) -> Duration { dispatcher.queue.withLock { $0.wait(of: network) } }

    /// Rejects waiting work with `stopped`, lets running work finish, and blocks until the threads have ended. A second
    /// call returns immediately.
    func shutdown() {
        dispatcher.close()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads {
            thread.join()
        }
    }

    /// The number of jobs in the queue, and the number of jobs that threads run.
    var load: (waiting: Int, running: Int) { dispatcher.queue.withLock { ($0.waiting, $0.running) } }
}

extension WorkPool {
    /// The queue that callers and threads share. The threads refer to it and not to the pool, so that the pool can be
    /// deinitialized.
    private final class Dispatcher: Sendable {
        let queue: Mutex<WorkQueue<Job>>
        private let work = DispatchSemaphore(value: 0)
        private let workers: Int
        private let finished: @Sendable (Duration) -> Void
        private let rejected: @Sendable () -> Void

        init(
            _ workers: Int,
            _ queue: Int,
            _ maximumWait: Duration,
            finished: @escaping @Sendable (Duration) -> Void,
            rejected: @escaping @Sendable () -> Void
        ) {
            self.workers = workers
            self.finished = finished
            self.rejected = rejected
            self.queue = Mutex(WorkQueue(workers: workers, queue: queue, maximumWait: maximumWait))
        }

        func enter(_ job: Job, with ticket: WorkQueue<Job>.Ticket, from network: Network) {
            do throws(WorkRejection) {
                let displaced = try queue.withLock { queue throws(WorkRejection) in
                    try queue.enter(job, with: ticket, from: network).map { ($0.job, queue.wait(of: $0.network)) }
                }
                guard let (displacedJob, wait) = displaced else {
                    work.signal()
                    return
                }
                // The new job takes the place of the displaced job. It needs no wakeup, because one was sent for the
                // displaced job.
                rejected()
                displacedJob.reject(.busy(wait: wait))
            } catch {
                if case .busy = error { rejected() }
                job.reject(error)
            }
        }

        func rejection(of network: Network) -> WorkRejection? {
            let rejection = queue.withLock { $0.rejection(of: network) }
            if case .busy? = rejection { rejected() }
            return rejection
        }

        func withdraw(_ ticket: WorkQueue<Job>.Ticket) {
            queue.withLock { $0.withdraw(ticket) }?.reject(.cancelled)
        }

        /// Rejects the job as `busy` if its caller still waits. A job that is running keeps its worker until its end.
        func giveUp(_ job: Job, with ticket: WorkQueue<Job>.Ticket, from network: Network) {
            let wait = queue.withLock { queue in
                _ = queue.withdraw(ticket)
                return queue.wait(of: network)
            }
            if job.reject(.busy(wait: wait)) { rejected() }
        }

        func close() {
            for job in queue.withLock({ $0.stop() }) {
                job.reject(.stopped)
            }
            for _ in 0..<workers {
                work.signal()
            }
        }

        /// The body of a thread.
        func runWorker(with resource: Resource) {
            while true {
                work.wait()
                switch queue.withLock({ $0.next() }) {
                case .run(let job):
                    let start = ContinuousClock.now
                    let deliver = job.run(resource)
                    let duration = ContinuousClock.now - start
                    finished(duration)
                    // Counts the worker as free before the caller gets its answer.
                    queue.withLock { $0.finish(after: duration) }
                    deliver()
                case .sleep: continue
                case .exit: return
                }
            }
        }
    }

    /// One piece of work, and the caller that waits for it.
    private struct Job: Sendable {
        /// Does the work, and returns a function that delivers its answer to the caller.
        let run: @Sendable (Resource) -> @Sendable () -> Void
        private let rejectCaller: @Sendable (WorkRejection) -> Bool

        init<Answer: Sendable>(_ work: @escaping @Sendable (Resource) -> Answer, for caller: Caller<Answer>) {
            run = { resource in
                let answer = work(resource)
                return { caller.resume(with: .success(answer)) }
            }
            rejectCaller = { caller.resume(with: .failure($0)) }
        }

        /// Returns false if the caller does not wait yet, or already has its answer.
        @discardableResult
        func reject(_ reason: WorkRejection) -> Bool { rejectCaller(reason) }
    }

    /// The task that waits for a job. It gets the first answer, and later ones are dropped.
    private final class Caller<Answer: Sendable>: Sendable {
        typealias Continuation = CheckedContinuation<Result<Answer, WorkRejection>, Never>

        private let continuation = Mutex<Continuation?>(nil)

        func wait(with continuation: Continuation) {
            self.continuation.withLock { $0 = continuation }
        }

        /// Returns false if the task does not wait yet, or already has its answer.
        @discardableResult
        func resume(with outcome: Result<Answer, WorkRejection>) -> Bool {
            guard let continuation = continuation.withLock({ $0.take() }) else { return false }
            continuation.resume(returning: outcome)
            return true
        }
    }
}
