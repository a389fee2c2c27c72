import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Claims on deliveries", .freshDatabase)
struct EventClaimTests {
    private let session: DatabaseSession
    private let shop = EventSubscriber(id: "shop", receiving: ["account.updated"])

    init() throws {
        session = try DatabaseSession()
    }

    /// The ways in which an operator can repeat a delivery.
    enum Repetition: CaseIterable, Sendable {
        case retryOfAll, retryOfOne, replay
    }

    private func with(_ body: (EventQueue, Operator) async throws -> Void) async throws {
        try await TestSignups.with { service in
            try await service.database.store([shop])
            try await body(EventQueue(database: service.database), Operator(service.signups, name: "mina"))
        }
    }

    /// Writes this many events of one new account.
    private func cause(_ count: Int) throws {
        let account = UUID()
        for _ in 1...count { try session.query("SELECT write_event(\(account), 'account.updated')") }
    }

    private func claim(_ queue: EventQueue) async throws -> [EventQueue.Delivery] {
        try await queue.claimDeliveries(["shop": 8])
    }

    private func endClaims() throws {
        try session.run("UPDATE deliveries SET due_at = due_at - interval '2 minutes' WHERE due_at > now()")
    }

    /// Repeats the delivery of an event, and returns the number of deliveries that the operator is told; nil if the
    /// application is unknown.
    private func repeatDelivery(
        of event: ID<AccountEvent>,
        _ repetition: Repetition,
        by mina: Operator
    ) async throws -> Int? {
        switch repetition {
        case .retryOfAll: return try await mina.retryEvents(of: "shop")
        case .retryOfOne: return try await mina.retryEvent(event, of: "shop")
        case .replay: return try await mina.replayEvents(of: "shop", over: .seconds(3600))
        }
    }

    @Test(arguments: Repetition.allCases)
    func `an event is not sent again while it is being sent`(repetition: Repetition) async throws {
        try await with { queue, mina in
            try cause(1)
            let delivery = try #require(try await claim(queue).first)
            let count = try await repeatDelivery(of: delivery.event.id, repetition, by: mina)
            #expect(count == 1)
            let others = try await claim(queue)
            #expect(others.isEmpty)
            try await queue.finish(delivery)
            #expect(try session.number(of: "deliveries") == 0)
        }
    }

    @Test(arguments: Repetition.allCases)
    func `a retry during an attempt takes effect when the attempt has failed`(repetition: Repetition) async throws {
        try await with { queue, mina in
            try cause(2)
            let delivery = try #require(try await claim(queue).first)
            _ = try await repeatDelivery(of: delivery.event.id, repetition, by: mina)
            try await queue.recordFailure(
                of: delivery,
                "answered 500",
                retryIn: nil,
                pausing: 0,
                disablesWebhook: false
            )
            #expect(try session.number(of: "deliveries WHERE state = 'failed'") == 0)
            let again = try await claim(queue)
            #expect(again.map(\.event.id) == [delivery.event.id] && again.first?.attempts == 1)
            let first = try #require(again.first)
            try await queue.recordFailure(of: first, "answered 500", retryIn: 300, pausing: 0, disablesWebhook: false)
            #expect(try session.number(of: "deliveries WHERE due_at > now() + interval '4 minutes'") == 2)
        }
    }

    @Test(arguments: Repetition.allCases)
    func `an event that a dead server was sending can be retried, and is sent again`(repetition: Repetition)
        async throws
    {
        try await with { queue, mina in
            try cause(1)
            let lost = try #require(try await claim(queue).first)
            _ = try await repeatDelivery(of: lost.event.id, repetition, by: mina)
            try endClaims()
            let second = try await claim(queue)
            #expect(second.map(\.event.id) == [lost.event.id])
            try endClaims()
            _ = try await repeatDelivery(of: lost.event.id, repetition, by: mina)
            let third = try await claim(queue)
            #expect(third.map(\.event.id) == [lost.event.id])
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `a failure is stored while a retry or a removal of the application waits for another event`(isRetry: Bool)
        async throws
    {
        try await with { queue, mina in
            let accounts = ["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"]
            for account in accounts { try session.run("SELECT write_event('\(account)', 'account.updated')") }
            let holder = try DatabaseSession()
            try holder.run("BEGIN; SELECT FROM deliveries WHERE account = '\(accounts[0])' FOR UPDATE")
            let delivery = try #require(try await claim(queue).first)
            let other = Task {
                if isRetry {
                    _ = try await mina.retryEvents(of: "shop")
                } else {
                    try await queue.database.store([])
                }
            }
            try await session.waitUntilSomebodyIsBlocked()
            // With a lock on the application, the other transaction would let this one wait, and both would deadlock.
            try await queue.recordFailure(
                of: delivery,
                "answered 500",
                retryIn: 300,
                pausing: 0,
                disablesWebhook: false
            )
            try holder.run("COMMIT")
            try await other.value
            #expect(try session.number(of: "deliveries") == (isRetry ? 2 : 0))
        }
    }

    @Test func `a result that arrives after its claim has ended changes nothing`() async throws {
        try await with { queue, _ in
            try cause(2)
            let late = try #require(try await claim(queue).first)
            try endClaims()
            let current = try #require(try await claim(queue).first)
            #expect(current.event.id == late.event.id && current.claimID != late.claimID)
            try await queue.recordFailure(of: late, "answered 500", retryIn: 86_400, pausing: 0, disablesWebhook: false)
            #expect(try session.number(of: "deliveries WHERE due_at < now() + interval '1 hour'") == 2)
            #expect(try session.number(of: "deliveries WHERE last_error IS NULL") == 2)
            try await queue.finish(late)
            #expect(try session.number(of: "deliveries") == 2)
            try await queue.finish(current)
            #expect(try session.number(of: "deliveries") == 1)
        }
    }

    @Test func `a late result of a logout changes nothing, except that the application has accepted it`() async throws {
        try await with { queue, _ in
            try session.run(
                """
                INSERT INTO logouts (sid, application, account)
                VALUES (gen_random_uuid(), 'shop', gen_random_uuid())
                """
            )
            let late = try #require(try await queue.claimLogouts(["shop": 8]).first)
            try session.run("UPDATE logouts SET due_at = now()")
            let current = try #require(try await queue.claimLogouts(["shop": 8]).first)
            #expect(current.sid == late.sid && current.attempts == late.attempts + 1)
            let hasGivenUp = try await queue.giveUp(late)
            #expect(!hasGivenUp)
            try await queue.recordFailure(of: late, "answered 500", retryIn: 86_400)
            #expect(try session.number(of: "logouts WHERE last_error IS NULL") == 1)
            try await queue.finish(late)
            #expect(try session.number(of: "logouts") == 0)
        }
    }

    @Test func `a success does not end the pause that the application has asked for`() async throws {
        try await with { queue, _ in
            try cause(1)
            try cause(1)
            let deliveries = try await claim(queue)
            try #require(deliveries.count == 2)
            try await queue.recordFailure(
                of: deliveries[0],
                "answered 429",
                retryIn: 60,
                pausing: 60,
                disablesWebhook: false
            )
            try await queue.finish(deliveries[1])
            #expect(try session.number(of: "applications WHERE failures = 0") == 1)
            #expect(try session.number(of: "applications WHERE paused_until > now() + interval '30 seconds'") == 1)
        }
    }

    @Test func `an application that keeps failing gets no event while another one is being sent`() async throws {
        try await with { queue, _ in
            for _ in 1...2 { try cause(1) }
            try session.run("UPDATE applications SET failures = 5")
            let first = try await claim(queue)
            let second = try await claim(queue)
            #expect(first.count == 1 && second.isEmpty)
            try await queue.finish(try #require(first.first))
            let third = try await claim(queue)
            #expect(third.count == 1)
        }
    }

    @Test func `the failure of an event does not extend the claim on a later event of the account`() async throws {
        try await with { queue, mina in
            try cause(2)
            try session.run("UPDATE deliveries SET state = 'failed' WHERE sequence = 1")
            let later = try #require(try await claim(queue).first)
            let failed = try session.query("SELECT event FROM deliveries WHERE sequence = 1").only
                .decode(ID<AccountEvent>.self)
            _ = try await mina.retryEvent(failed, of: "shop")
            let earlier = try #require(try await claim(queue).first)
            #expect(earlier.event.sequence == 1 && later.event.sequence == 2)
            try await queue.recordFailure(
                of: earlier,
                "answered 500",
                retryIn: 86_400,
                pausing: 0,
                disablesWebhook: false
            )
            #expect(try session.number(of: "deliveries WHERE due_at < now() + interval '1 hour'") == 1)
        }
    }
}
