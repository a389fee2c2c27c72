import TestSupport
import Testing

@testable import Accounts

@Suite("Rate limits of mail", .freshDatabase, .timeLimit(.minutes(30)))
struct MailLimitTests: LimitSuite {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `one network cannot use up the limits of an address in a day`() async throws {
        try await TestSignups.with(limits: nil) { service in
            let code = try #require(service.signups.flow.step(named: "code"))
            var (mails, guesses): ([String], [String]) = ([], [])
            for hour in 0..<8 {
                for number in 0..<5 {
                    // All networks of the stranger are in one /48 of IPv6.
                    let stranger = try network("2001:db8:7:\(hour)\(number)::1")
                    var draft = try await service.start()
                    mails.append(await submitAddress("kim@example.com", from: stranger, of: draft, on: service))
                    if mails.last != "done" { continue }
                    draft = try await service.signups.reread(draft)
                    let wrong = try await service.readCode(for: "kim@example.com") == "000000" ? "000001" : "000000"
                    for _ in 0..<5 {
                        let guesser = service.signups.from(stranger)
                        guesses.append(
                            await outcome { try await guesser.submit(["code": .string(wrong)], to: code, of: draft) }
                        )
                    }
                }
                try session.letPass("1 hour")
            }
            #expect(mails.tally == ["done": 10, "too many: mails_to_address_from_network_per_day": 30])
            #expect(guesses.count == 50)
            #expect(guesses.tally["too many: guesses_for_address_from_network"] == 25)

            let owner = service.signups.from(try network("192.0.2.1"))
            var draft = try await service.start()
            draft = try await owner.submit(["email": "kim@example.com"], to: service.signups.flow.steps[0], of: draft)
                .draft
            let right = try await service.readCode(for: "kim@example.com")
            #expect(await outcome { try await owner.submit(["code": .string(right)], to: code, of: draft) } == "done")
        }
    }

    @Test func `addresses with different tags share a limit, and the address without a tag has its own`()
        async throws
    {
        let limits = Limits(byName: [.mailsToAddress: Limit(3, per: .seconds(86_400))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            let addresses = ["1", "2", "3", "4"].map { "kim+\($0)@example.com" } + ["Kim@example.com"]
            var outcomes: [String] = []
            for address in addresses {
                let draft = try await service.start()
                outcomes.append(await submitAddress(address, from: try network("192.0.2.1"), of: draft, on: service))
            }
            #expect(outcomes == ["done", "done", "done", "too many: mails_to_address", "done"])
            try await service.deliver()
            // The mails go to the addresses with their tags.
            let recipients = Set(service.mailbox.mails.map(\.to))
            #expect(recipients == Set(addresses.prefix(3) + ["kim@example.com"]))
        }
    }

    @Test func `all mails of the service are limited, equally for every address`() async throws {
        var limits = Limits.lavish
        limits.byName[.mails] = Limit(2, per: .seconds(3600))
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.signups.commit(service.readyDraft(email: "kim@example.com"))
            try session.letPass("1 hour")
            var outcomes: [String] = []
            for (number, name) in ["lee", "han", "kim", "choi"].enumerated() {
                let here = try network("192.0.2.\(number)")
                let draft = try await service.start()
                outcomes.append(await submitAddress("\(name)@example.com", from: here, of: draft, on: service))
            }
            #expect(outcomes == ["done", "done", "too many: mails", "too many: mails"])
            let monitor = Monitor(of: service.signups, version: "1")
            await monitor.refresh()
            let text = monitor.exposition()
            #expect(text.contains("\naccounts_mail_budget_used_ratio 1\n"))
            #expect(text.contains("\naccounts_limits_reached_total{limit=\"mails\"} 2\n"))
            try session.letPass("1 hour")
            await monitor.refresh()
            #expect(monitor.exposition().contains("\naccounts_mail_budget_used_ratio 0\n"))
            #expect(
                await submitAddress("choi@example.com", from: .unknown, of: try await service.start(), on: service)
                    == "done"
            )
        }
    }

    @Test func `one network cannot use up the limit of mails to an address`() async throws {
        try await TestSignups.with(limits: nil) { service in
            let (stranger, owner) = (try network("192.0.2.1"), try network("192.0.2.2"))
            for _ in 0..<5 {
                #expect(
                    await submitAddress("kim@example.com", from: stranger, of: try await service.start(), on: service)
                        == "done"
                )
            }
            let draft = try await service.start()
            #expect(
                await submitAddress("kim@example.com", from: stranger, of: draft, on: service)
                    == "too many: mails_to_address_from_network"
            )
            #expect(try session.number(of: "outbox") == 5)
            // The refused step changed nothing.
            #expect(try await service.signups.reread(draft).revision == 1)
            #expect(await submitAddress("kim@example.com", from: owner, of: draft, on: service) == "done")
            #expect(
                await submitAddress("lee@example.com", from: stranger, of: try await service.start(), on: service)
                    == "done"
            )
        }
    }

    /// The known limit of docs/security.md: a limit that people share tells that others have used it.
    @Test(arguments: [(3, "too many: mails_to_address_from_network"), (5, "too many: mails_to_address")])
    func `a network hears of its own limit first, unless others have caused most of the mails`(
        others: Int,
        refusal: String
    ) async throws {
        let limits = Limits(
            byName: [
                .mailsToAddressFromNetwork: Limit(2, per: .seconds(3600)),
                .mailsToAddress: Limit(6, per: .seconds(86_400)),
            ],
            revisions: 600
        )
        try await TestSignups.with(limits: limits) { service in
            for number in 0..<others {
                let other = try network("192.0.2.\(number)")
                _ = await submitAddress("kim@example.com", from: other, of: try await service.start(), on: service)
            }
            var outcomes: [String] = []
            while outcomes.last == "done" || outcomes.isEmpty {
                let draft = try await service.start()
                let asking = try network("198.51.100.1")
                outcomes.append(await submitAddress("kim@example.com", from: asking, of: draft, on: service))
            }
            #expect(outcomes.last == refusal)
        }
    }

    @Test func `mails to an address are limited in total, whether it is registered or not`() async throws {
        let limits = Limits(byName: [.mailsToAddress: Limit(3, per: .seconds(86_400))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.signups.commit(service.readyDraft(email: "kim@example.com"))
            try session.letPass("1 day")
            for address in ["kim@example.com", "new@example.com"] {
                var outcomes: [String] = []
                for number in 1...4 {
                    let draft = try await service.start()
                    outcomes.append(
                        await submitAddress(address, from: try network("192.0.2.\(number)"), of: draft, on: service)
                    )
                }
                #expect(outcomes == ["done", "done", "done", "too many: mails_to_address"])
            }
        }
    }

    @Test func `mails from a network are limited over all addresses`() async throws {
        let limits = Limits(byName: [.mailsFromNetwork: Limit(3, per: .seconds(3600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            let here = try network("192.0.2.1")
            let draft = try await service.start()
            var outcomes: [String] = []
            var current = draft
            for number in 1...4 {
                outcomes.append(await submitAddress("kim\(number)@example.com", from: here, of: current, on: service))
                current = try await service.signups.reread(draft)
            }
            #expect(outcomes == ["done", "done", "done", "too many: mails_from_network"])
            #expect(current.values.json(of: "email") == "kim3@example.com")
        }
    }

    @Test func `switching back to an address has to wait like a resend`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.start()
            for address in ["kim@example.com", "lee@example.com"] {
                draft = try await service.submit(["email": .string(address)], to: "email", of: draft)
            }
            let back = await submitAddress("kim@example.com", from: .unknown, of: draft, on: service)
            #expect(back == "too many: resend")
            try session.letPass("1 minute")
            draft = try await service.signups.reread(draft)
            #expect(await submitAddress("kim@example.com", from: .unknown, of: draft, on: service) == "done")
        }
    }

    @Test func `a waiting mail is replaced by a newer mail to the same address`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            try session.letPass("1 minute")
            let code = try #require(service.signups.flow.step(named: "code"))
            _ = try await service.signups.resend(code, of: service.signups.reread(draft))
            try await service.deliver()
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com"])
        }
    }

    @Test func `a mail that counts against a limit is sent, even if its draft is cancelled or changes its address`()
        async throws
    {
        try await TestSignups.with { service in
            var draft = try await service.start()
            for address in ["kim@example.com", "lee@example.com"] {
                draft = try await service.submit(["email": .string(address)], to: "email", of: draft)
            }
            draft = try await service.signups.clear(service.signups.flow.steps[0], of: draft).draft
            let other = try await service.fill(service.start(), through: "email", email: "han@example.com")
            try await service.signups.cancel(other)
            try await service.deliver()
            #expect(service.mailbox.mails.map(\.to) == ["kim@example.com", "lee@example.com", "han@example.com"])
        }
    }

    @Test func `the owner of an account gets one notice an hour`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft(email: "kim@example.com"))
            try await service.deliver()
            let before = service.mailbox.mails.count
            for _ in 0..<3 { _ = try await service.fill(service.start(), through: "email", email: "kim@example.com") }
            try await service.deliver()
            #expect(service.mailbox.mails.dropFirst(before).map(\.subject) == ["You already have an account at Acme"])
            try session.letPass("1 hour")
            _ = try await service.fill(service.start(), through: "email", email: "kim@example.com")
            try await service.deliver()
            #expect(service.mailbox.mails.count == before + 2)
        }
    }
}
