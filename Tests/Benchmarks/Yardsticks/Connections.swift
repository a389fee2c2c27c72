internal import Foundation
internal import Logging
internal import Synchronization

@testable import Accounts

/// What the server that is measured has between itself and PostgreSQL.
enum Connections: String, CaseIterable {
    /// What is released.
    case lanes
    /// A usual pool: sixteen connections, each of which blocks for one statement.
    case pool
    /// No database, as far as steps go: each statement is answered as it was the first time.
    case memory

    func database(_ conninfo: String, connections: Int, meters: Meters, logger: Logger) -> Database {
        switch self {
        case .lanes: Database(conninfo, connections: connections, meters: meters, logger: logger)
        case .pool:
            Database(conninfo, alone: connections - 1, threads: 16) { queue in
                Lane(conninfo: conninfo, kind: "grouped", queue: queue, groupLimit: 1, meters: meters, logger: logger)
                    .run()
            }
        case .memory:
            Database(conninfo, alone: connections - 1, threads: 1) { queue in
                Memory(queue).run(on: conninfo)
            }
        }
    }
}

extension Database {
    /// Like the one that is released, but that these threads serve what goes in groups.
    convenience init(
        _ conninfo: String,
        alone count: Int = 1,
        threads: Int,
        _ serve: @escaping @Sendable (LaneQueue) -> Void
    ) {
        let grouped = LaneQueue(capacity: 4096, lanes: threads)
        let alone = LaneQueue(capacity: 4096, lanes: count)
        let logger = Logger(label: "lanes")
        self.init(
            grouped: grouped,
            alone: alone,
            threads: (0..<threads).map { number in DedicatedThread(named: "grouped-\(number)") { serve(grouped) } }
                + (0..<count).map { number in
                    DedicatedThread(named: "alone-\(number)") {
                        Lane(conninfo: conninfo, queue: alone, groupLimit: 1, logger: logger).run()
                    }
                }
        )
    }
}

/// Asks the database once, and repeats what it said.
final class Memory: Sendable {
    private let queue: LaneQueue
    private let statements = Mutex<[SQL]>([])

    init(_ queue: LaneQueue) {
        self.queue = queue
    }

    /// What was asked, in the order in which it came.
    var heard: [SQL] { statements.withLock { $0 } }

    /// A write is the same as any other to its row: it has another ciphertext each time.
    private struct Question: Hashable {
        let text: String
        let row: UUID?
        let values: [[UInt8]?]

        init(_ job: Job) {
            text = job.statements[0].text
            row = job.writes
            values = row == nil ? job.statements[0].parameters.map(\.bytes) : []
        }
    }

    func run(on conninfo: String) {
        do {
            var pipeline = try Pipeline(Connection(to: conninfo))
            var answers: [Question: [Rows]] = [:]
            while !queue.isStopped {
                let group = queue.takeGroup(of: 256)
                if group.isEmpty { wait() }
                for job in group {
                    let question = Question(job)
                    if answers[question] == nil {
                        guard case .committed(let rows) = try pipeline.exchange([job.statements]) else {
                            return job.answer(.failure(.unavailable("a statement failed")))
                        }
                        answers[question] = rows[0]
                        statements.withLock { $0 += job.statements }
                    }
                    job.answer(.success(answers[question]!))
                }
            }
        } catch {
            queue.laneIsDown("\(error)")
        }
    }

    private func wait() {
        guard queue.goToSleep() else { return }
        defer { queue.wakeUp() }
        var sources = [queue.bell, queue.end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&sources, nfds_t(sources.count), -1)
        if sources[0].revents != 0 { queue.answerBell() }
    }
}
