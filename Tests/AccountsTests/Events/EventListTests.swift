import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("The list of events", .freshDatabase)
struct EventListTests {
    private let session: DatabaseSession
    private let shop = EventSubscriber(id: "shop", receiving: ["account.updated"])

    init() throws {
        session = try DatabaseSession()
    }

    private func cause(_ type: String = "account.updated", _ connection: DatabaseSession? = nil) throws -> String {
        let account = ID<Account>()
        try (connection ?? session).query("SELECT write_event(\(account), \(type))")
        return "\(account)"
    }

    private func accounts(_ events: [JSON]) -> [String] {
        events.compactMap { $0["data"]?["account"]?["id"]?.string }
    }

    @Test func `an application pages through the events that it wants`() async throws {
        try await TestSignups.with { service in
            let blog = EventSubscriber(id: "blog", receiving: ["account.erased"])
            try await service.database.store([shop, blog])
            var caused: [String] = []
            for _ in 1...5 { caused.append(try cause()) }
            _ = try cause("account.erased")
            try await session.waitUntilEventsAreListed()
            var (seen, cursor) = ([] as [String], EventCursor.start)
            while true {
                let (events, next, _) = try #require(await service.database.events(for: shop, after: cursor, limit: 2))
                if events.isEmpty {
                    #expect(next == cursor)
                    break
                }
                #expect(events.count <= 2 && events.allSatisfy { $0["type"] == "account.updated" })
                seen += accounts(events)
                cursor = try #require(EventCursor(next.text))
            }
            #expect(seen == caused)
        }
    }

    @Test func `the events of one transaction have the order in which it wrote them`() async throws {
        try await TestSignups.with { service in
            try await service.database.store([shop])
            var statements = "BEGIN;"
            let accounts = (1...100).map { _ in "\(ID<Account>())" }
            for account in accounts { statements += "SELECT write_event('\(account)', 'account.updated');" }
            try session.run(statements + "COMMIT")
            try await session.waitUntilEventsAreListed()
            let (events, _, _) = try #require(await service.database.events(for: shop, after: .start, limit: 100))
            #expect(self.accounts(events) == accounts)
        }
    }

    @Test func `a cursor of another cluster is refused`() async throws {
        try await TestSignups.with { service in
            try await service.database.store([shop])
            let present = try session.query("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").only.decode(
                String.self
            )
            for (distance, isRefused) in [(-1, false), (1_000_000, true)] {
                let number = try #require(Int(present)) + distance
                let cursor = try #require(EventCursor("\(number)-0198c0de-0000-7000-8000-000000000001"))
                let list = try await service.database.events(for: shop, after: cursor, limit: 2)
                #expect((list == nil) == isRefused)
            }
        }
    }

    @Test func `events stay in order when the number of the transaction gains a digit`() async throws {
        try await TestSignups.with { service in
            try await service.database.store([shop])
            var caused: [String] = []
            for number in 98...101 {
                let account = try cause()
                try session.run("UPDATE events SET xid = '\(number)' WHERE account = '\(account)'")
                caused.append(account)
            }
            var (seen, cursor) = ([] as [String], EventCursor.start)
            for _ in 1...2 {
                let (events, next, _) = try #require(await service.database.events(for: shop, after: cursor, limit: 2))
                seen += accounts(events)
                cursor = next
            }
            #expect(seen == caused)
            let mina = Operator(service.signups, name: "mina")
            var latest = try #require(await mina.tailEvents(of: nil, last: 2))
            let followed = try await latest.next()
            #expect(followed.map { "\($0.account)" } == Array(caused.suffix(2)))
        }
    }

    @Test func `an event that is committed late is not skipped`() async throws {
        try await TestSignups.with { service in
            try await service.database.store([shop])
            let slow = try DatabaseSession()
            try slow.run("BEGIN")
            let late = try cause("account.updated", slow)
            let early = try cause()
            let before = try #require(await service.database.events(for: shop, after: .start, limit: 100))
            #expect(before.events.isEmpty)
            try slow.run("COMMIT")
            try await session.waitUntilEventsAreListed()
            let after = try #require(await service.database.events(for: shop, after: before.next, limit: 100))
            #expect(accounts(after.events) == [late, early])
        }
    }

    @Test func `the cursor skips unwanted events, but no event that is committed late`() async throws {
        try await TestSignups.with { service in
            try await service.database.store([shop, EventSubscriber(id: "blog", receiving: ["account.erased"])])
            let wanted = try cause()
            _ = try cause("account.erased")
            try await session.waitUntilEventsAreListed()
            let last = try session.query("SELECT id::text FROM events ORDER BY xid DESC LIMIT 1").only
                .decode(String.self)
            let first = try #require(await service.database.events(for: shop, after: .start, limit: 100))
            #expect(accounts(first.events) == [wanted] && first.next.text.hasSuffix(last) && !first.mayHaveMore)

            // The cursor does not skip an event that is committed late.
            let slow = try DatabaseSession()
            try slow.run("BEGIN")
            let late = try cause("account.updated", slow)
            _ = try cause("account.erased")
            let before = try #require(await service.database.events(for: shop, after: first.next, limit: 100))
            #expect(before.events.isEmpty && before.next == first.next && !before.mayHaveMore)
            try slow.run("COMMIT")
            try await session.waitUntilEventsAreListed()
            let after = try #require(await service.database.events(for: shop, after: before.next, limit: 100))
            #expect(accounts(after.events) == [late] && !after.mayHaveMore)
        }
    }

    @Test func `a list reads a bounded number of events, and may be empty although there are more`() async throws {
        try await TestSignups.with { service in
            try await service.database.store([shop])
            let first = try cause()
            try session.run(
                """
                INSERT INTO events (id, account, sequence, type)
                SELECT gen_random_uuid(), gen_random_uuid(), 1, 'account.erased'
                  FROM generate_series(1, \(2 * Database.maximumEventsReadForPage))
                """
            )
            let last = try cause()
            try await session.waitUntilEventsAreListed()
            var (lists, more, cursor) = ([] as [[String]], [] as [Bool], EventCursor.start)
            for _ in 1...4 {
                let (events, next, mayHaveMore) = try #require(
                    await service.database.events(for: shop, after: cursor, limit: 100)
                )
                lists.append(accounts(events))
                more.append(mayHaveMore)
                cursor = try #require(EventCursor(next.text))
            }
            #expect(lists == [[first], [], [last], []])
            #expect(more == [true, true, false, false])

            let mina = Operator(service.signups, name: "mina")
            var tail = try #require(await mina.tailEvents(of: "shop", last: 10))
            var seen: [String] = []
            repeat { seen += try await tail.next().map { "\($0.account)" } } while tail.mayHaveMore
            #expect(seen == [first, last])
        }
    }

    @Test func `a list of events says whether more events follow`() async throws {
        try await TestSignups.with { service in
            try await service.database.store([shop])
            for _ in 1...3 { _ = try cause() }
            try await session.waitUntilEventsAreListed()
            let full = try #require(await service.database.events(for: shop, after: .start, limit: 2))
            let rest = try #require(await service.database.events(for: shop, after: full.next, limit: 2))
            #expect(full.events.count == 2 && full.mayHaveMore && rest.events.count == 1 && !rest.mayHaveMore)
        }
    }

    @Test func `an operator follows the events, and an event that is committed late is not skipped`() async throws {
        try await TestSignups.with { service in
            let mina = Operator(service.signups, name: "mina")
            try await service.database.store([shop, EventSubscriber(id: "blog", receiving: ["account.erased"])])
            let isKnown = try await mina.tailEvents(of: "wiki", last: 10) != nil
            #expect(!isKnown)
            var caused: [String] = []
            for type in ["account.updated", "account.updated", "account.erased"] { caused.append(try cause(type)) }
            try await session.waitUntilEventsAreListed()
            var all = try #require(await mina.tailEvents(of: nil, last: 2))
            var erasures = try #require(await mina.tailEvents(of: "blog", last: 10))
            let (latest, erased) = (try await all.next(), try await erasures.next())
            #expect(latest.map { "\($0.account)" } == Array(caused.suffix(2)))
            #expect(erased.map { "\($0.account)" } == Array(caused.suffix(1)))

            let slow = try DatabaseSession()
            try slow.run("BEGIN")
            let late = try cause("account.updated", slow)
            let early = try cause()
            let before = try await all.next()
            #expect(before.isEmpty)
            try slow.run("COMMIT")
            try await session.waitUntilEventsAreListed()
            let after = try await all.next()
            #expect(after.map { "\($0.account)" } == [late, early])
            let others = try await erasures.next()
            #expect(others.isEmpty)
        }
    }

    @Test(arguments: [
        "", "1", "-", "x-0198c0de-0000-7000-8000-000000000001", "1-x", "-1-2", "99999999999999999999-1",
        "-5-0198c0de-0000-7000-8000-000000000001", "+5-0198c0de-0000-7000-8000-000000000001",
        "007-0198c0de-0000-7000-8000-000000000001",
    ])
    func `a text that is not a cursor is refused`(text: String) {
        #expect(EventCursor(text) == nil)
    }
}
