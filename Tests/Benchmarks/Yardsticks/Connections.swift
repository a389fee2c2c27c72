internal import Foundation
internal import Logging

@testable import Accounts

/// What the server that is measured has between itself and PostgreSQL.
enum Connections: String, CaseIterable {
    /// What is released.
    case lanes
    /// A usual pool: sixteen connections, each of which blocks for one statement.
    case pool
    /// No database, as far as steps go: each statement is answered as it was the first time.
    case echo

    func database(_ conninfo: String, connections: Int, metrics: Metrics, logger: Logger) -> Database {
        switch self {
        case .lanes: Database(conninfo, connections: connections, metrics: metrics, logger: logger)
        case .pool:
            Database(conninfo, alone: connections - 1, threads: 16, groupLimit: 1) { queue in
                Lane(conninfo: conninfo, kind: "grouped", queue: queue, metrics: metrics, logger: logger)
                    .run()
            }
        case .echo:
            Database(conninfo, alone: connections - 1, threads: 1) { queue in
                Echo(queue).run(on: conninfo)
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
        groupLimit: Int = 256,
        _ serve: @escaping @Sendable (LaneQueue) -> Void
    ) {
        let grouped = LaneQueue(capacity: 4096, lanes: threads, groupLimit: groupLimit)
        let alone = LaneQueue(capacity: 4096, lanes: count, groupLimit: 1)
        let logger = Logger(label: "lanes")
        self.init(
            grouped: grouped,
            alone: alone,
            threads: (0..<threads).map { number in DedicatedThread(named: "grouped-\(number)") { serve(grouped) } }
                + (0..<count).map { number in
                    DedicatedThread(named: "alone-\(number)") {
                        Lane(conninfo: conninfo, queue: alone, logger: logger).run()
                    }
                }
        )
    }
}
