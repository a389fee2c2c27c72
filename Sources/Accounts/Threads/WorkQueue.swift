/// Why work was not done.
package enum Unserved: Error, Hashable, Sendable {
    /// All workers are at work, and the queue is full or the wait would be too long; it would be that long by now.
    case busy(wait: Duration)
    /// The task was cancelled while its work waited.
    case cancelled
    /// The pool has been shut down.
    case stopped
}

/// The rules of the queue before the workers of a ``WorkPool``: who may enter, who is next, who leaves unserved.
///
/// Knows no threads and no work. Each function says what its caller has to do.
struct WorkQueue<Job> {
    /// Names an entry before and after it enters.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// What a worker that woke up does.
    enum Next {
        case run(Job)
        case sleep
        case leave
    }

    private let workers: Int
    private let capacity: Int
    /// The longest that somebody may wait for a worker.
    private let patience: Duration
    private var entries: [(ticket: Ticket, job: Job)] = []
    private var tickets = 0
    private var isStopped = false
    /// Jobs that a worker has taken and not finished.
    private(set) var running = 0
    /// What a job took lately; zero until one was finished.
    private(set) var time = Duration.zero

    /// `queue` jobs may wait while all `workers` are busy, and none for longer than `patience`.
    init(workers: Int, queue: Int, patience: Duration) {
        precondition(workers >= 0 && queue >= 0, "there is no negative number of workers, or of places in a queue")
        precondition(workers > 0 || queue == 0, "without workers nobody should wait")
        self.workers = workers
        self.patience = patience
        capacity = workers + queue
    }

    /// The estimated maximum wait of a job that enters now, from the duration of recent jobs.
    var wait: Duration {
        waiting + running < workers ? .zero : time * (waiting + 1) / max(1, workers)
    }

    /// Jobs that no worker has taken yet.
    var waiting: Int { entries.count }

    mutating func makeTicket() -> Ticket {
        tickets += 1
        return Ticket(number: tickets)
    }

    /// Enters the job; the caller wakes one worker. Throws `busy` or `stopped`, and then holds nothing.
    mutating func enter(_ job: Job, with ticket: Ticket) throws(Unserved) {
        guard !isStopped else { throw .stopped }
        guard waiting + running < capacity, wait <= patience else { throw .busy(wait: wait) }
        entries.append((ticket, job))
    }

    /// The oldest job, which then counts as running until ``finish(after:)``.
    mutating func next() -> Next {
        guard !isStopped else { return .leave }
        guard !entries.isEmpty else { return .sleep }
        running += 1
        return .run(entries.removeFirst().job)
    }

    mutating func finish(after took: Duration) {
        running -= 1
        time = time == .zero ? took : (time * 7 + took) / 8
    }

    /// The job, if it still waited; the caller tells its owner. A running job is out of reach.
    mutating func withdraw(_ ticket: Ticket) -> Job? {
        entries.firstIndex { $0.ticket == ticket }.map { entries.remove(at: $0).job }
    }

    /// Closes the queue; the caller refuses the jobs it returns and wakes every worker.
    mutating func stop() -> [Job] {
        isStopped = true
        defer { entries = [] }
        return entries.map(\.job)
    }
}
