internal import Foundation
internal import Synchronization

@testable import Accounts

/// Serves a queue of statements: executes each statement once, and returns its result again for equal statements.
struct Echo {
    private let queue: LaneQueue
    private let recorder: StatementRecorder

    /// - Parameter recorder: records the executed statements.
    init(_ queue: LaneQueue, recorder: StatementRecorder = StatementRecorder()) {
        self.queue = queue
        self.recorder = recorder
    }

    /// The part by which statements are compared. All writes to a row are equal, although their ciphertexts differ.
    private enum Key: Hashable {
        case write(UUID)
        case read([[UInt8]?])
        case other(String)

        init(_ job: Job) {
            let values = job.statements[0].parameters.map(\.bytes)
            self = job.writes.map(Key.write) ?? (values.isEmpty ? .other(job.statements[0].text) : .read(values))
        }
    }

    func run(on conninfo: String) {
        do {
            var pipeline = try Pipeline(Connection(to: conninfo), lockTimeout: .seconds(5))
            var results: [Key: [Rows]] = [:]
            while !queue.isStopped {
                guard let group = queue.takeGroup() else {
                    wait()
                    continue
                }
                defer { queue.endGroup(group.number) }
                for job in group.jobs {
                    let key = Key(job)
                    if let result = results[key] {
                        job.answer(.success(result))
                        continue
                    }
                    guard case .committed(let rows) = try pipeline.exchange([job.statements]) else {
                        job.answer(.failure(.unavailable("a statement failed")))
                        continue
                    }
                    // An empty result is not stored, because it may come from a write that was too late.
                    if !rows[0][0].isEmpty { results[key] = rows[0] }
                    recorder.add(job.statements)
                    job.answer(.success(rows[0]))
                }
            }
        } catch {
            queue.markLaneDown("\(error)")
        }
    }

    private func wait() {
        guard queue.tryToIdle() else { return }
        defer { queue.laneWoke() }
        var sources = [queue.wakeupEvent, queue.stopEvent].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&sources, nfds_t(sources.count), -1)
        if sources[0].revents != 0 { queue.consumeWakeup() }
    }
}

/// Records statements in the order of their execution.
final class StatementRecorder: Sendable {
    private let list = Mutex<[SQL]>([])

    var statements: [SQL] { list.withLock { $0 } }

    func add(_ statements: [SQL]) {
        list.withLock { $0 += statements }
    }
}
