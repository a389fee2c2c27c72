internal import Foundation
internal import Logging

@testable import Accounts

/// The designs of the connections between the measured server and PostgreSQL.
enum Connections: String, CaseIterable {
    /// The design of `accounts-api`.
    case lanes
    /// A usual pool: sixteen connections, each of which blocks for one transaction.
    case pool
    /// No database for steps: each statement runs once, and equal statements get its result.
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
    /// A database like that of `accounts-api`, except that `serve` runs on the threads for grouped statements.
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
