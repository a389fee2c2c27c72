package import Accounts
internal import Synchronization

/// A database session of the test, separate from those of the code under test. Its functions block, so use only fast
/// statements.
package final class DatabaseSession: Sendable {
    private let connection: Mutex<Connection>

    package init(to conninfo: String = FreshDatabase.current.conninfo) throws {
        connection = Mutex(try Connection(to: conninfo))
    }

    /// Runs several statements without parameters.
    package func run(_ script: String) throws {
        try connection.withLock { try $0.run(script) }
    }

    @discardableResult
    package func query(_ sql: SQL) throws -> Rows {
        try connection.withLock { try $0.query(sql) }
    }

    /// The number of rows. `rows` is the text after `FROM`, such as `drafts WHERE account IS NULL`.
    package func number(of rows: String) throws -> Int {
        try query(SQL(stringLiteral: "SELECT count(*) FROM \(rows)")).only.decode(Int.self)
    }

    /// Repeats the statement until it returns a row, and returns that row. Throws `WaitTimeout` if the time is over.
    @discardableResult
    package func wait(for statement: SQL, atMost time: Duration = .seconds(300)) async throws -> Row {
        let deadline = ContinuousClock.now + time
        while true {
            if let row = try query(statement).first { return row }
            guard ContinuousClock.now < deadline else { throw WaitTimeout(statement: "\(statement)") }
            await Task.yield()
        }
    }

    /// Waits until another session in this database waits for a lock, and returns the process id of its backend. Do not
    /// use it in a transaction, which always sees the same snapshot of `pg_stat_activity`.
    ///
    /// One statement both finds the session and returns its backend. A second statement might not find it: a blocked
    /// session that wakes up to check for deadlocks looks busy for a moment.
    @discardableResult
    package func waitUntilSomebodyIsBlocked() async throws -> Int {
        try await wait(
            for: """
                SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1
                """
        ).decode(Int.self)
    }

    /// Waits until the list of events contains all stored events. The list ends before the first open transaction of
    /// the server, which may belong to the database of another test.
    package func waitUntilEventsAreListed() async throws {
        _ = try await wait(
            for: "SELECT WHERE pg_snapshot_xmin(pg_current_snapshot()) > (SELECT max(xid) FROM events)",
            atMost: .seconds(300)
        )
    }

    /// Moves the stored times of drafts, mail, sign-ins, sessions and rate limits into the past, as if `time` had
    /// passed. `time` is a PostgreSQL interval.
    package func letPass(_ time: String) throws {
        func ages(_ table: String, _ columns: String...) -> String {
            let ages = columns.map { "\($0) = \($0) - interval '\(time)'" }
            return "UPDATE \(table) SET \(ages.joined(separator: ", "))"
        }
        try run(
            [
                ages("drafts", "created_at", "updated_at", "ends_at"), ages("endings", "until"),
                ages("leases", "until"), ages("handoffs", "expires_at"), ages("tickets", "expires_at"),
                ages("proofs", "sent_at", "expires_at", "proved_at"),
                ages("outbox", "created_at", "due_at", "turn", "sending_until", "useless_after", "finished_at"),
                ages("sessions", "auth_time", "created_at", "last_seen_at", "ends_at"),
                ages("sign_ins", "expires_at"), ages("devices", "last_used_at"), ages("sign_in_failures", "until"),
                ages("authorizations", "code_expires_at"), ages("pushed_requests", "expires_at"),
                "UPDATE enrolments SET recent = ARRAY(SELECT moment - interval '\(time)' FROM unnest(recent) AS moment)",
                """
                UPDATE limits SET until = until - interval '\(time)',
                                  hits = ARRAY(SELECT hit - interval '\(time)' FROM unnest(hits) AS hit ORDER BY hit)
                """,
            ].joined(separator: ";")
        )
    }
}

package struct WaitTimeout: Error, CustomStringConvertible {
    let statement: String

    package var description: String { "no row in time: \(statement)" }
}
