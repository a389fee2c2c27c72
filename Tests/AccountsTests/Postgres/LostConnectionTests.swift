import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Lost connections", .emptyDatabase, .timeLimit(.minutes(30)))
struct LostConnectionTests {
    private static let backend: SQL = "SELECT pg_backend_pid()"

    @Test func `an idle lane reconnects when its backend ends`() async throws {
        let session = try DatabaseSession()
        try await LaneUnderTest.lend { lane in
            let before = try await lane.submit(Self.backend).rows().only.decode(Int.self)
            try session.query("SELECT pg_terminate_backend(\(before)::int)")
            // The lane opens a new session even without a new job.
            try await session.wait(
                for: """
                    SELECT FROM pg_stat_activity
                     WHERE datname = current_database() AND pid NOT IN (\(before), pg_backend_pid())
                       AND query LIKE 'SET %'
                    """
            )
            let after = try await lane.submit(Self.backend).rows().only.decode(Int.self)
            #expect(after != before)
        }
    }

    @Test func `a lane reconnects when its server becomes read-only`() async throws {
        let session = try DatabaseSession()
        try session.run("CREATE TABLE notes (id int8 PRIMARY KEY)")
        try await LaneUnderTest.lend { lane in
            let before = try await lane.submit(Self.backend).rows().only.decode(Int.self)
            // Simulates a server that becomes a standby while clients are connected.
            _ = try await lane.submit("SET default_transaction_read_only = on").rows()
            guard case .unavailable? = await lane.submit("INSERT INTO notes VALUES (1)").failure() else {
                Issue.record("a write to a read-only server must fail as unavailable")
                return
            }
            var after: Int?
            while after == nil { after = try? await lane.submit(Self.backend).rows().only.decode(Int.self) }
            #expect(after != before)
            _ = try await lane.submit("INSERT INTO notes VALUES (2)").rows()
        }
        #expect(try session.query("SELECT id FROM notes").only.decode(Int.self) == 2)
    }

    @Test func `a server that refuses the session settings is unavailable, which the error says once`() {
        let error = #expect(throws: DatabaseError.self) {
            _ = try Pipeline(
                Connection(to: FreshDatabase.current.conninfo),
                statementTimeout: .seconds(-1),
                lockTimeout: .seconds(5)
            )
        }
        #expect(error?.description == "database unavailable: the server refused the session settings")
    }

    @Test func `a read-only server counts as unavailable`() async throws {
        let name = try DatabaseSession().query("SELECT current_database()::text").only.decode(String.self)
        try DatabaseSession().run("ALTER DATABASE \"\(name)\" SET default_transaction_read_only = on")
        let database = Database(FreshDatabase.current.conninfo, logger: .silent)
        while await database.isUp() {}
        let error = await #expect(throws: DatabaseError.self) { try await database.read("SELECT 1") }
        #expect(error?.description.contains("read-only") == true)
        let session = try DatabaseSession()
        try session.run("SET default_transaction_read_only = off")
        try session.run("ALTER DATABASE \"\(name)\" RESET default_transaction_read_only")
        while await !database.isUp() { await Task.yield() }
        await database.shutdown()
    }

    @Test func `the outcome of a sent statement is unknown, and waiting statements are executed`() async throws {
        let session = try DatabaseSession()
        try session.run("CREATE TABLE notes (id int8 PRIMARY KEY)")
        try await LaneUnderTest.lend { lane in
            let held = try await BlockedStatement(conninfo: lane.conninfo) { lane.queue.submit($0) }
            let waiting = (0..<20).map { lane.submit("INSERT INTO notes VALUES (\($0))") }
            try session.query("SELECT pg_terminate_backend(\(held.backend)::int)")
            #expect(await held.job.failure()?.isOutcomeUnknown == true)
            for job in waiting { _ = try await job.rows() }
        }
        #expect(try session.number(of: "notes") == 20)
    }

    @Test func `the outcome of every statement of a sent group is unknown, and none took effect`() async throws {
        let session = try DatabaseSession()
        try session.run("CREATE TABLE notes (id int8 PRIMARY KEY)")
        try await LaneUnderTest.lend { lane in
            let gate = try DatabaseSession()
            try gate.run("SELECT pg_advisory_lock(2)")
            let group = try await lane.submitTogether { lane in
                [
                    lane.submit("INSERT INTO notes VALUES (1)"), lane.submit("SELECT pg_advisory_xact_lock(2)"),
                    lane.submit("INSERT INTO notes VALUES (2)"),
                ]
            }
            let backend = try await session.waitUntilSomebodyIsBlocked()
            try session.query("SELECT pg_terminate_backend(\(backend)::int)")
            for job in group { #expect(await job.failure()?.isOutcomeUnknown == true) }
            #expect(try await lane.submit("SELECT 1").rows().only.decode(Int.self) == 1)
        }
        #expect(try session.number(of: "notes") == 0)
    }

    @Test func `statements of a failed group that were not run again are unavailable`() async throws {
        let session = try DatabaseSession()
        try session.run("CREATE TABLE notes (id int8 PRIMARY KEY)")
        try await LaneUnderTest.lend { lane in
            let gate = try DatabaseSession()
            try gate.run("SELECT pg_advisory_lock(2)")
            let group = try await lane.submitTogether { lane in
                // The group fails at its first statement. Then the lane runs the second statement alone, which blocks.
                [
                    lane.submit("SELECT 1 / \(0)"), lane.submit("SELECT pg_advisory_xact_lock(2)"),
                    lane.submit("INSERT INTO notes VALUES (1)"),
                ]
            }
            let backend = try await session.waitUntilSomebodyIsBlocked()
            try session.query("SELECT pg_terminate_backend(\(backend)::int)")
            #expect(await group[0].failure()?.sqlState == "22012")
            #expect(await group[1].failure()?.isOutcomeUnknown == true)
            #expect(await group[2].failure()?.isUnavailable == true)
        }
        #expect(try session.number(of: "notes") == 0)
    }

    @Test func `after a lost connection, a read is repeated, but a write or a transaction is not`() async throws {
        let gate = try DatabaseSession()
        // Each statement must wait where the test finds it, until the test ends its connection.
        try await withDatabase(timeouts: .all(.seconds(3600))) { database in
            try gate.run("CREATE TABLE notes (id int8); SELECT pg_advisory_lock(1)")
            let read = Task { try await database.read(BlockedStatement.statement) }
            try gate.query("SELECT pg_terminate_backend(\(try await gate.waitUntilSomebodyIsBlocked())::int)")
            // The lane repeats the statement in a new session, where it blocks again.
            try await gate.waitUntilSomebodyIsBlocked()
            try gate.run("SELECT pg_advisory_unlock(1)")
            #expect(try await read.value.count == 1)

            try gate.run("SELECT pg_advisory_lock(1)")
            let write = Task {
                try await database.write("INSERT INTO notes SELECT 1 FROM pg_advisory_xact_lock(1)", to: UUID())
            }
            try gate.query("SELECT pg_terminate_backend(\(try await gate.waitUntilSomebodyIsBlocked())::int)")
            let lostWrite = await #expect(throws: DatabaseError.self) { try await write.value }
            #expect(lostWrite?.isOutcomeUnknown == true)

            let both = Task {
                try await database.transaction("INSERT INTO notes VALUES (2)", BlockedStatement.statement)
            }
            try gate.query("SELECT pg_terminate_backend(\(try await gate.waitUntilSomebodyIsBlocked())::int)")
            let lostTransaction = await #expect(throws: DatabaseError.self) { try await both.value }
            #expect(lostTransaction?.isOutcomeUnknown == true)
            try gate.run("SELECT pg_advisory_unlock(1)")

            // Reads and transactions work again.
            #expect(try await database.read("SELECT count(*) FROM notes").only.decode(Int.self) == 0)
            #expect(try await database.transaction("SELECT count(*) FROM notes")[0].only.decode(Int.self) == 0)
        }
    }

    @Test func `a missing server is unavailable`() async throws {
        try await withDatabase("host=/nowhere") { database in
            let read = await #expect(throws: DatabaseError.self) { try await database.read("SELECT 1") }
            #expect(read?.isUnavailable == true)
            let both = await #expect(throws: DatabaseError.self) { try await database.transaction("SELECT 1") }
            #expect(both?.isUnavailable == true)
        }
    }
}

@Suite("Server crashes", .timeLimit(.minutes(30)))
struct CrashTests {
    @Test func `statements are unavailable while the server is down, and succeed when it is back`() async throws {
        try await Cluster.withRunning { cluster in
            try await withDatabase(cluster.conninfo) { database in
                _ = try await database.transaction("CREATE TABLE notes (id int8 PRIMARY KEY)")
                try await cluster.stop()
                // The first statements may lose their connection; all later ones are unavailable.
                while try await !isUnavailable(database) { await Task.yield() }
                for _ in 0..<20 { #expect(try await isUnavailable(database)) }

                try await cluster.start()
                while true {
                    do throws(DatabaseError) {
                        _ = try await database.write("INSERT INTO notes VALUES (1)", to: UUID())
                        break
                    } catch .unavailable {
                        await Task.yield()
                    }
                }
                while try await isUnavailable(database) { await Task.yield() }
                #expect(try await database.transaction("SELECT id FROM notes")[0].only.decode(Int.self) == 1)
            }
        }
    }

    enum Crash: CaseIterable {
        case killedBackend, powerLoss
    }

    @Test(arguments: Crash.allCases)
    func `acknowledged writes survive a crash, and no write is stored twice`(crash: Crash) async throws {
        try await Cluster.withRunning(fsync: true) { cluster in
            try await withDatabase(cluster.conninfo) { database in
                _ = try await database.transaction("CREATE TABLE notes (writer int8, number int8)")
                let (progress, acknowledgement) = AsyncStream.makeStream(of: Int.self)
                let acknowledged = try await withThrowingTaskGroup { writers in
                    for writer in 0..<8 {
                        writers.addTask {
                            try await write(until: 300, as: writer, to: database, acknowledgement)
                        }
                    }
                    // The crash happens while the writers write.
                    var seen = 0
                    for await _ in progress {
                        seen += 1
                        if seen == 400 { break }
                    }
                    switch crash {
                    case .killedBackend:
                        let session = try DatabaseSession(to: cluster.conninfo)
                        let backend = try session.query(
                            "SELECT pid FROM pg_stat_activity WHERE query LIKE 'INSERT %' ORDER BY pid LIMIT 1"
                        )
                        try cluster.kill(backend: backend.only.decode(Int.self))
                    case .powerLoss:
                        try await cluster.crashAndRestart()
                    }
                    return try await writers.reduce(into: Set<Note>()) { $0.formUnion($1) }
                }
                let stored = try DatabaseSession(to: cluster.conninfo).query("SELECT writer, number FROM notes").map {
                    row in
                    let (writer, number) = try row.decode(Int.self, Int.self)
                    return Note(writer: writer, number: number)
                }
                #expect(Set(stored).count == stored.count)
                #expect(acknowledged.subtracting(stored).isEmpty)
                #expect(acknowledged.contains { $0.number == 299 })
            }
        }
    }

    private struct Note: Hashable {
        let writer: Int
        let number: Int
    }

    /// Writes one number after the other. If the server is unavailable, it writes the number again; if the outcome is
    /// unknown, it continues with the next one. Returns the acknowledged notes.
    private func write(
        until end: Int,
        as writer: Int,
        to database: Database,
        _ progress: AsyncStream<Int>.Continuation
    ) async throws -> Set<Note> {
        var acknowledged: Set<Note> = []
        var number = 0
        while number < end {
            do throws(DatabaseError) {
                _ = try await database.write("INSERT INTO notes VALUES (\(writer), \(number))", to: UUID())
                acknowledged.insert(Note(writer: writer, number: number))
                progress.yield(number)
                number += 1
            } catch .unavailable {
                await Task.yield()
            } catch .outcomeUnknown {
                number += 1
            }
        }
        return acknowledged
    }

    /// Whether a write or a transaction fails because the server is unavailable. False if both succeed, or if the
    /// outcome of one is unknown. Throws other errors.
    private func isUnavailable(_ database: Database) async throws -> Bool {
        do throws(DatabaseError) {
            _ = try await database.write("SELECT 1", to: UUID())
            _ = try await database.transaction("SELECT 1")
            return false
        } catch .unavailable {
            return true
        } catch .outcomeUnknown {
            return false
        }
    }
}
