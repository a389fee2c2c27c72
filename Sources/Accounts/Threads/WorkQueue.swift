/// Why a ``WorkPool`` did not do the work.
package enum WorkRejection: Error, Hashable, Sendable {
    /// All workers are busy, and the queue is full or the wait would be too long. `wait` is the estimated wait.
    case busy(wait: Duration)
    /// The task was cancelled while its work waited.
    case cancelled
    /// The pool has been shut down.
    case stopped
}

/// The rules of the queue of a ``WorkPool``: which job is admitted, which runs next, and which is rejected.
///
/// It uses no threads. Each function returns what its caller must do.
struct WorkQueue<Job> {
    /// Identifies a job, also before it is in the queue.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// What a worker must do after it wakes up.
    enum Next {
        case run(Job)
        case sleep
        case exit
    }

    private let workers: Int
    private let capacity: Int
    /// The maximum time that a job may wait for a worker.
    private let maximumWait: Duration
    private var entries: [(ticket: Ticket, job: Job)] = []
    private var tickets = 0
    private var isStopped = false
    /// The number of jobs that workers have taken and not finished.
    private(set) var running = 0
    /// The moving average of the duration of a job; zero until the first job has finished.
    private(set) var averageDuration = Duration.zero

    /// Up to `queue` jobs may wait while all `workers` are busy, each for up to `maximumWait`.
    init(workers: Int, queue: Int, maximumWait: Duration) {
        precondition(
            workers >= 0 && queue >= 0,
            "the numbers of workers and of places in the queue must not be negative"
        )
        precondition(workers > 0 || queue == 0, "a queue needs workers")
        self.workers = workers
        self.maximumWait = maximumWait
        capacity = workers + queue
    }

    /// The estimated maximum wait of a job that enters now, from the duration of recent jobs.
    var wait: Duration {
        waiting + running < workers ? .zero : averageDuration * (waiting + 1) / max(1, workers)
    }

    /// The number of jobs that no worker has taken yet.
    var waiting: Int { entries.count }

    mutating func makeTicket() -> Ticket {
        tickets += 1
        return Ticket(number: tickets)
    }

    /// Adds the job; the caller must wake one worker. Throws `busy` or `stopped`, and then does not keep the job.
    mutating func enter(_ job: Job, with ticket: Ticket) throws(WorkRejection) {
        guard !isStopped else { throw .stopped }
        guard waiting + running < capacity, wait <= maximumWait else { throw .busy(wait: wait) }
        entries.append((ticket, job))
    }

    /// Takes the oldest job, which counts as running until ``finish(after:)``.
    mutating func next() -> Next {
        guard !isStopped else { return .exit }
        guard !entries.isEmpty else { return .sleep }
        running += 1
        return .run(entries.removeFirst().job)
    }

    /// - Parameter duration: the time that the job took.
    mutating func finish(after duration: Duration) {
        running -= 1
        averageDuration = averageDuration == .zero ? duration : (averageDuration * 7 + duration) / 8
    }

    /// Removes and returns the job if it is still waiting; the caller must reject it. A running job cannot be withdrawn.
    mutating func withdraw(_ ticket: Ticket) -> Job? {
        entries.firstIndex { $0.ticket == ticket }.map { entries.remove(at: $0).job }
    }

    /// Closes the queue and returns the waiting jobs; the caller must reject them and wake every worker.
    mutating func stop() -> [Job] {
        isStopped = true
        defer { entries = [] }
        return entries.map(\.job)
    }
}
