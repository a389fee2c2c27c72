import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("Servers with different applications", .freshDatabase)
struct SubscriptionCheckTests {
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
            #expect(log.text.contains("give all servers the same file, then send SIGHUP to each"))

            try await database.store([shop, blog])
            await check.check()
            try await database.store([])
            for _ in 1...3 { await check.check() }
            #expect(log.lines.count == 2 && log.lines.last?["applications"] == "blog shop")
        }
    }
}
