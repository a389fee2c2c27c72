import Foundation
import Logging
import TestSupport
import Testing

@testable import Accounts

@Suite("Partitions of drafts", .freshDatabase, .timeLimit(.minutes(30)))
struct PartitionsTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `a draft is in the partition of its day`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            #expect(
                try session.isTrue(
                    """
                    (SELECT tableoid::regclass::text FROM drafts WHERE id = \(draft.id))
                    IN (SELECT 'drafts_' || to_char(created_at AT TIME ZONE 'UTC', 'YYYYMMDD') FROM drafts)
                    """
                )
            )
        }
    }

    @Test func `dropping a partition deletes the rows of every kind`() throws {
        let function = try session.query("SELECT prosrc FROM pg_proc WHERE proname = 'drop_past_draft_partitions'")
            .only.decode(String.self)
        // The reaper deletes leases when they expire.
        for table in KindList.all.flatMap({ $0.draftTables }) where table != "leases" {
            #expect(function.contains("DELETE FROM \(table) WHERE"), "\(table)")
        }
    }

    @Test func `the missing partitions of the coming days are created`() async throws {
        try dropAllButTheDefault()
        try await withDatabase { database in
            let partitions = Partitions(database: database, logger: .silent)
            try await partitions.prepare()
            #expect(try days() == Array(0...7))
            let before = try oids()
            try await partitions.prepare()
            #expect(try oids() == before)

            try session.query("SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date + 9)")
            try session.run("DROP TABLE \(name(ofDay: 3))")
            try await partitions.prepare()
            #expect(try days() == Array(0...7) + [9])
        }
    }

    @Test func `servers that start concurrently create the partitions without errors`() async throws {
        try dropAllButTheDefault()
        try await withDatabase(connections: 6) { database in
            let outcomes = try await atOnce(5) { _ in
                await outcome { try await Partitions(database: database, logger: .silent).prepare() }
            }
            #expect(outcomes.tally == ["done": 5])
        }
        #expect(try days() == Array(0...7))
    }

    @Test func `a day with drafts in the default partition does not prevent the partitions of other days`() async throws
    {
        try dropAllButTheDefault()
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            let partitions = Partitions(database: service.database, logger: .silent)
            await #expect(throws: DatabaseError.self) { try await partitions.prepare() }
            // Only the day of the draft has no partition. It is today, or yesterday if a new day has begun meanwhile.
            #expect(Set(try days()).isSuperset(of: 1...7))
            #expect(try await service.signups.find(token).id == draft.id)
        }
    }

    @Test func `the first error is thrown, also if the list cannot be loaded afterwards`() async throws {
        try dropAllButTheDefault()
        try await TestSignups.with { service in
            _ = try await service.signups.start(in: .english)
            // The partition of tomorrow cannot be created, because the default partition has this draft.
            try session.run("UPDATE drafts SET id = '\(ID<Draft>(at: Date() + 86_400))'")
            // The name has no valid day, so the list cannot be loaded.
            try session.run(
                """
                CREATE TABLE drafts_20269999 PARTITION OF drafts
                    FOR VALUES FROM ('00000000-0000-0000-0000-000000000001')
                               TO ('00000000-0000-0000-0000-000000000002')
                """
            )
            let list = service.signups.partitions
            let unlisted = await #expect(throws: DatabaseError.self) { try await list.load(from: service.database) }
            let partitions = Partitions(database: service.database, days: list, logger: .silent)
            let error = await #expect(throws: DatabaseError.self) { try await partitions.prepare() }
            #expect(unlisted?.sqlState == "22008" && error?.sqlState == "23514")
        }
    }

    @Test func `a statement names the partition of its draft only if it certainly exists`() async throws {
        try session.query("SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date - 20)")
        try await TestSignups.with { service in
            func table(daysAgo days: Double) -> String {
                service.signups.table(of: ID(at: Date() - days * 86_400)).text
            }
            let today = try session.query("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')").only
            #expect(try table(daysAgo: 0) == "drafts_\(today.decode(String.self)) AS drafts")
            #expect(table(daysAgo: -100) == "drafts")
            // A server may drop the old partition at any time.
            #expect(table(daysAgo: 20) == "drafts")
        }
    }

    @Test func `a draft in a partition that another server has dropped is unknown`() async throws {
        try await TestSignups.with { service in
            let token = try await service.signups.start(in: .english).token
            try session.run("DROP TABLE \(name(ofDay: 0))")
            let error = await #expect(throws: FindError.self) { try await service.signups.find(token) }
            guard case .unknown? = error else { throw try #require(error) }
        }
    }

    /// Drops all partitions except the default one, as if no server had run for a week.
    private func dropAllButTheDefault() throws {
        for row in try session.query(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'drafts'::regclass"
        ) {
            let name = try row.decode(String.self)
            if name != "drafts_other" { try session.run("DROP TABLE \(name)") }
        }
        #expect(try days() == [])
    }

    private func name(ofDay day: Int) throws -> String {
        try session.query("SELECT 'drafts_' || to_char((now() AT TIME ZONE 'UTC')::date + \(day)::int, 'YYYYMMDD')")[0]
            .decode(String.self)
    }

    /// The days that have a partition, as numbers of days after today.
    private func days() throws -> [Int] {
        try session.query(
            """
            SELECT to_date(substr(relname, 8), 'YYYYMMDD') - (now() AT TIME ZONE 'UTC')::date AS day
              FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid
             WHERE inhparent = 'drafts'::regclass AND relname <> 'drafts_other' ORDER BY day
            """
        ).map { try $0.decode(Int.self) }
    }

    private func oids() throws -> [Int] {
        try session.query("SELECT inhrelid::int8 FROM pg_inherits WHERE inhparent = 'drafts'::regclass ORDER BY 1")
            .map { try $0.decode(Int.self) }
    }
}
