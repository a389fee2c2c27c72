import TestSupport

@testable import Accounts

extension DatabaseSession {
    func isTrue(_ condition: SQL) throws -> Bool {
        try query("SELECT \(condition)").only.decode(Bool.self)
    }

    /// The rows of all tables except `excluded`, one in each line, with binary columns in hexadecimal.
    func dump(except excluded: String? = nil) throws -> String {
        let tables = try query(
            """
            SELECT relname::text FROM pg_class
             WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname
            """
        )
        var lines: [String] = []
        for table in tables {
            let name = try table.decode(String.self)
            if name == excluded { continue }
            let rows = try query(SQL(stringLiteral: "SELECT row::text FROM \"\(name)\" AS row ORDER BY 1"))
            lines += try rows.map { "\(name) \(try $0.decode(String.self))" }
        }
        return lines.joined(separator: "\n")
    }

    /// Makes every change of this kind to the table fail. `change` is an event of triggers, such as `INSERT OR UPDATE`.
    func refuse(_ change: String, on table: String) throws {
        try run(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
            CREATE TRIGGER refuse BEFORE \(change) ON \(table) FOR EACH ROW EXECUTE FUNCTION refuse()
            """
        )
    }

    /// Reverts ``refuse(_:on:)``.
    func allow() throws {
        try run("DROP FUNCTION refuse CASCADE")
    }

    /// Locks all drafts, so that every write to a draft waits until ``releaseDrafts()``. Use another session to find
    /// out which sessions wait: within a transaction, `pg_stat_activity` does not change.
    func lockDrafts() throws {
        try run("BEGIN; SELECT FROM drafts FOR UPDATE")
    }

    func releaseDrafts() throws {
        try run("COMMIT")
    }

    /// Terminates the sessions that wait for a lock in this database, as a lost connection would, and returns when they
    /// are gone.
    func terminateBlockedSessions() async throws {
        let blocked = try query(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        for row in blocked {
            let pid = try row.decode(Int.self)
            try query("SELECT pg_terminate_backend(\(pid)::int)")
            try await wait(for: "SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = \(pid))")
        }
    }

    /// The number of deadlocks in this database. Waits until all other sessions have ended, because sessions report
    /// their statistics when they end.
    func deadlocks() async throws -> Int {
        try await wait(
            for: """
                SELECT FROM pg_stat_activity
                 WHERE datname = current_database() AND backend_type = 'client backend'
                HAVING count(*) = 1
                """
        )
        return try query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").only.decode(
            Int.self
        )
    }

    /// Like ``letPass(_:)``, but also changes the ids of the drafts, which contain the time when they were started.
    func age(_ time: String) throws {
        try letPass(time)
        func older(_ id: String) -> String {
            """
            (lpad(to_hex(('x' || lpad(left(replace(\(id)::text, '-', ''), 12), 16, '0'))::bit(64)::bigint
                         - (extract(epoch FROM interval '\(time)') * 1000)::bigint), 12, '0')
             || substr(replace(\(id)::text, '-', ''), 13))::uuid
            """
        }
        try run("UPDATE drafts SET id = \(older("id"))")
        for table in ["proofs", "leases", "enrolments", "handoffs", "draft_photos"] {
            try run("UPDATE \(table) SET draft = \(older("draft"))")
        }
    }
}
