import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("The database client", .emptyDatabase, .timeLimit(.minutes(30)))
struct DatabaseTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
        try session.run("CREATE TABLE notes (id int8 CONSTRAINT notes_key PRIMARY KEY, text text)")
    }

    @Test(arguments: [
        ([], []), (["log_parameter_max_length=0", "log_statement=all"], []),
        (["log_statement=mod"], ["log_parameter_max_length"]),
        (["log_min_duration_statement=5"], ["log_parameter_max_length"]),
        (["log_parameter_max_length_on_error=100"], ["log_parameter_max_length_on_error"]),
        (["shared_preload_libraries=auto_explain"], []), (["pgaudit.log=write", "pgaudit.log_parameter=off"], []),
        (
            ["auto_explain.log_min_duration=5", "auto_explain.log_parameter_max_length=-1"],
            ["auto_explain.log_parameter_max_length"]
        ),
        (["auto_explain.log_min_duration=5", "auto_explain.log_parameter_max_length=0"], []),
        (["pgaudit.log=write", "pgaudit.log_parameter=on"], ["pgaudit.log_parameter"]),
    ])
    func `server settings that log values are reported`(settings: [String], names: [String]) async throws {
        try await Cluster.withRunning(settings: settings) { cluster in
            let found = try await withDatabase(cluster.conninfo) { try await $0.settingsThatLogValues() }
            #expect(found == names)
        }
    }

    @Test func `a transaction returns the rows of each statement`() async throws {
        try await withDatabase { database in
            let rows = try await database.transaction(
                "INSERT INTO notes (id) VALUES (1), (2)",
                "SELECT id FROM notes ORDER BY id",
                "DELETE FROM notes WHERE id = \(7) RETURNING id"
            )
            #expect(rows.map(\.count) == [0, 2, 0])
            #expect(try rows[1][1].decode(Int.self) == 2)
        }
    }

    @Test func `a failed transaction changes nothing`() async throws {
        try session.run("INSERT INTO notes VALUES (2)")
        try await withDatabase { database in
            let error = await #expect(throws: DatabaseError.self) {
                try await database.transaction("INSERT INTO notes VALUES (1)", "INSERT INTO notes VALUES (2)")
            }
            #expect(error?.description == "database refused: 23505 (notes_key)")
            #expect(try session.number(of: "notes") == 1)
            _ = try await database.transaction("INSERT INTO notes VALUES (3)", "INSERT INTO notes VALUES (4)")
        }
        #expect(try session.number(of: "notes") == 3)
    }

    @Test func `a statement after a row lock sees the newest row`() async throws {
        try session.run("INSERT INTO notes VALUES (1, 'old')")
        let holder = try DatabaseSession()
        try holder.run("BEGIN; UPDATE notes SET text = 'new'")
        try await withDatabase { database in
            let reading = Task {
                try await database.transaction(
                    "SELECT FROM notes WHERE id = 1 FOR UPDATE",
                    "SELECT text FROM notes WHERE id = 1"
                )
            }
            try await session.waitUntilSomebodyIsBlocked()
            try holder.run("COMMIT")
            #expect(try await reading.value[1].only.decode(String.self) == "new")
        }
    }

    @Test func `transactions that wait for a locked row leave a connection to others`() async throws {
        try session.run("INSERT INTO notes VALUES (1), (2)")
        let holder = try DatabaseSession()
        try holder.run("BEGIN; SELECT FROM notes WHERE id = 1 FOR UPDATE")
        try await withDatabase(connections: 5) { database in
            let update: SQL = "UPDATE notes SET text = 'a' WHERE id = 1 RETURNING id"
            let waiting = (0..<4).map { _ in Task { try await database.transaction(update)[0].count } }
            try await session.waitUntilSomebodyIsBlocked()
            let other = try await database.transaction("UPDATE notes SET text = 'b' WHERE id = 2 RETURNING id")
            #expect(other[0].count == 1)
            try holder.run("COMMIT")
            for task in waiting { #expect(try await task.value == 1) }
        }
    }

    @Test func `concurrent transactions on the same row all take effect`() async throws {
        try session.run("INSERT INTO notes VALUES (0, '0')")
        try await withDatabase(connections: 4) { database in
            try await withThrowingTaskGroup { group in
                for _ in 0..<60 {
                    group.addTask {
                        _ = try await database.transaction(
                            "SELECT FROM notes WHERE id = 0 FOR UPDATE",
                            "UPDATE notes SET text = (text::int + 1)::text WHERE id = 0"
                        )
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try session.query("SELECT text FROM notes").only.decode(String.self) == "60")
    }

    @Test(arguments: ["40001", "40P01"])
    func `a transaction is retried once after a conflict`(sqlState: String) async throws {
        // A sequence also counts calls in transactions that are rolled back.
        try session.run(
            """
            CREATE SEQUENCE tries;
            CREATE FUNCTION fail(times int) RETURNS int8 LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('tries') <= times THEN RAISE EXCEPTION USING ERRCODE = '\(sqlState)'; END IF;
                RETURN currval('tries');
            END $$
            """
        )
        try await withDatabase { database in
            let insert: SQL = "INSERT INTO notes (id) VALUES (1)"
            let rows = try await database.transaction(insert, "SELECT fail(1)")
            #expect(try rows[1].only.decode(Int.self) == 2)
            try session.run("SELECT setval('tries', 1, false)")
            #expect(try await database.read("SELECT fail(1)").only.decode(Int.self) == 2)

            try session.run("SELECT setval('tries', 1, false)")
            let error = await #expect(throws: DatabaseError.self) {
                try await database.transaction("DELETE FROM notes", "SELECT fail(2)")
            }
            #expect(error?.sqlState == sqlState)
        }
        #expect(try session.number(of: "notes") == 1)
    }

    @Test func `a grouped statement does not wait for a transaction`() async throws {
        try await withDatabase(connections: 2) { database in
            try session.run("SELECT pg_advisory_lock(1)")
            let alone = Task { try await database.transaction(BlockedStatement.statement) }
            try await session.waitUntilSomebodyIsBlocked()
            #expect(try await database.read("SELECT 1").only.decode(Int.self) == 1)
            try session.run("SELECT pg_advisory_unlock(1)")
            #expect(try await alone.value[0].count == 1)
        }
    }

    @Test func `the statement of a caller that is cancelled while it waits is not executed`() async throws {
        try await withDatabase { database in
            try session.run("SELECT pg_advisory_lock(1)")
            async let held = database.read(BlockedStatement.statement)
            try await session.waitUntilSomebodyIsBlocked()
            let caller = Task { try await database.write("INSERT INTO notes VALUES (1)", to: UUID()) }
            caller.cancel()
            let error = await #expect(throws: DatabaseError.self) { try await caller.value }
            #expect(error?.isCancelled == true)
            try session.run("SELECT pg_advisory_unlock(1)")
            _ = try await held
            _ = try await database.write("INSERT INTO notes VALUES (2)", to: UUID())
        }
        #expect(try session.query("SELECT id FROM notes").only.decode(Int.self) == 2)
    }

    @Test func `all callers are answered at their deadlines while a table is locked`() async throws {
        try session.run("BEGIN; LOCK TABLE notes")
        try await withDatabase { database in
            let errors = await withTaskGroup(of: DatabaseError?.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        await Deadline.$current.withValue(Deadline(in: .milliseconds(50))) {
                            () async -> DatabaseError? in
                            do throws(DatabaseError) {
                                if number.isMultiple(of: 2) {
                                    _ = try await database.read("SELECT FROM notes")
                                } else {
                                    _ = try await database.transaction("INSERT INTO notes VALUES (\(number))")
                                }
                                return nil
                            } catch {
                                return error
                            }
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors.count == 20)
            #expect(errors.allSatisfy { $0?.isUnavailable == true || $0?.isOutcomeUnknown == true })
            try session.run("COMMIT")
            _ = try await database.read("SELECT FROM notes")
            _ = try await database.transaction("INSERT INTO notes VALUES (100)")
        }
    }

    @Test func `a database whose lanes for groups are blocked is not up`() async throws {
        try await withDatabase { database in
            while await !database.isUp(within: .seconds(300)) {}
            try session.run("SELECT pg_advisory_lock(1)")
            var held: Task<Rows?, Never>?
            repeat {
                // The statement fails after ten seconds, its statement timeout. The loop sends it again if `isUp` was
                // asked later.
                held = Task { try? await database.read(BlockedStatement.statement) }
                try await session.waitUntilSomebodyIsBlocked()
            } while await database.isUp(within: .milliseconds(20))
            try session.run("SELECT pg_advisory_unlock(1)")
            _ = await held?.value
            #expect(await database.isUp(within: .seconds(300)))
        }
    }

    @Test func `a shutdown refuses waiting statements and lets running ones finish`() async throws {
        try await withDatabase { database in
            try session.run("SELECT pg_advisory_lock(1)")
            let hold: SQL = "INSERT INTO notes SELECT 1 FROM (\(BlockedStatement.statement)) AS held"
            async let held = database.write(hold, to: UUID())
            try await session.waitUntilSomebodyIsBlocked()
            let waiting = (2..<50).map { number in
                Task { try await database.write("INSERT INTO notes VALUES (\(number))", to: UUID()) }
            }
            async let end: Void = database.shutdown()
            for caller in waiting {
                let error = await #expect(throws: DatabaseError.self) { try await caller.value }
                #expect(error?.isUnavailable == true)
            }
            try session.run("SELECT pg_advisory_unlock(1)")
            _ = try await held
            await end
            let late = await #expect(throws: DatabaseError.self) { try await database.read("SELECT 1") }
            #expect(late?.isUnavailable == true)
        }
        #expect(try session.number(of: "notes") == 1)
        try await session.wait(
            for: "SELECT FROM pg_stat_activity WHERE datname = current_database() HAVING count(*) = 1"
        )
    }

    @Test func `the number of prepared statements of a session is bounded`() async throws {
        try await withDatabase { database in
            var maximum = 0
            for number in 0..<600 {
                let text = SQL(stringLiteral: "SELECT count(*), \(number)::bigint FROM pg_prepared_statements")
                let (count, echo) = try await database.read(text).only.decode(Int.self, Int.self)
                #expect(echo == number)
                maximum = max(maximum, count)
            }
            #expect(maximum > 150)
            #expect(maximum < 250)
        }
    }

    @Test func `a statement that exceeds its timeout fails, and the lane continues`() async throws {
        try await withDatabase(timeouts: .standard) { database in
            let settings: SQL = """
                SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
                       current_setting('TimeZone')
                """
            for (rows, timeout) in [
                (try await database.read(settings), "200ms"), (try await database.transaction(settings)[0], "100ms"),
            ] {
                let (statement, lock, zone) = try rows.only.decode(String.self, String.self, String.self)
                #expect([statement, lock, zone] == ["10s", timeout, "UTC"])
            }
            let error = await #expect(throws: DatabaseError.self) {
                try await database.transaction(.setting("statement_timeout", "1"), "SELECT pg_sleep(5)")
            }
            #expect(error?.sqlState == "57014")
            #expect(try await database.transaction("SELECT 1")[0].only.decode(Int.self) == 1)
        }
    }

    /// Reads what the log of the cluster gets meanwhile. Other tests write into it, but no other session has the same
    /// number at the same time.
    @Test func `a setting of a transaction ends with it, and writes no warning into the log`() async throws {
        let log = try DatabaseSession()
        let start = try log.query("SELECT (pg_stat_file('server.log')).size").only.decode(Int.self)
        try await withDatabase(timeouts: .standard) { database in
            let rows = try await database.transaction(
                .setting("synchronous_commit", "off"),
                "SELECT current_setting('synchronous_commit'), pg_backend_pid()::bigint"
            )
            let (setting, session) = try rows[1].only.decode(String.self, Int.self)
            #expect(setting == "off")
            let after = try await database.transaction("SELECT current_setting('synchronous_commit')")[0]
            #expect(try after.only.decode(String.self) == "on")
            let warning = Array("[\(session)] WARNING".utf8)
            let place: SQL = """
                SELECT position(\(warning) IN pg_read_binary_file('server.log', \(start), 1000000000))
                """
            #expect(try log.query(place).only.decode(Int.self) == 0)
        }
    }
}
