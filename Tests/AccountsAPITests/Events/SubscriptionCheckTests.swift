import Accounts
import Synchronization
import TestSupport
import Testing

@testable import accounts_api

@Suite("Servers with different applications", .freshDatabase)
struct SubscriptionCheckTests {
    @Test
    func `servers that get a new file one after another within a minute warn of nothing, and one left behind warns`()
        async throws
    {
        try await withDatabase { database in
            let (old, new) = (
                [EventSubscriber(id: "shop")], [EventSubscriber(id: "shop"), EventSubscriber(id: "blog")]
            )
            let log = CapturedLog()
            // The applications of three servers as their files say when they were read last.
            let files = Mutex([old, old, old])
            var checks = (0..<3).map { server in
                SubscriptionCheck(
                    subscribers: { files.withLock { $0[server] } },
                    database: database,
                    logger: log.logger
                )
            }
            func checkAll() async { for server in checks.indices { await checks[server].check() } }
            func reload(_ server: Int, _ file: [EventSubscriber]) async throws {
                files.withLock { $0[server] = file }
                try await database.store(file)
            }
            try await database.store(old)
            await checkAll()
            // Two reload before the next check, and the third between its checks.
            try await reload(0, new)
            try await reload(1, new)
            await checkAll()
            try await reload(2, new)
            for _ in 1...3 { await checkAll() }
            #expect(log.lines.isEmpty)

            // The third one restarts with the file of before, and so decides for all.
            try await reload(2, old)
            for _ in 1...3 { await checkAll() }
            #expect(log.lines.count == 2 && log.lines.allSatisfy { $0["applications"] == "blog" }, "the other two")
            // A signal to one of them makes the third the one that warns.
            try await reload(0, new)
            for _ in 1...3 { await checkAll() }
            #expect(log.lines.count == 3)
            try await reload(2, new)
            for _ in 1...3 { await checkAll() }
            #expect(log.lines.count == 3)
        }
    }

    @Test func `a difference that lasts causes one warning, and the next difference another one`() async throws {
        try await withDatabase { database in
            let (shop, blog) = (EventSubscriber(id: "shop"), EventSubscriber(id: "blog"))
            let log = CapturedLog()
            var check = SubscriptionCheck(subscribers: { [shop, blog] }, database: database, logger: log.logger)
            try await database.store([shop, blog])
            for _ in 1...3 { await check.check() }
            #expect(log.lines.isEmpty)

            try await database.store([shop])
            await check.check()
            #expect(log.lines.isEmpty, "other servers may be reloading at this moment")
            for _ in 1...3 { await check.check() }
            #expect(log.lines.count == 1)
            #expect(log.lines.first?["level"] == "warning" && log.lines.first?["applications"] == "blog")
            #expect(log.text.contains("give all servers the same APPLICATIONS_FILE, then restart"))

            try await database.store([shop, blog])
            await check.check()
            try await database.store([])
            for _ in 1...3 { await check.check() }
            #expect(log.lines.count == 2 && log.lines.last?["applications"] == "blog shop")
        }
    }
}
