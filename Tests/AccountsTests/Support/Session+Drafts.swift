import TestSupport

@testable import Accounts

extension Session {
    /// How many rows `SELECT … FROM` finds with the rest of the statement.
    func number(of rows: String) throws -> Int {
        try query(SQL(stringLiteral: "SELECT count(*) FROM \(rows)")).only.decode(Int.self)
    }

    func isTrue(_ condition: SQL) throws -> Bool {
        try query("SELECT \(condition)").only.decode(Bool.self)
    }

    /// Everything that all tables hold, a row a line, binary columns in hexadecimal.
    func dump(except left: String? = nil) throws -> String {
        let tables = try query(
            """
            SELECT relname::text FROM pg_class
             WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname
            """
        )
        var lines: [String] = []
        for table in tables {
            let name = try table.decode(String.self)
            if name == left { continue }
            let rows = try query(SQL(stringLiteral: "SELECT row::text FROM \"\(name)\" AS row ORDER BY 1"))
            lines += try rows.map { "\(name) \(try $0.decode(String.self))" }
        }
        return lines.joined(separator: "\n")
    }

    /// From now on the table takes no row, or lets none become that `change`.
    func refuse(_ change: String, on table: String) throws {
        try run(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
            CREATE TRIGGER refuse BEFORE \(change) ON \(table) FOR EACH ROW EXECUTE FUNCTION refuse()
            """
        )
    }

    /// Ends what ``refuse(_:on:)`` began.
    func allow() throws {
        try run("DROP FUNCTION refuse CASCADE")
    }

    /// Locks all drafts, so that whoever writes to one waits until ``letGo()``. Meanwhile another session has to look who
    /// waits: the server shows a transaction one picture of its sessions.
    func holdDrafts() throws {
        try run("BEGIN; SELECT FROM drafts FOR UPDATE")
    }

    func letGo() throws {
        try run("COMMIT")
    }

    /// Ends the sessions that wait for a lock in this database, as a network would, and returns when they are gone.
    func cutBlockedSessions() async throws {
        let blocked = try query(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        for row in blocked {
            let pid = try row.decode(Int.self)
            try query("SELECT pg_terminate_backend(\(pid)::int)")
            try await wait(for: "SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = \(pid))")
        }
    }

    /// How many deadlocks this database has seen. All others have to have left, for only then have they reported.
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

    /// As ``letPass(_:)``, and as if the drafts had begun that much earlier: their ids tell when.
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
