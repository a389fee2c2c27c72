import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Events as an operator sees them", .freshDatabase)
struct EventOperatorTests {
    private let session: DatabaseSession
    private let shop = EventSubscriber(id: "shop", receiving: ["account.updated"])

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `a retry of all events switches the webhook on, and makes all its deliveries due now`() async throws {
        try await TestSignups.with { service in
            let mina = Operator(service.signups, name: "mina")
            try await service.database.store([shop])
            for _ in 1...2 { try session.run("SELECT write_event(gen_random_uuid(), 'account.updated')") }
            try session.run(
                """
                UPDATE applications SET state = 'off', failures = 9, paused_until = now() + interval '1 hour';
                UPDATE deliveries SET state = 'failed', attempts = 10, due_at = now() + interval '1 hour',
                                      last_error = 'answered 500'
                """
            )
            let failed = try await mina.events(isUndelivered: true, limit: 10).items
            #expect(failed.map { $0.delivery?.state } == ["failed", "failed"])
            #expect(failed.map { $0.delivery?.lastError } == ["answered 500", "answered 500"])
            let count1 = try await mina.retryEvents(of: "blog")
            #expect(count1 == nil)
            let count2 = try await mina.retryEvents(of: "shop")
            #expect(count2 == 2)
            #expect(try session.number(of: "applications WHERE state = 'on' AND paused_until <= now()") == 1)
            #expect(try session.number(of: "deliveries WHERE state = 'waiting' AND due_at <= now()") == 2)
            #expect(try session.number(of: "audit WHERE act = 'retry events' AND operator = 'mina'") == 1)
        }
    }

    @Test func `a retry is refused for an application without a webhook`() async throws {
        try await TestSignups.with { service in
            let mina = Operator(service.signups, name: "mina")
            let blog = EventSubscriber(id: "blog", backchannelLogoutURI: "https://blog.example/logout")
            try await service.database.store([shop, blog])
            let count = try await mina.retryEvents(of: "blog")
            #expect(count == nil)
            #expect(try session.number(of: "audit WHERE act = 'retry events'") == 0)
        }
    }

    @Test func `a retry of one event makes it and the other waiting events of its account due`() async throws {
        try await TestSignups.with { service in
            let mina = Operator(service.signups, name: "mina")
            try await service.database.store([shop, EventSubscriber(id: "blog", receiving: [])])
            for account in [ID<Account>(), ID<Account>()] {
                for _ in 1...3 { try session.query("SELECT write_event(\(account), 'account.updated')") }
            }
            try session.run(
                """
                UPDATE applications SET failures = 9, paused_until = now() + interval '1 hour';
                UPDATE deliveries SET attempts = 7, due_at = now() + interval '1 hour';
                UPDATE deliveries SET state = 'failed' WHERE sequence = 2
                """
            )
            let event = try session.query("SELECT event FROM deliveries WHERE state = 'failed' ORDER BY event LIMIT 1")
                .only.decode(ID<AccountEvent>.self)
            let prefix = try #require(IDPrefix<AccountEvent>("\(event)"))
            let atShop = try await mina.undelivered(prefix, to: "shop")
            #expect(atShop?.count == 1 && atShop?.event == event && atShop?.isWebhookOff == false)
            let atBlog = try await mina.undelivered(prefix, to: "blog")
            #expect(atBlog?.count == 0 && atBlog?.event == nil)
            let isKnown = try await mina.undelivered(prefix, to: "wiki") != nil
            #expect(!isKnown)

            let elsewhere = try await mina.retryEvent(event, of: "blog")
            #expect(elsewhere == 0)
            let count = try await mina.retryEvent(event, of: "shop")
            #expect(count == 2)
            #expect(try session.number(of: "deliveries WHERE due_at <= now() AND attempts = 0 AND sequence < 3") == 2)
            // The event after it becomes due, but keeps its attempts. Those of the other account stay as they are.
            #expect(try session.number(of: "deliveries WHERE due_at <= now() AND attempts = 7 AND sequence = 3") == 1)
            #expect(try session.number(of: "deliveries WHERE due_at <= now()") == 3)
            #expect(try session.number(of: "deliveries WHERE state = 'failed'") == 1)
            #expect(try session.number(of: "applications WHERE id = 'shop' AND paused_until <= now()") == 1)
            #expect(try session.number(of: "audit WHERE act = 'retry events' AND operator = 'mina'") == 2)
            #expect(try session.number(of: "audit WHERE subject = '\(event)'") == 1)
        }
    }

    @Test func `a replay delivers the events of a given period again`() async throws {
        try await TestSignups.with { service in
            let mina = Operator(service.signups, name: "mina")
            try await service.database.store([shop])
            for _ in 1...3 { try session.run("SELECT write_event(gen_random_uuid(), 'account.updated')") }
            try session.run("DELETE FROM deliveries")
            let delivered = try await mina.events(isUndelivered: false, limit: 10).items
            #expect(delivered.count == 3 && delivered.allSatisfy { $0.delivery == nil })
            let undelivered = try await mina.events(isUndelivered: true, limit: 10).items
            #expect(undelivered.isEmpty)
            let count3 = try await mina.replayEvents(of: "shop", over: .seconds(-3600))
            #expect(count3 == 0)
            let count4 = try await mina.replayEvents(of: "shop", over: .seconds(3600))
            #expect(count4 == 3)
            let count5 = try await mina.replayEvents(of: "shop", over: .seconds(3600))
            #expect(count5 == 3)
            #expect(try session.number(of: "deliveries") == 3)
            #expect(try session.number(of: "audit WHERE act = 'replay events'") == 3)
        }
    }
}
