import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import Accounts

@Suite("Parallel delivery", .freshDatabase, .timeLimit(.minutes(30)))
struct OutboxSenderTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// A sender whose deliveries last until the test ends them.
    private struct HeldSender {
        let sender: OutboxSender
        let mailers: [HeldMailer]
        let clock = TestClock()
        let deliveries: AsyncStream<HeldMailer.Delivery>

        init(_ service: TestSignups, mailers count: Int) {
            let (deliveries, begun) = AsyncStream.makeStream(of: HeldMailer.Delivery.self)
            self.deliveries = deliveries
            mailers = (0..<count).map { _ in HeldMailer(begun) }
            sender = Self.sender(service, mailers, clock)
        }

        static func sender(
            _ service: TestSignups,
            _ mailers: [any Mailer],
            _ clock: any Clock<Duration> = ContinuousClock()
        ) -> OutboxSender {
            OutboxSender(
                outbox: service.signups.outbox,
                database: service.database,
                mailers: mailers,
                from: "no-reply@acme.example",
                serviceName: "Acme",
                publicURL: "http://localhost:8080",
                recoversSignIn: true,
                clock: clock,
                logger: .silent
            )
        }

        /// Waits until the next delivery begins.
        func next() async throws -> HeldMailer.Delivery {
            var iterator = deliveries.makeAsyncIterator()
            let next = await iterator.next()
            return try #require(next)
        }
    }

    /// Runs the sender until the body returns.
    private func running(_ sender: OutboxSender, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await sender.run() }
            try await body()
            group.cancelAll()
        }
    }

    /// Submits an address in a new draft. This causes a mail with a code, or, for an address with an account, the mail
    /// that replaces it.
    private func enter(_ address: String, at service: TestSignups, from network: String = "192.0.2.1") async throws {
        let signups = service.signups.from(Network(try #require(IPAddress(network))))
        let step = try #require(signups.flow.step(named: "email"))
        let draft = try await signups.start(in: .english).draft
        _ = try await signups.submit(["email": .string(address)], to: step, of: draft)
    }

    private func recipients(_ mails: [ClaimedMail], at service: TestSignups) -> [String] {
        mails.compactMap { service.signups.outbox.open($0.sealed, of: $0.id)?.to }.sorted()
    }

    /// A sender that tells the test when the shutdown has reached it.
    private struct Watched: Service {
        let sender: OutboxSender
        let stop: AsyncStream<Void>.Continuation

        func run() async throws {
            await withGracefulShutdownHandler {
                await sender.run()
            } onGracefulShutdown: {
                stop.yield()
            }
        }
    }

    // MARK: - Withheld mail

    @Test(arguments: [true, false])
    func `as many mails wait after a request for another code, whether the address has an account or not`(
        isRegistered: Bool
    ) async throws {
        try await TestSignups.with { service in
            if isRegistered {
                _ = try await service.signups.commit(service.readyDraft(email: "target@example.com"))
                try await service.deliver()
            }
            let code = try #require(service.signups.flow.step(named: "code"))
            let draft = try await service.submit(
                ["email": "target@example.com"],
                to: "email",
                of: service.start()
            )
            for _ in 1...3 {
                try session.letPass("61 seconds")
                _ = try await service.signups.resend(code, of: service.signups.reread(draft))
            }
            let waiting = try session.query("SELECT template FROM outbox WHERE state = 'waiting'")
                .map { try $0.decode(String.self) }
            #expect(waiting == [isRegistered ? "already-registered" : "verification-code"])
        }
    }

    @Test func `a request for another code while a notice is being delivered adds no second notice`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft(email: "target@example.com"))
            try await service.deliver()
            let draft = try await service.submit(
                ["email": "target@example.com"],
                to: "email",
                of: service.start()
            )
            try session.letPass("61 seconds")
            try session.run("UPDATE outbox SET sending_until = now() + interval '1 minute' WHERE state = 'waiting'")
            let code = try #require(service.signups.flow.step(named: "code"))
            _ = try await service.signups.resend(code, of: service.signups.reread(draft))
            let waiting = try session.query("SELECT template FROM outbox WHERE state = 'waiting'")
                .map { try $0.decode(String.self) }
            #expect(waiting == ["withheld"])
        }
    }

    @Test(arguments: [true, false])
    func `the mail after a withheld mail arrives at the same time as the mail after a delivered one`(isRegistered: Bool)
        async throws
    {
        try await TestSignups.with { service in
            if isRegistered {
                _ = try await service.signups.commit(service.readyDraft(email: "target@example.com"))
                try await enter("target@example.com", at: service)
                try await service.deliver()
            }
            for name in ["first", "target", "probe"] { try await enter("\(name)@example.com", at: service) }
            let withheld = try session.number(of: "outbox WHERE template = 'withheld' AND state = 'waiting'")
            #expect(withheld == (isRegistered ? 1 : 0))

            let held = HeldSender(service, mailers: 1)
            try await running(held.sender) {
                let first = try await held.next()
                #expect(first.mail.to == "first@example.com")
                held.clock.advance(by: .seconds(3))
                first.end()
                if isRegistered {
                    try await held.clock.waitForSleepers(1)
                    #expect(held.clock.waits == [.seconds(3)])
                    held.clock.advance(by: .seconds(2))
                    #expect(try session.number(of: "outbox WHERE state = 'waiting' AND attempts = 0") == 1)
                    held.clock.advance(by: .seconds(1))
                } else {
                    let target = try await held.next()
                    #expect(target.mail.to == "target@example.com")
                    held.clock.advance(by: .seconds(3))
                    target.end()
                }
                let probe = try await held.next()
                #expect(probe.mail.to == "probe@example.com")
                #expect(held.clock.now.offset == .seconds(6))
                #expect(held.mailers.map(\.connections) == [3])
                probe.end()
                try await session.wait(for: "SELECT WHERE NOT EXISTS (SELECT FROM outbox WHERE state = 'waiting')")
            }
        }
    }

    // MARK: - Several mails at a time

    @Test func `as many mails are in delivery as there are mailers, and no more are claimed`() async throws {
        try await TestSignups.with { service in
            for number in 1...5 { try await enter("kim\(number)@example.com", at: service) }
            let held = HeldSender(service, mailers: 3)
            try await running(held.sender) {
                var deliveries: [HeldMailer.Delivery] = []
                for _ in 1...3 { deliveries.append(try await held.next()) }
                #expect(Set(deliveries.map(\.mail.to)) == Set((1...3).map { "kim\($0)@example.com" }))
                #expect(try session.number(of: "outbox WHERE attempts = 0") == 2)
                deliveries.removeFirst().end()
                deliveries.append(try await held.next())
                #expect(deliveries.last?.mail.to == "kim4@example.com")
                #expect(try session.number(of: "outbox WHERE attempts = 0") == 1)
            }
        }
    }

    @Test func `a mailer that fails does not disturb the others, and its mail is retried`() async throws {
        try await TestSignups.with { service in
            for number in 1...2 { try await enter("kim\(number)@example.com", at: service) }
            // Then the next attempt is not due while this test runs.
            try session.run("UPDATE outbox SET useless_after = created_at + interval '2 days'")
            let held = HeldSender(service, mailers: 2)
            try await running(held.sender) {
                let (one, other) = (try await held.next(), try await held.next())
                one.end(with: .temporary(reply: nil, reason: "the server is gone"))
                try await session.wait(
                    for: """
                        SELECT FROM outbox WHERE state = 'waiting' AND attempts = 1 AND sending_until IS NULL
                           AND last_error = 'not delivered yet: the server is gone' AND due_at > now()
                        """
                )
                #expect(try session.number(of: "outbox WHERE sending_until > now()") == 1)
                other.end()
                try await session.wait(for: "SELECT FROM outbox WHERE state = 'delivered'")
            }
        }
    }

    @Test func `an attempt that outlasts its claim leaves the mail to the server that has claimed it since`()
        async throws
    {
        try await TestSignups.with { service in
            try await enter("kim@example.com", at: service)
            let held = HeldSender(service, mailers: 1)
            let sender = held.sender
            async let attempt = sender.deliverNext()
            let delivery = try await held.next()
            try session.run("UPDATE outbox SET due_at = now(), sending_until = now()")
            #expect(try await service.signups.outbox.claim(1, on: service.database).count == 1)
            delivery.end(with: .temporary(reply: nil, reason: "the server is gone"))
            _ = try await attempt
            #expect(try session.number(of: "outbox WHERE sending_until > now() AND last_error IS NULL") == 1)
        }
    }

    @Test(arguments: [
        MailError.temporary(reply: nil, reason: "the server is gone"),
        .permanent(reply: 550, reason: "no such mailbox"),
    ])
    func `a mail that an operator retries during its last attempt gets another one`(error: MailError) async throws {
        try await TestSignups.with { service in
            try await enter("kim@example.com", at: service)
            try session.run("UPDATE outbox SET attempts = \(OutboxSender.maximumAttempts - 1)")
            let held = HeldSender(service, mailers: 1)
            let sender = held.sender
            async let attempt = sender.deliverNext()
            let delivery = try await held.next()
            let mail = try session.query("SELECT id FROM outbox").only.decode(ID<Outbox>.self)
            #expect(try await Operator(service.signups, name: "mina").retry(mail))
            delivery.end(with: error)
            _ = try await attempt
            #expect(try session.number(of: "outbox WHERE state = 'waiting' AND attempts = 0 AND due_at <= now()") == 1)
            #expect(try await service.sender.deliverNext())
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com"])
        }
    }

    @Test(arguments: [
        MailError.temporary(reply: nil, reason: "the server is gone"),
        .permanent(reply: 550, reason: "no such mailbox"),
    ])
    func `an attempt that outlasts its claim leaves the mail to another server even after a retry`(error: MailError)
        async throws
    {
        try await TestSignups.with { service in
            try await enter("kim@example.com", at: service)
            let held = HeldSender(service, mailers: 1)
            let sender = held.sender
            async let attempt = sender.deliverNext()
            let delivery = try await held.next()
            let mail = try session.query("SELECT id FROM outbox").only.decode(ID<Outbox>.self)
            #expect(try await Operator(service.signups, name: "mina").retry(mail))
            try session.run("UPDATE outbox SET sending_until = now()")
            let claimed = try await service.signups.outbox.claim(1, on: service.database)
            #expect(claimed.map(\.attempts) == [1], "both claims have the same number of attempts")
            delivery.end(with: error)
            _ = try await attempt
            #expect(
                try session.number(
                    of: "outbox WHERE state = 'waiting' AND sending_until > now() AND last_error IS NULL"
                ) == 1
            )
        }
    }

    @Test func `a shutdown waits for the mails in delivery and claims no others`() async throws {
        try await TestSignups.with { service in
            for number in 1...3 { try await enter("kim\(number)@example.com", at: service) }
            let held = HeldSender(service, mailers: 2)
            let (stops, stop) = AsyncStream.makeStream(of: Void.self)
            let services = ServiceGroup(services: [Watched(sender: held.sender, stop: stop)], logger: .silent)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await services.run() }
                let deliveries = [try await held.next(), try await held.next()]
                await services.triggerGracefulShutdown()
                for await _ in stops { break }
                for delivery in deliveries { delivery.end() }
                try await group.waitForAll()
            }
            #expect(try session.number(of: "outbox WHERE state = 'delivered' AND attempts = 1") == 2)
            #expect(try session.number(of: "outbox WHERE state = 'waiting' AND attempts = 0") == 1)
        }
    }

    @Test func `each mail over several connections to a real server arrives once`() async throws {
        let catcher = try await MailCatcher.start(.delay(milliseconds: 20))
        let server = try SMTPServer(url: catcher.url)
        let mailers = (0..<4).map { _ in SMTPMailer(to: server) }
        try await TestSignups.with { service in
            for number in 1...20 { try await enter("kim\(number)@example.com", at: service) }
            try await running(HeldSender.sender(service, mailers)) {
                var recipients: [String] = []
                for _ in 1...20 { recipients += try await catcher.next().to }
                #expect(Set(recipients) == Set((1...20).map { "kim\($0)@example.com" }))
                try await session.wait(for: "SELECT WHERE NOT EXISTS (SELECT FROM outbox WHERE state = 'waiting')")
            }
            #expect(try session.number(of: "outbox WHERE state = 'delivered' AND attempts = 1") == 20)
        }
        for mailer in mailers { await mailer.shutdown() }
        #expect(try await catcher.stop().isEmpty)
    }

    // MARK: - Turns

    @Test func `the mail of a network does not wait for a hundred mails of another`() async throws {
        try await TestSignups.with { service in
            for number in 100..<200 {
                try await enter("a\(number)@example.com", at: service, from: "192.0.2.1")
            }
            try await enter("b@example.com", at: service, from: "192.0.2.2")
            let mails = try await service.signups.outbox.claim(8, on: service.database)
            #expect(recipients(mails, at: service) == (100..<107).map { "a\($0)@example.com" } + ["b@example.com"])
        }
    }

    @Test func `the mail of a network does not wait for the retries of another`() async throws {
        try await TestSignups.with { service in
            for number in 1...20 { try await enter("a\(number)@example.com", at: service, from: "192.0.2.1") }
            #expect(try await service.signups.outbox.claim(20, on: service.database).count == 20)
            try session.run("UPDATE outbox SET due_at = now(), sending_until = NULL")
            try await enter("b@example.com", at: service, from: "192.0.2.2")
            let mails = try await service.signups.outbox.claim(1, on: service.database)
            #expect(recipients(mails, at: service) == ["b@example.com"])
            #expect(try await service.signups.outbox.claim(100, on: service.database).count == 20)
        }
    }

    // MARK: - Wakeups

    @Test func `a step that sends no mail does not wake the sender`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            let wakeups = service.signups.outbox.wakeups
            for await _ in wakeups { break }
            // The username is reserved in a transaction of its own, as a code is.
            _ = try await service.submit(["username": "kim", "display_name": "Kim"], to: "profile", of: draft)
            let isWoken = Task {
                // A cancelled task gets the wakeups that have happened, and waits for no other.
                withUnsafeCurrentTask { $0?.cancel() }
                for await _ in wakeups { return true }
                return false
            }
            #expect(await isWoken.value == false)
        }
    }

    @Test func `due mail is told from mail that waits for its next attempt`() async throws {
        try await TestSignups.with { service in
            let outbox = service.signups.outbox
            #expect(try await outbox.hasDueMail(on: service.database) == false)
            try await enter("kim@example.com", at: service)
            #expect(try await outbox.hasDueMail(on: service.database))
            _ = try await outbox.claim(1, on: service.database)
            #expect(try await outbox.hasDueMail(on: service.database) == false)
            try session.run("UPDATE outbox SET due_at = now()")
            #expect(try await outbox.hasDueMail(on: service.database))
        }
    }

    // MARK: - One address

    @Test func `the second mail to an address is delivered after the first`() async throws {
        try await TestSignups.with { service in
            for network in ["192.0.2.1", "192.0.2.2"] {
                try await enter("kim@example.com", at: service, from: network)
            }
            try await enter("lee@example.com", at: service)
            let outbox = service.signups.outbox
            let mails = try await outbox.claim(8, on: service.database)
            #expect(recipients(mails, at: service) == ["kim@example.com", "lee@example.com"])
            #expect(try await outbox.claim(8, on: service.database).isEmpty)

            // If the server dies, its mails are not lost: they are due again, and the older mail to an address comes
            // first.
            try session.letPass("2 minutes")
            let again = try await outbox.claim(8, on: service.database)
            #expect(Set(again.map(\.id)) == Set(mails.map(\.id)))
            try session.run("UPDATE outbox SET sending_until = NULL WHERE attempts > 0")
            let last = try await outbox.claim(8, on: service.database)
            #expect(recipients(last, at: service) == ["kim@example.com"])
            #expect(Set(last.map(\.id)).isDisjoint(with: mails.map(\.id)))
        }
    }

    @Test func `two servers do not deliver two mails to an address at the same time`() async throws {
        try await TestSignups.with { service in
            for _ in 1...2 { try await enter("kim@example.com", at: service) }
            let claims = try await atOnce(4) { _ in
                try await service.signups.outbox.claim(8, on: service.database)
            }
            #expect(claims.joined().count == 1)
        }
    }

    // MARK: - Digests

    @Test func `digests that a server of the previous version has left are erased, and those of waiting mail stay`()
        async throws
    {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            try await service.sender.eraseDigests()
            #expect(try session.number(of: "outbox WHERE recipient IS NOT NULL AND network IS NOT NULL") == 1)
            // A server of the previous version executes this statement after a delivery.
            try session.run("UPDATE outbox SET state = 'delivered', sealed = NULL, finished_at = now()")
            try await service.sender.eraseDigests()
            #expect(try session.number(of: "outbox WHERE recipient IS NULL AND network IS NULL") == 1)
        }
    }

    @Test func `the erasure of digests does not read the mail that was delivered`() throws {
        // Small tables are read as a whole otherwise.
        try session.run("SET enable_seqscan = off")
        let plan = try session.query("EXPLAIN \(OutboxSender.eraseLeftDigests)").map { try $0.decode(String.self) }
        #expect(plan.contains { $0.contains("outbox_left_digests") })
    }

    @Test func `the digest of a network differs from day to day, and that of an address does not`() throws {
        let outbox = Outbox(keys: try KeyRing(TestSignups.keys))
        let network = Network(try #require(IPAddress("192.0.2.1")))
        func seal(_ network: Network, _ day: TimeInterval) -> Outbox.Sealed {
            outbox.seal(
                .init(to: "kim@example.com", language: .english, code: nil),
                from: network,
                at: Date(timeIntervalSince1970: day * 86_400)
            )
        }
        #expect(seal(network, 20_000).networkDigest == seal(network, 20_000.9).networkDigest)
        #expect(seal(network, 20_000).networkDigest != seal(network, 20_001).networkDigest)
        #expect(seal(network, 20_000).networkDigest != seal(.unknown, 20_000).networkDigest)
        #expect(seal(network, 20_000).recipientDigest == seal(.unknown, 20_001).recipientDigest)
    }

    @Test func `waiting mail has both digests, and delivered or dead mail has none`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft())
            #expect(
                try session.number(
                    of: "outbox WHERE state = 'waiting' AND length(network) = 32 AND length(recipient) = 32"
                ) == 1
            )
            try await service.deliver()
            try await enter("lee@example.com", at: service)
            service.mailbox.refuse(with: .permanent(reply: 550, reason: "no such mailbox"))
            try await service.deliver()
            #expect(try session.number(of: "outbox WHERE state = 'delivered'") == 2)
            #expect(try session.number(of: "outbox WHERE state = 'dead'") == 1)
            #expect(
                try session.number(
                    of: "outbox WHERE network IS NOT NULL OR recipient IS NOT NULL OR sending_until IS NOT NULL"
                ) == 0
            )
        }
    }
}
