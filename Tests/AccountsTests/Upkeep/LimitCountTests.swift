import TestSupport
import Testing

@testable import Accounts

@Suite("The hits that rate limits count", .freshDatabase, .timeLimit(.minutes(30)))
struct LimitCountTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// Counts a hit of two subjects, and returns a row if a limit is exceeded. The limit of the first is 2 a minute,
    /// that of the second is `count` an hour.
    private func take(_ count: Int) throws -> Rows {
        try session.query(
            """
            SELECT number, wait
              FROM take_from_limits(ARRAY['\\x01', '\\x02']::bytea[], ARRAY[2, \(count)], '{60, 3600}'::bigint[])
            """
        )
    }

    @Test func `a hit counts against every limit, or against none if one is exceeded`() throws {
        #expect(try take(3).isEmpty && take(3).isEmpty)
        let (number, wait) = try take(3).only.decode(Int.self, Int.self)
        #expect(number == 1 && (20...60).contains(wait))
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 2") == 2)

        try session.letPass("61 seconds")
        #expect(try take(3).isEmpty)
        let (other, longer) = try take(3).only.decode(Int.self, Int.self)
        #expect(other == 2 && (3400...3540).contains(longer))
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 3") == 1)
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 1") == 1)
    }

    @Test func `a subject that is named twice gets two hits`() throws {
        let twice: SQL = """
            SELECT wait FROM take_from_limits(ARRAY['\\x01', '\\x01']::bytea[], '{3, 3}'::bigint[], '{60, 60}'::bigint[])
            """
        #expect(try session.query(twice).isEmpty)
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 2") == 1)
        #expect((20...60).contains(try session.query(twice).only.decode(Int.self)))
        let tooMany: SQL = """
            SELECT wait FROM take_from_limits(ARRAY['\\x02', '\\x02']::bytea[], '{1, 1}'::bigint[], '{60, 60}'::bigint[])
            """
        #expect(try session.query(tooMany).only.decode(Int.self) == 60)
        #expect(try session.number(of: "limits") == 1, "a refused subject gets no row")
    }

    @Test func `hits are counted while the expired row is being deleted`() async throws {
        try session.run("INSERT INTO limits VALUES ('\\x01', '{}', now() - interval '1 hour')")
        let eraser = try DatabaseSession()
        try eraser.run("BEGIN; DELETE FROM limits")
        let conninfo = FreshDatabase.current.conninfo
        async let passed = atOnce(8) { _ in
            try await onThread {
                let session = try DatabaseSession(to: conninfo)
                let take: SQL =
                    "SELECT wait FROM take_from_limits(ARRAY['\\x01']::bytea[], '{1}'::bigint[], '{60}'::bigint[])"
                return try session.query(take).isEmpty
            }
        }
        try await session.wait(
            for: """
                SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                HAVING count(*) = 8
                """
        )
        try eraser.run("COMMIT")
        #expect(try await passed.tally == [true: 1, false: 7])
        #expect(try session.number(of: "limits WHERE cardinality(hits) = 1") == 1)
    }

    @Test func `the window slides, so that no period has more hits than the limit`() throws {
        let take: SQL = "SELECT wait FROM take_from_limits(ARRAY['\\x01']::bytea[], '{2}'::bigint[], '{60}'::bigint[])"
        #expect(try session.query(take).isEmpty)
        try session.letPass("40 seconds")
        #expect(try session.query(take).isEmpty)
        try session.letPass("30 seconds")
        #expect(try session.query(take).isEmpty)
        #expect((5...30).contains(try session.query(take).only.decode(Int.self)))
    }

    @Test func `concurrent hits in any order never exceed the limit`() async throws {
        let passed = try await atOnce(40) { number in
            let (one, other) = number.isMultiple(of: 2) ? ("\\x01", "\\x02") : ("\\x02", "\\x01")
            let take = SQL(
                stringLiteral:
                    "SELECT wait FROM take_from_limits(ARRAY['\(one)', '\(other)']::bytea[], '{7,7}', '{60,60}')"
            )
            return try DatabaseSession().query(take).isEmpty
        }
        #expect(passed.count { $0 } == 7)
        #expect(try await session.deadlocks() == 0)
    }
}
