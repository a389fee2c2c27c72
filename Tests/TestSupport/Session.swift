package import Accounts
internal import Synchronization

/// A session of the test's own, beside those of the code under test. What it runs blocks, so it should be quick.
package final class Session: Sendable {
    private let connection: Mutex<Connection>

    package init(to conninfo: String = FreshDatabase.current.conninfo) throws {
        connection = Mutex(try Connection(to: conninfo))
    }

    /// Several statements without values.
    package func run(_ script: String) throws {
        try connection.withLock { try $0.run(script) }
    }

    @discardableResult
    package func query(_ sql: SQL) throws -> Rows {
        try connection.withLock { try $0.query(sql) }
    }

    /// Asks the server again and again until `condition`, a statement that returns one boolean, is true. One that stays
    /// false for half a minute is an error.
    package func wait(until condition: SQL) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try query(condition)[0].decode(Bool.self) == false {
            guard ContinuousClock.now < deadline else { throw NeverTrue(condition: "\(condition)") }
            await Task.yield()
        }
    }

    /// Waits until another session in this database waits for a lock. Not inside a transaction, to which the server
    /// shows one picture of its sessions.
    package func waitUntilSomebodyIsBlocked() async throws {
        try await wait(
            until: """
                SELECT EXISTS (
                    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')
                """
        )
    }
}

package struct NeverTrue: Error, CustomStringConvertible {
    let condition: String

    package var description: String { "this never became true: \(condition)" }
}
