import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Lanes and groups", .emptyDatabase, .timeLimit(.minutes(30)))
struct LaneTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
        try session.run(
            """
            CREATE TABLE parents (id int8 PRIMARY KEY);
            CREATE TABLE notes (
                id int8 PRIMARY KEY, writer text DEFAULT pg_current_xact_id()::text,
                parent int8 REFERENCES parents DEFERRABLE INITIALLY DEFERRED
            )
            """
        )
    }

    @Test func `a lane that cannot wait for its connection counts as down`() {
        let queue = LaneQueue(capacity: 1, lanes: 1)
        let error = #expect(throws: DatabaseError.self) { _ = try LaneEvents(socket: -1, queue: queue) }
        #expect(error?.isUnavailable == true)
    }

    @Test func `statements that wait together share one transaction and its time`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.submitTogether { lane in
                (0..<100).map { _ in lane.submit("SELECT pg_current_xact_id()::text, now()") }
            }
            var transactions: Set<String> = []
            var instants: Set<Date> = []
            for job in jobs {
                let (transaction, instant) = try await job.rows().only.decode(String.self, Date.self)
                transactions.insert(transaction)
                instants.insert(instant)
            }
            #expect(transactions.count == 1)
            #expect(instants.count == 1)
        }
    }

    @Test func `statements that exceed the size of a group go into the next one`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.submitTogether { lane in
                (0..<300).map { _ in lane.submit("SELECT pg_current_xact_id()::text") }
            }
            var sizes: [String: Int] = [:]
            for job in jobs { sizes[try await job.rows().only.decode(String.self), default: 0] += 1 }
            #expect(sizes.values.sorted() == [44, 256])
        }
    }

    @Test func `writes to the same row take effect in order`() async throws {
        try session.run("INSERT INTO parents VALUES (0)")
        try await LaneUnderTest.lend { lane in
            let row = UUID()
            let jobs = try await lane.submitTogether { lane in
                (0..<10).map { old in
                    lane.submit("UPDATE parents SET id = id + 1 WHERE id = \(old) RETURNING id", writes: row)
                }
            }
            for (old, job) in jobs.enumerated() { #expect(try await job.rows().only.decode(Int.self) == old + 1) }
        }
    }

    @Test func `an error fails only its own statement, and all others are committed`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.submitTogether { lane in
                (0..<9).map { number in
                    number == 4
                        ? lane.submit("SELECT 1 / \(0)")
                        : lane.submit("INSERT INTO notes (id) VALUES (\(number)) RETURNING id")
                }
            }
            for (number, job) in jobs.enumerated() where number != 4 {
                #expect(try await job.rows().only.decode(Int.self) == number)
            }
            #expect(await jobs[4].failure()?.sqlState == "22012")
        }
        #expect(try session.number(of: "notes") == 8)
    }

    @Test func `each of several failed statements gets its own error`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.submitTogether { lane in
                [
                    lane.submit("SELECT 1 / \(0)"), lane.submit("SELECT \("x")::int"), lane.submit("SELECT 1"),
                    lane.submit("SELECT FROM nowhere"), lane.submit("SELEC"),
                ]
            }
            var states: [String?] = []
            for job in jobs { states.append(await job.failure()?.sqlState) }
            #expect(states == ["22012", "22P02", nil, "42P01", "42601"])
        }
    }

    @Test func `rows of a group that is rolled back are not reported`() async throws {
        try await LaneUnderTest.lend { lane in
            let insert: SQL = "INSERT INTO notes (id) VALUES (\(1)) RETURNING writer"
            let jobs = try await lane.submitTogether { lane in
                // The large result fills the server's buffer, so the first answer arrives before the error.
                [lane.submit(insert), lane.submit("SELECT repeat('x', 1000000)"), lane.submit("SELECT 1 / \(0)")]
            }
            let reported = try await jobs[0].rows().only.decode(String.self)
            let stored = try session.query("SELECT writer FROM notes").only.decode(String.self)
            #expect(reported == stored)
        }
    }

    @Test func `a deferred constraint fails only the violating statement, and the lane continues`() async throws {
        try session.run("INSERT INTO parents VALUES (1)")
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.submitTogether { lane in
                [1, 2, 1].enumerated().map { number, parent in
                    lane.submit("INSERT INTO notes (id, parent) VALUES (\(number), \(parent)) RETURNING id")
                }
            }
            #expect(try await jobs[0].rows().only.decode(Int.self) == 0)
            #expect(await jobs[1].failure()?.sqlState == "23503")
            #expect(try await jobs[2].rows().only.decode(Int.self) == 2)
            let alone = lane.submit("INSERT INTO notes (id, parent) VALUES (9, 9)")
            #expect(await alone.failure()?.sqlState == "23503")
            #expect(try await lane.submit("SELECT 1").rows().only.decode(Int.self) == 1)
        }
        #expect(try session.number(of: "notes") == 2)
    }

    @Test func `a prepared statement still works after its table changed`() async throws {
        try session.run("INSERT INTO parents VALUES (1)")
        try await LaneUnderTest.lend { lane in
            let read: SQL = "SELECT * FROM parents"
            #expect(try await lane.submit(read).rows().only.decode(Int.self) == 1)
            try session.run("ALTER TABLE parents ADD COLUMN name text DEFAULT 'a'")
            let (id, name) = try await lane.submit(read).rows().only.decode(Int.self, String.self)
            #expect(id == 1)
            #expect(name == "a")

            try session.run("ALTER TABLE parents DROP COLUMN name")
            let jobs = try await lane.submitTogether { lane in
                [lane.submit("INSERT INTO notes (id) VALUES (1)"), lane.submit(read), lane.submit(read)]
            }
            #expect(try await jobs[0].rows().isEmpty)
            #expect(try await jobs[1].rows().only.decode(Int.self) == 1)
            #expect(try await jobs[2].rows().only.decode(Int.self) == 1)
        }
        #expect(try session.number(of: "notes") == 1)
    }

    @Test(arguments: ["DISCARD ALL", "DEALLOCATE ALL"] as [SQL])
    func `prepared statements that the session has lost are prepared again`(forget: SQL) async throws {
        try await LaneUnderTest.lend { lane in
            let insert: @Sendable (Int) -> SQL = { "INSERT INTO notes (id) VALUES (\($0)) RETURNING id" }
            #expect(try await lane.submit(insert(1)).rows().only.decode(Int.self) == 1)
            _ = try await lane.submit(forget).rows()
            #expect(try await lane.submit(insert(2)).rows().only.decode(Int.self) == 2)

            _ = try await lane.submit(forget).rows()
            let jobs = try await lane.submitTogether { lane in (3..<20).map { lane.submit(insert($0)) } }
            for (job, id) in zip(jobs, 3...) { #expect(try await job.rows().only.decode(Int.self) == id) }
        }
        #expect(try session.number(of: "notes") == 19)
    }

    @Test func `a full queue refuses immediately`() async throws {
        try await LaneUnderTest.lend(capacity: 2) { lane in
            let jobs = try await lane.submitTogether { lane in
                let jobs = (0..<3).map { lane.submit("SELECT \($0)") }
                #expect(await jobs[2].failure()?.isUnavailable == true)
                return jobs
            }
            for (number, job) in jobs.prefix(2).enumerated() {
                #expect(try await job.rows().only.decode(Int.self) == number)
            }
        }
    }

    @Test func `a job that is cancelled while it waits is never executed`() async throws {
        try await LaneUnderTest.lend { lane in
            let jobs = try await lane.submitTogether { lane in
                let jobs = (0..<3).map { lane.submit("INSERT INTO notes (id) VALUES (\($0))") }
                let caller = Task { await jobs[1].failure() }
                caller.cancel()
                #expect(await caller.value?.isCancelled == true)
                return jobs
            }
            _ = try await jobs[0].rows()
            _ = try await jobs[2].rows()
        }
        #expect(try session.query("SELECT FROM notes WHERE id = 1").isEmpty)
        #expect(try session.number(of: "notes") == 2)
    }

    @Test func `a job that is cancelled after it was sent gets its result`() async throws {
        try await LaneUnderTest.lend { lane in
            let held = try await BlockedStatement(conninfo: lane.conninfo) { lane.queue.submit($0) }
            let caller = Task { try await held.job.rows().count }
            caller.cancel()
            try held.release()
            #expect(try await caller.value == 1)
        }
    }

    @Test func `a caller is answered at the deadline, whether its statement was sent or not`() async throws {
        try await LaneUnderTest.lend { lane in
            let gate = try DatabaseSession()
            try gate.run("SELECT pg_advisory_lock(1)")
            let sent = lane.submit("INSERT INTO notes (id) SELECT 1 FROM pg_advisory_xact_lock(1)")
            try await gate.waitUntilSomebodyIsBlocked()
            let waiting = lane.submit("INSERT INTO notes (id) VALUES (2)")
            #expect(lane.queue.expire(at: .now + .seconds(3600)) == nil)
            #expect(await sent.failure()?.isOutcomeUnknown == true)
            #expect(await waiting.failure()?.isUnavailable == true)
            try gate.run("SELECT pg_advisory_unlock(1)")
            #expect(try await lane.submit("SELECT 1").rows().only.decode(Int.self) == 1)
        }
        // The sent statement has taken effect, and the waiting one was never sent.
        #expect(try session.query("SELECT id FROM notes").only.decode(Int.self) == 1)
    }

    @Test func `a locked table delays a group only a few times`() async throws {
        let holder = try DatabaseSession()
        try holder.run("BEGIN; LOCK TABLE notes")
        try await LaneUnderTest.lend(lockTimeout: .milliseconds(50)) { lane in
            let jobs = try await lane.submitTogether { lane in (0..<20).map { _ in lane.submit("SELECT FROM notes") } }
            for (number, job) in jobs.enumerated() {
                let failure = await job.failure()
                // All jobs are answered although the table is still locked.
                #expect(
                    number < Lane.maximumLockTimeouts ? failure?.sqlState == "55P03" : failure?.isUnavailable == true
                )
            }
            try holder.run("COMMIT")
            #expect(try await lane.submit("SELECT FROM notes").rows().isEmpty)
        }
    }

    @Test func `a statement that waits for a locked row goes on in the parking queue, at most one on two lanes`()
        async throws
    {
        try session.run("INSERT INTO parents VALUES (1)")
        let (holder, parking) = (try DatabaseSession(), LaneQueue(capacity: 10, lanes: 2, groupLimit: 1))
        try holder.run("BEGIN; SELECT FROM parents WHERE id = 1 FOR UPDATE")
        try await LaneUnderTest.lend(lockTimeout: .milliseconds(50), parkingQueue: parking) { lane in
            let update: SQL = "UPDATE parents SET id = id WHERE id = 1 RETURNING id"
            let first = lane.submit(update)
            while parking.load.jobs == 0 { await Task.yield() }
            let second = lane.submit(update)
            while parking.load.jobs == 1 { await Task.yield() }
            #expect(try await lane.submit("SELECT 1").rows().only.decode(Int.self) == 1)
            #expect(!first.isAnswered && first.usesLongLockTimeout && !second.isAnswered && !second.usesLongLockTimeout)

            let parkingLane = Lane(conninfo: lane.conninfo, queue: parking, timeouts: .lavish, logger: .silent)
            let thread = DedicatedThread(named: "parking") { parkingLane.run() }
            defer {
                parking.stop()
                thread.join()
            }
            _ = try await session.waitUntilSomebodyIsBlocked()
            try holder.run("COMMIT")
            #expect(try await first.rows().only.decode(Int.self) == 1)
            #expect(try await second.rows().only.decode(Int.self) == 1)
        }
    }

    @Test func `a locked row fails only its own statement`() async throws {
        try session.run("INSERT INTO parents VALUES (1)")
        let holder = try DatabaseSession()
        try holder.run("BEGIN; SELECT FROM parents WHERE id = 1 FOR UPDATE")
        try await LaneUnderTest.lend(lockTimeout: .milliseconds(50)) { lane in
            let jobs = try await lane.submitTogether { lane in
                [lane.submit("UPDATE parents SET id = 2 WHERE id = 1")]
                    + (0..<20).map { lane.submit("INSERT INTO notes (id) VALUES (\($0)) RETURNING id") }
            }
            #expect(await jobs[0].failure()?.sqlState == "55P03")
            for (number, job) in jobs.dropFirst().enumerated() {
                #expect(try await job.rows().only.decode(Int.self) == number)
            }
        }
        #expect(try session.number(of: "notes") == 20)
    }

    @Test func `statements and rows larger than any buffer do not block each other`() async throws {
        try await LaneUnderTest.lend { lane in
            // The buffer of a socket has less than one megabyte.
            let megabytes = [UInt8](repeating: 0xA5, count: 16 << 20)
            let jobs = try await lane.submitTogether { lane in
                (0..<4).map { _ in lane.submit("SELECT \(megabytes)") }
            }
            for job in jobs { #expect(try await job.rows().only.decode([UInt8].self) == megabytes) }
        }
    }

    @Test func `another lane serves new jobs while a group takes long`() async throws {
        let (conninfo, queue) = (FreshDatabase.current.conninfo, LaneQueue(capacity: 10, lanes: 2))
        let lanes = (1...2).map { _ in
            let lane = Lane(conninfo: conninfo, queue: queue, logger: .silent)
            return DedicatedThread(named: "lane") { lane.run() }
        }
        defer {
            queue.stop()
            for lane in lanes { lane.join() }
        }
        let held = try await BlockedStatement(conninfo: conninfo) { queue.submit($0) }
        for number in 0..<20 {
            let job = Job(["SELECT \(number)"])
            queue.submit(job)
            #expect(try await job.rows().only.decode(Int.self) == number)
        }
        try held.release()
        #expect(try await held.job.rows().count == 1)
    }

    @Test func `a lane without a connection takes no jobs from a connected lane`() async throws {
        let queue = LaneQueue(capacity: 10, lanes: 2, groupLimit: 1)
        let lanes = [FreshDatabase.current.conninfo, "host=/nowhere"].map { conninfo in
            let lane = Lane(conninfo: conninfo, queue: queue, logger: .silent)
            return DedicatedThread(named: "lane") { lane.run() }
        }
        defer {
            queue.stop()
            for lane in lanes { lane.join() }
        }
        for number in 0..<2000 {
            let job = Job(["SELECT \(number)"])
            queue.submit(job)
            #expect(try await job.rows().only.decode(Int.self) == number)
        }
    }
}
