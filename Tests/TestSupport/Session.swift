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

    /// Asks the server again and again until the statement returns a row, which it returns. Half a minute without one is
    /// an error.
    @discardableResult
    package func wait(for statement: SQL) async throws -> Row {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            if let row = try query(statement).first { return row }
            guard ContinuousClock.now < deadline else { throw NeverCame(statement: "\(statement)") }
            await Task.yield()
        }
    }

    /// Waits until another session in this database waits for a lock, and returns its backend. Not inside a
    /// transaction, to which the server shows one picture of its sessions.
    ///
    /// The backend comes with the answer that one waits: asked a moment later, a session that wakes to search for a
    /// deadlock would look busy.
    @discardableResult
    package func waitUntilSomebodyIsBlocked() async throws -> Int {
        try await wait(
            for: """
                SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1
                """
        ).decode(Int.self)
    }

    /// Ages everything that waits for a time, as if that much of it had passed; `time` is an interval of PostgreSQL's.
    package func letPass(_ time: String) throws {
        func ages(_ table: String, _ columns: String...) -> String {
            let ages = columns.map { "\($0) = \($0) - interval '\(time)'" }
            return "UPDATE \(table) SET \(ages.joined(separator: ", "))"
        }
        try run(
            [
                ages("drafts", "created_at", "updated_at", "ends_at"), ages("endings", "until"),
                ages("leases", "until"), ages("handoffs", "expires_at"),
                ages("proofs", "sent_at", "expires_at", "proved_at"),
                ages("outbox", "created_at", "due_at", "useless_after", "finished_at"),
                "UPDATE enrolments SET recent = ARRAY(SELECT moment - interval '\(time)' FROM unnest(recent) AS moment)",
                """
                UPDATE limits SET until = until - interval '\(time)',
                                  hits = ARRAY(SELECT hit - interval '\(time)' FROM unnest(hits) AS hit ORDER BY hit)
                """,
            ].joined(separator: ";")
        )
    }
}

package struct NeverCame: Error, CustomStringConvertible {
    let statement: String

    package var description: String { "this never returned a row: \(statement)" }
}
