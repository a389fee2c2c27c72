internal import Foundation
internal import Synchronization

@testable import Accounts

/// Asks the database once, and repeats what it said.
struct Echo {
    private let queue: LaneQueue
    private let asked: Asked

    /// - Parameter asked: learns what it asked.
    init(_ queue: LaneQueue, asked: Asked = Asked()) {
        self.queue = queue
        self.asked = asked
    }

    /// A write is the same as any other to its row: it has another ciphertext each time.
    private enum Question: Hashable {
        case write(UUID)
        case read([[UInt8]?])
        case other(String)

        init(_ job: Job) {
            let values = job.statements[0].parameters.map(\.bytes)
            self = job.writes.map(Question.write) ?? (values.isEmpty ? .other(job.statements[0].text) : .read(values))
        }
    }

    func run(on conninfo: String) {
        do {
            var pipeline = try Pipeline(Connection(to: conninfo))
            var answers: [Question: [Rows]] = [:]
            while !queue.isStopped {
                guard let group = queue.takeGroup() else {
                    wait()
                    continue
                }
                defer { queue.groupHasEnded(group.number) }
                for job in group.jobs {
                    let question = Question(job)
                    if let answer = answers[question] {
                        job.answer(.success(answer))
                        continue
                    }
                    guard case .committed(let rows) = try pipeline.exchange([job.statements]) else {
                        job.answer(.failure(.unavailable("a statement failed")))
                        continue
                    }
                    // A write that came too late is no answer for those that come next.
                    if !rows[0][0].isEmpty { answers[question] = rows[0] }
                    asked.add(job.statements)
                    job.answer(.success(rows[0]))
                }
            }
        } catch {
            queue.laneIsDown("\(error)")
        }
    }

    private func wait() {
        guard queue.goToSleep() else { return }
        defer { queue.wakeUp() }
        var sources = [queue.wakeup, queue.end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&sources, nfds_t(sources.count), -1)
        if sources[0].revents != 0 { queue.consumeWakeup() }
    }
}

/// What the database was asked, in the order in which it was.
final class Asked: Sendable {
    private let list = Mutex<[SQL]>([])

    var statements: [SQL] { list.withLock { $0 } }

    func add(_ statements: [SQL]) {
        list.withLock { $0 += statements }
    }
}
