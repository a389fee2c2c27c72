/// The reason why a ``WorkPool`` has returned no answer.
package enum WorkRejection: Error, Hashable, Sendable {
    /// The queue is full, the wait would be too long, another network needs the place in the queue, or the deadline of
    /// the request has passed. `wait` is the estimated wait of a job that the same network adds now.
    ///
    /// An ``ImageProcess`` also throws this, with a fixed `wait`, if it got too little processor time or memory.
    case busy(wait: Duration)
    /// The task was cancelled while its work waited.
    case cancelled
    /// The pool has been shut down.
    case stopped
}

/// The rules of the queue of a ``WorkPool``: which job is admitted, which runs next, and which is rejected.
///
/// It uses no threads. Its caller wakes the workers, and rejects the jobs that its functions return for that purpose.
struct WorkQueue<Job> {
    /// Identifies a job, even before the job is in the queue.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        let ticket: Ticket
        let job: Job
    }

    /// What a worker must do after it wakes up.
    enum Next {
        case run(Job)
        case sleep
        case exit
    }

    private let workers: Int
    private let capacity: Int
    /// The maximum estimated wait of a job that is accepted.
    private let maximumWait: Duration
    /// The waiting jobs of each network, the oldest first. The networks are in the order in which workers serve them
    /// next, and each has at least one job. All networks of one ``Network/site`` count as one: they may belong to one
    /// subscriber, and the workers would otherwise serve this subscriber up to 65,536 times as often as others.
    private var shares: [(site: Network, entries: [Entry])] = []
    private var tickets = 0
    private var isStopped = false
    /// The number of jobs that workers have taken and not finished.
    private(set) var running = 0
    /// The moving average of the duration of a job; zero until the first job has finished.
    private(set) var averageDuration = Duration.zero

    /// Up to `queue` jobs may wait while all `workers` are busy. A job is accepted only if its estimated wait is at
    /// most `maximumWait`.
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

    /// Returns the estimated maximum wait of a job that enters now, from the duration of recent jobs. Workers take one
    /// job of each network in turn. So if n jobs of this network wait already, at most n + 1 jobs of each other network
    /// run before the new job.
    func wait(of network: Network) -> Duration {
        if waiting + running < workers { return .zero }
        let own = share(of: network)
        let ahead = shares.reduce(0) { $0 + ($1.site == network.site ? own : min($1.entries.count, own + 1)) }
        return averageDuration * (ahead + 1) / max(1, workers)
    }

    /// The number of jobs that no worker has taken yet.
    var waiting: Int { shares.reduce(0) { $0 + $1.entries.count } }

    private func share(of network: Network) -> Int {
        shares.first { $0.site == network.site }?.entries.count ?? 0
    }

    mutating func makeTicket() -> Ticket {
        tickets += 1
        return Ticket(number: tickets)
    }

    /// Returns the reason why a job of that network would be rejected now; nil if it would be accepted.
    func rejection(of network: Network) -> WorkRejection? {
        if isStopped { return .stopped }
        let wait = wait(of: network)
        let hasPlace = !isFull || greediest.map { shares[$0].entries.count > share(of: network) + 1 } ?? false
        return hasPlace && wait <= maximumWait ? nil : .busy(wait: wait)
    }

    private var isFull: Bool { waiting + running >= capacity }

    /// The index of the share with the most jobs.
    private var greediest: Int? {
        shares.indices.max { shares[$0].entries.count < shares[$1].entries.count }
    }

    /// Adds the job. If this throws `busy` or `stopped`, the queue does not keep the job.
    ///
    /// If the queue is full, the job takes the place of the newest job of the network with the most jobs, but only if
    /// that network then still has at least as many jobs as the network of the new job.
    ///
    /// - Returns: the job that has lost its place, and its network; the caller must reject that job. Nil if there was a
    ///   free place; then the caller must wake one worker.
    @discardableResult
    mutating func enter(
        _ job: Job,
        with ticket: Ticket,
        from network: Network = .unknown
    ) throws(WorkRejection) -> (job: Job, network: Network)? {
        if let rejection = rejection(of: network) { throw rejection }
        var displaced: (job: Job, network: Network)?
        if isFull, let greediest {
            displaced = (shares[greediest].entries.removeLast().job, shares[greediest].site)
        }
        if let index = shares.firstIndex(where: { $0.site == network.site }) {
            shares[index].entries.append(Entry(ticket: ticket, job: job))
        } else {
            shares.append((network.site, [Entry(ticket: ticket, job: job)]))
        }
        return displaced
    }

    /// Takes the oldest job of the network whose turn it is; the job counts as running until ``finish(after:)``.
    mutating func next() -> Next {
        guard !isStopped else { return .exit }
        guard !shares.isEmpty else { return .sleep }
        running += 1
        var share = shares.removeFirst()
        let entry = share.entries.removeFirst()
        if !share.entries.isEmpty { shares.append(share) }
        return .run(entry.job)
    }

    /// Ends a job, and adds its duration to the average.
    ///
    /// - Parameter duration: the time that the job took. A longer time than ten times the average counts as ten times
    ///   the average, because the machine may have been suspended meanwhile. So one job can raise the average to at
    ///   most 2.125 times its value.
    mutating func finish(after duration: Duration) {
        running -= 1
        averageDuration =
            averageDuration == .zero ? duration : (averageDuration * 7 + min(duration, averageDuration * 10)) / 8
    }

    /// Removes and returns the job if it waits; the caller must reject it. Returns nil for a job that does not wait.
    mutating func withdraw(_ ticket: Ticket) -> Job? {
        for index in shares.indices {
            guard let place = shares[index].entries.firstIndex(where: { $0.ticket == ticket }) else { continue }
            let entry = shares[index].entries.remove(at: place)
            if shares[index].entries.isEmpty { shares.remove(at: index) }
            return entry.job
        }
        return nil
    }

    /// Closes the queue and returns the waiting jobs; the caller must reject them and wake every worker.
    mutating func stop() -> [Job] {
        isStopped = true
        defer { shares = [] }
        return shares.flatMap(\.entries).map(\.job)
    }
}
