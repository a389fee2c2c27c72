import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Tickets", .freshDatabase, .timeLimit(.minutes(30)))
struct TicketTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    // MARK: - A stranger who enters the address

    @Test func `the owner signs up after a stranger has used up the mails and guesses of the address`() async throws {
        let day = Duration.seconds(86_400)
        let limits = Limits(
            byName: [.mailsToAddress: Limit(2, per: day), .guessesForAddress: Limit(3, per: day)],
            revisions: 600
        )
        try await TestSignups.with(limits: limits) { service in
            let first = try await service.fill(service.start(), through: "email")
            let last = try await service.fill(service.start(), through: "email")
            let lastCode = try await service.readCode(for: "kim@example.com")
            for _ in 0..<3 {
                #expect(await guess(wrong(lastCode), in: last, on: service).hasPrefix("refused: code code_wrong"))
            }
            #expect(await guess(lastCode, in: last, on: service) == "too many: guesses_for_address")
            let locked = try await service.start()
            let address: Answers = ["email": "kim@example.com"]
            #expect(
                await outcome { try await service.submit(address, to: "email", of: locked) }
                    == "too many: mails_to_address"
            )

            var draft = try await service.signups.redeem(ticket(on: service), in: .english).draft
            #expect(draft.values.address(in: "email")?.rawValue == "kim@example.com")
            #expect(service.signups.progress(of: draft).next?.name == "code")
            let code = try await service.readCode(for: "kim@example.com")
            #expect(await guess(wrong(code), in: draft, on: service) == "refused: code code_wrong (4 left)")
            for stranger in [first, last] {
                #expect(await guess(code, in: stranger, on: service) == "too many: guesses_for_address")
            }
            draft = try await service.submit(["code": .string(code)], to: "code", of: draft)
            let answers = TestSignups.answers(email: "kim@example.com", username: "kim")
            for step in ["password", "profile", "contact", "totp", "terms"] as [StepName] {
                draft = try await service.submit(#require(answers[step]), to: step, of: draft)
            }
            let commit = try await service.signups.commit(draft)
            let (account, isNew) = (commit.account, commit.isNew)
            #expect(isNew && account.email == "kim@example.com")
            for stranger in [first, last] {
                let values = try await service.signups.reread(stranger).values
                #expect(values == stranger.values, "a stranger does not learn that the owner has signed up")
            }
        }
    }

    @Test func `the code that was mailed for a ticket is wrong in another draft`() async throws {
        try await TestSignups.with { service in
            let stranger = try await service.fill(service.start(), through: "email")
            let before = try await service.readCode(for: "kim@example.com")
            let draft = try await service.signups.redeem(ticket(on: service), in: .english).draft
            let code = try await service.readCode(for: "kim@example.com")
            if code != before {
                #expect(await guess(code, in: stranger, on: service) == "refused: code code_wrong (4 left)")
            }
            #expect(await guess(before, in: stranger, on: service) == "done", "other drafts do not change")
            #expect(try await service.signups.reread(draft).proofs["code"]?.isProved == false)
            #expect(await guess(code, in: draft, on: service) == "done")
        }
    }

    @Test func `a ticket stays valid if the draft that caused it is cancelled`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            try await service.signups.cancel(draft)
            let ticket = try await ticket(on: service)
            let (owner, _) = try await service.signups.redeem(ticket, in: .english)
            let code = try await service.readCode(for: "kim@example.com")
            try await service.signups.cancel(owner)
            #expect(await guess(code, in: owner, on: service) == "cancelled")
            #expect(await redeem(try self.ticket(of: service.mailbox), on: service) == "done")
        }
    }

    // MARK: - One ticket, one code

    @Test func `a ticket can be exchanged once, even by concurrent requests`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let ticket = try await ticket(on: service)
            let outcomes = try await atOnce(10) { _ in await redeem(ticket, on: service) }
            #expect(outcomes.tally == ["done": 1, "invalid ticket": 9])
            #expect(await redeem(ticket, on: service) == "invalid ticket")
            #expect(try session.number(of: "drafts") == 2)
            #expect(try session.number(of: "outbox WHERE template = 'verification-code'") == 2)
            #expect(try session.number(of: "proofs WHERE generation = ticket_generation") == 1)
            #expect(try session.number(of: "tickets") == 1, "the new mail contains the only ticket")
        }
    }

    @Test func `the mail that a ticket causes contains the next ticket`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            for _ in 1...3 { #expect(await redeem(try await ticket(on: service), on: service) == "done") }
            let draft = try await service.signups.redeem(ticket(on: service), in: .english).draft
            let code = try await service.readCode(for: "kim@example.com")
            #expect(await guess(code, in: draft, on: service) == "done")
        }
    }

    @Test func `a ticket expires after a day`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let ticket = try await ticket(on: service)
            #expect(try await service.signups.maskedAddress(of: ticket) == "k•••@example.com")
            try session.letPass("1 day")
            #expect(try await service.signups.maskedAddress(of: ticket) == nil)
            #expect(await redeem(ticket, on: service) == "invalid ticket")
            #expect(try session.number(of: "outbox") == 1)
        }
    }

    @Test func `a ticket with a wrong secret is refused, and the right one stays valid`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let ticket = try await ticket(on: service)
            let forged = try #require(Ticket("\(ticket.text.dropLast())\(ticket.text.hasSuffix("A") ? "B" : "A")"))
            #expect(forged.id == ticket.id)
            for ticket in [forged, Ticket()] {
                #expect(try await service.signups.maskedAddress(of: ticket) == nil)
                #expect(await redeem(ticket, on: service) == "invalid ticket")
            }
            #expect(await redeem(ticket, on: service) == "done")
        }
    }

    @Test func `a code for a ticket has five attempts`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let draft = try await service.signups.redeem(ticket(on: service), in: .english).draft
            let code = try await service.readCode(for: "kim@example.com")
            for number in 1...5 {
                let expected = "refused: code code_wrong (\(5 - number) left)"
                #expect(await guess(wrong(code, by: number), in: draft, on: service) == expected)
            }
            #expect(await guess(code, in: draft, on: service) == "refused: code code_exhausted")
            #expect(try session.number(of: "proofs WHERE generation = ticket_generation AND failures = 5") == 1)
        }
    }

    @Test func `a resent code counts against the limits of the address, also in a draft that began with a ticket`()
        async throws
    {
        let limits = Limits(
            byName: [
                .mailsToAddress: Limit(2, per: .seconds(86_400)), .guessesForAddress: Limit(1, per: .seconds(86_400)),
            ],
            revisions: 600
        )
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.fill(service.start(), through: "email")
            let draft = try await service.signups.redeem(ticket(on: service), in: .english).draft
            let step = try #require(service.signups.flow.step(named: "code"))
            #expect(await outcome { try await service.signups.resend(step, of: draft) } == "too many: resend")
            try session.letPass("1 minute")
            _ = try await service.signups.resend(step, of: service.signups.reread(draft))
            let code = try await service.readCode(for: "kim@example.com")
            let current = try await service.signups.reread(draft)
            #expect(await guess(wrong(code), in: current, on: service) == "refused: code code_wrong (4 left)")
            #expect(await guess(code, in: current, on: service) == "too many: guesses_for_address")
            try session.letPass("1 minute")
            let late = try await service.signups.reread(draft)
            #expect(
                await outcome { try await service.signups.resend(step, of: late) } == "too many: mails_to_address"
            )
        }
    }

    // MARK: - Limits and accounts

    @Test func `a mail that a rate limit refuses makes no ticket`() async throws {
        let limits = Limits(byName: [.mailsToAddress: Limit(1, per: .seconds(86_400))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.fill(service.start(), through: "email")
            #expect(
                await outcome { try await service.fill(service.start(), through: "email") }
                    == "too many: mails_to_address"
            )
            #expect(try session.number(of: "tickets") == 1)
        }
    }

    @Test func `mails for tickets count against the limit of all mails, and a mailbox gets thirty of them a day`()
        async throws
    {
        var limits = Limits.lavish
        limits.byName[.mails] = Limit(2, per: .seconds(3600))
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.fill(service.start(), through: "email")
            #expect(await redeem(try await ticket(on: service), on: service) == "done")
            #expect(await redeem(try await ticket(on: service), on: service) == "too many: mails")
        }
        try session.run("TRUNCATE limits")
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            for _ in 0..<30 { #expect(await redeem(try await ticket(on: service), on: service) == "done") }
            #expect(await redeem(try await ticket(on: service), on: service) == "too many: mails_by_ticket")
            // At some mail servers, an address with a tag belongs to somebody else.
            #expect(EmailAddress("kim+x@example.com")?.mailboxAndTag != EmailAddress("kim@example.com")?.mailboxAndTag)
        }
    }

    @Test func `exchanging tickets counts against the starts of the network, and a refused ticket stays valid`()
        async throws
    {
        let limits = Limits(byName: [.starts: Limit(3, per: .seconds(3600))], revisions: 600)
        try await TestSignups.with(limits: limits) { service in
            _ = try await service.fill(service.start(), through: "email")
            let ticket = try await ticket(on: service)
            for _ in 0..<2 { #expect(await redeem(Ticket(), on: service) == "invalid ticket") }
            #expect(await redeem(Ticket(), on: service) == "too many: starts")
            #expect(await redeem(ticket, on: service) == "too many: starts")
            try session.letPass("1 hour")
            #expect(await redeem(ticket, on: service) == "done")
        }
    }

    @Test func `a ticket for an address that has an account meanwhile has the same answer, and mails a notice`()
        async throws
    {
        try await TestSignups.with { service in
            for address in ["kim@example.com", "lee@example.com"] {
                _ = try await service.fill(service.start(), through: "email", email: address)
            }
            try await service.deliver()
            let tickets = try ["kim", "lee"].map { try ticket(of: service.mailbox, for: "\($0)@example.com") }
            _ = try await service.signups.commit(service.readyDraft())
            try await service.deliver()
            let mails = service.mailbox.mails.count
            var drafts: [Draft] = []
            for ticket in tickets { drafts.append(try await service.signups.redeem(ticket, in: .english).draft) }
            let (taken, free) = (try #require(drafts.first), try #require(drafts.last))
            #expect(service.signups.progress(of: taken).states == service.signups.progress(of: free).states)
            #expect(taken.revision == free.revision && taken.proofs.count == free.proofs.count)
            try await service.deliver()
            let subjects = service.mailbox.mails.dropFirst(mails).map { "\($0.to): \($0.subject)" }
            #expect(
                subjects == [
                    "kim@example.com: \(Language.english.messages.alreadyRegistered(serviceName: "Acme", link: "http://localhost:8080/sign-in").subject)",
                    "lee@example.com: Your Acme verification code",
                ]
            )
            #expect(await guess("000000", in: taken, on: service) == "refused: code code_wrong (4 left)")
        }
    }

    @Test func `each mail causes one row of tickets, whether the address has an account or not`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft())
            try session.run("DELETE FROM tickets")
            for address in ["kim@example.com", "lee@example.com"] {
                _ = try await service.fill(service.start(), through: "email", email: address)
            }
            #expect(try session.number(of: "tickets") == 2)
            try await service.deliver()
            let notice = try #require(service.mailbox.mails.last { $0.to == "kim@example.com" })
            #expect(!notice.text.contains("ticket"))
        }
    }

    // MARK: - Storage

    @Test func `the database contains neither the ticket nor the address`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let ticket = try await ticket(on: service)
            let dump = try session.dump()
            #expect(dump.contains("tickets ("))
            let hexadecimal = "kim@example.com".utf8.map { String(format: "%02x", $0) }.joined()
            for secret in [ticket.text, "kim@example.com", hexadecimal] { #expect(!dump.contains(secret)) }
        }
    }

    @Test func `a server without the key of a ticket does not use it up, and a key rotation re-encrypts it`()
        async throws
    {
        let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
        let ticket = try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            return try await self.ticket(on: service)
        }
        try await TestSignups.with(keys: new) { service in
            #expect(await redeem(ticket, on: service) == "unreadable")
        }
        #expect(try session.number(of: "tickets") == 1)
        try await TestSignups.with(keys: "\(new),\(TestSignups.keys)") { service in
            let rotated = try await Operator(service.signups, name: "mina").rotateKeys()
            #expect(rotated.rows["tickets"] == 1 && rotated.unreadable == 0)
        }
        try await TestSignups.with(keys: new) { service in
            let draft = try await service.signups.redeem(ticket, in: .english).draft
            let code = try await service.readCode(for: "kim@example.com")
            #expect(await guess(code, in: draft, on: service) == "done")
        }
    }

    @Test func `purging an address erases its tickets`() async throws {
        try await TestSignups.with { service in
            for address in ["kim@example.com", "lee@example.com"] {
                _ = try await service.fill(service.start(), through: "email", email: address)
            }
            try await service.deliver()
            let filter = DraftFilter(email: EmailAddress("kim@example.com"))
            #expect(try await Operator(service.signups, name: "mina").purge(filter) == 1)
            #expect(await redeem(try ticket(of: service.mailbox), on: service) == "invalid ticket")
            let other = try ticket(of: service.mailbox, for: "lee@example.com")
            #expect(await redeem(other, on: service) == "done")
        }
    }

    @Test func `an operator with keys who erases an account erases the tickets of its address`() async throws {
        try await TestSignups.with { service in
            let account = try await service.signups.commit(service.readyDraft()).account
            try session.run("DELETE FROM tickets")
            for address in ["kim@example.com", "lee@example.com"] {
                _ = try await service.fill(service.start(), through: "email", email: address)
            }
            #expect(try await Operator(service.signups, name: "mina").erase(account.id))
            #expect(try session.number(of: "tickets") == 1, "that of the other address")
        }
    }

    // MARK: - Other flows

    @Test func `a ticket fills in the address and sends its code, also if the flow has other fields before the code`()
        async throws
    {
        let flow = """
            flow: club
            version: 1
            steps:
              - name: name
                title: Name
                fields: [{name: name, kind: text, max: 50, label: Name}]
              - name: contact
                title: Contact
                fields:
                  - {name: email, kind: email, identifier: true, label: E-mail}
                  - {name: city, kind: text, max: 50, label: City}
              - name: code
                title: Code
                fields: [{name: code, kind: code, proves: email, label: Code}]
            """
        try await TestSignups.with(flow: flow) { service in
            var stranger = try await service.submit(["name": "Mallory"], to: "name", of: service.start())
            let contact: Answers = ["email": "kim@example.com", "city": "Seoul"]
            stranger = try await service.submit(contact, to: "contact", of: stranger)
            var draft = try await service.signups.redeem(ticket(on: service), in: .english).draft
            #expect(draft.values.fields == ["email"])
            #expect(service.signups.progress(of: draft).missing == ["name", "city", "code"])
            draft = try await service.submit(["name": "Kim"], to: "name", of: draft)
            draft = try await service.submit(contact, to: "contact", of: draft)
            #expect(try session.number(of: "outbox") == 2, "the code for the ticket is still valid")
            let code = try await service.readCode(for: "kim@example.com")
            #expect(await guess(code, in: draft, on: service) == "done")
        }
    }

    @Test func `a ticket is valid in another flow whose fields have other names`() async throws {
        let ticket = try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            return try await self.ticket(on: service)
        }
        let flow = """
            flow: other
            version: 2
            steps:
              - name: first
                title: First
                fields: [{name: second, kind: email, required: true, label: Another}]
              - name: main
                title: Main
                fields:
                  - {name: digits, kind: code, proves: second, label: Code}
                  - {name: email, kind: email, identifier: true, label: E-mail}
              - name: proof
                title: Proof
                fields: [{name: proof, kind: code, proves: email, label: Code}]
            """
        try await TestSignups.with(flow: flow) { service in
            let draft = try await service.signups.redeem(ticket, in: .english).draft
            #expect(draft.values.fields == ["email"] && draft.proofs.keys.map(\.rawValue) == ["proof"])
        }
    }

    // MARK: - Helpers

    /// Delivers all due mail, and returns the last ticket that was mailed to `kim@example.com`.
    private func ticket(on service: TestSignups) async throws -> Ticket {
        try await service.deliver()
        return try ticket(of: service.mailbox)
    }

    private func ticket(of mailbox: Mailbox, for address: String = "kim@example.com") throws -> Ticket {
        try #require(Ticket(mailbox.ticket(for: address)))
    }

    private func redeem(_ ticket: Ticket, on service: TestSignups) async -> String {
        await outcome { try await service.signups.redeem(ticket, in: .english) }
    }

    @discardableResult
    private func guess(_ code: String, in draft: Draft, on service: TestSignups) async -> String {
        await outcome { try await service.submit(["code": .string(code)], to: "code", of: draft) }
    }

    /// A wrong code: the right one plus the distance.
    private func wrong(_ code: String, by distance: Int = 1) -> String {
        String(format: "%06d", (Int(code)! + distance) % 1_000_000)
    }
}
