import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Continuing on another device", .freshDatabase, .timeLimit(.minutes(5)))
struct HandoffTests {
    private let session: Session

    init() throws {
        session = try Session()
    }

    @Test func `the link moves the draft to a new token, and the old token reports continued-elsewhere`() async throws {
        try await TestSignups.with { service in
            let (started, before) = try await service.signups.start(in: .english)
            let draft = try await service.fill(started)
            try await service.signups.handOff(draft)
            let (moved, token) = try await service.signups.resume(service.link())
            #expect(moved.id == draft.id && moved.values == draft.values)
            #expect(moved.proofs["code"]?.isProved == true)
            #expect(try await service.signups.find(token).revision == draft.revision + 1)
            #expect(await outcome { try await service.signups.find(before) } == "continued-elsewhere")
            #expect(
                await outcome { try await service.submit(["terms": true], to: "terms", of: draft) }
                    == "continued-elsewhere"
            )
            #expect(await outcome { try await service.signups.cancel(draft) } == "continued-elsewhere")
            #expect(await outcome { try await service.signups.commit(draft) } == "continued-elsewhere")
            let (_, isNew) = try await service.signups.commit(moved)
            #expect(isNew)
        }
    }

    @Test func `the authenticator has a new secret after the draft moved to another device`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "contact")
            let step = try #require(service.signups.flow.step(named: "totp"))
            let before = try await service.signups.enrolment(at: step, of: draft)?.secret
            try await service.signups.handOff(draft)
            let (moved, _) = try await service.signups.resume(service.link())
            let after = try await service.signups.enrolment(at: step, of: moved)?.secret
            #expect(before != nil && after != nil && before != after)
        }
    }

    @Test func `a late write of the first device is rejected`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let (moved, token) = try await service.signups.resume(service.link())
            // The first device read the draft before the link was opened.
            let late = try await service.signups.write(Change(values: Values()), to: draft)
            guard case .overtaken = late else {
                Issue.record("the late write was accepted")
                return
            }
            #expect(try await service.signups.find(token).values == moved.values)
        }
    }

    @Test func `a link can be opened only once, even by concurrent requests`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            let outcomes = try await atOnce(20) { _ in await outcome { try await service.signups.resume(link) } }
            #expect(outcomes.tally == ["done": 1, "expired": 19])
            #expect(try session.number(of: "handoffs") == 0)
        }
    }

    @Test func `a server without the key of the draft does not use up the link`() async throws {
        let other = "other:" + Data(repeating: 8, count: 32).base64EncodedString()
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            let before = try session.dump(except: "limits")
            try await TestSignups.with(keys: other) { server in
                #expect(await outcome { try await server.signups.resume(link) } == "unreadable")
            }
            #expect(try session.dump(except: "limits") == before)
            #expect(await outcome { try await service.signups.resume(link) } == "done")
        }
    }

    @Test func `a link expires after 15 minutes`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            try session.letPass("15 minutes")
            #expect(await outcome { try await service.signups.resume(link) } == "expired")
        }
    }

    @Test func `a new link can be requested after a minute and replaces the previous one`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let first = try await service.link()
            #expect(await outcome { try await service.signups.handOff(draft) } == "too many: handoff")
            try session.letPass("1 minute")
            try await service.signups.handOff(draft)
            let second = try await service.link()
            #expect(await outcome { try await service.signups.resume(first) } == "expired")
            #expect(await outcome { try await service.signups.resume(second) } == "done")
        }
    }

    @Test func `a waiting link is not sent if a newer one replaces it`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            try session.letPass("1 minute")
            try await service.signups.handOff(draft)
            #expect(try session.number(of: "outbox WHERE template = 'handoff' AND state = 'waiting'") == 1)
            let link = try await service.link()
            #expect(await outcome { try await service.signups.resume(link) } == "done")
        }
    }

    @Test func `a changed address invalidates the link`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            _ = try await service.submit(["email": "kim@example.org"], to: "email", of: draft)
            #expect(await outcome { try await service.signups.resume(link) } == "expired")
            #expect(try session.number(of: "handoffs") == 0)
        }
    }

    @Test func `a changed address deletes the waiting mail with the link`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            _ = try await service.submit(["email": "kim@example.org"], to: "email", of: draft)
            #expect(try session.number(of: "outbox WHERE template = 'handoff' AND state = 'waiting'") == 0)
        }
    }

    @Test func `a link with a wrong secret is refused`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            #expect(await outcome { try await service.signups.resume(Token(for: draft.id)) } == "expired")
            #expect(await outcome { try await service.signups.resume(Token(for: ID())) } == "expired")
            let link = try await service.link()
            #expect(await outcome { try await service.signups.resume(link) } == "done")
        }
    }

    @Test func `a link is refused before the address is proved and after the commit`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            #expect(await outcome { try await service.signups.handOff(draft) } == "locked, next is code")
            let ready = try await service.readyDraft(email: "lee@example.com", username: "lee")
            try await service.signups.handOff(ready)
            let link = try await service.link()
            _ = try await service.signups.commit(ready)
            #expect(await outcome { try await service.signups.resume(link) } == "expired")
            let committed = try await service.signups.reread(ready)
            #expect(await outcome { try await service.signups.handOff(committed) } == "committed")
            #expect(try session.number(of: "handoffs") == 0)
        }
    }

    @Test func `a cancelled draft leaves neither a link nor a waiting mail`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            try await service.signups.cancel(draft)
            #expect(try session.number(of: "handoffs") == 0)
            #expect(try session.number(of: "outbox WHERE state = 'waiting'") == 0)
        }
    }

    @Test func `a link counts against the limit of mails to its address`() async throws {
        var limits = Limits.lavish
        limits.byName[.mailsToAddress] = Limit(1, per: .seconds(3600))
        try await TestSignups.with(limits: limits) { service in
            let draft = try await service.fill(service.start(), through: "code")
            #expect(await outcome { try await service.signups.handOff(draft) } == "too many: mails_to_address")
        }
    }

    @Test func `opening links counts against the limit of the network`() async throws {
        var limits = Limits.lavish
        limits.byName[.starts] = Limit(3, per: .seconds(3600))
        try await TestSignups.with(limits: limits) { service in
            for _ in 0..<3 {
                #expect(await outcome { try await service.signups.resume(Token(for: ID())) } == "expired")
            }
            #expect(await outcome { try await service.signups.resume(Token(for: ID())) } == "too many: starts")
        }
    }
}

extension TestSignups {
    /// Delivers all due mail, and returns the token in the link of the last one.
    fileprivate func link() async throws -> Token {
        try await deliver()
        let line = mailbox.mails.last?.text.split(separator: "\n").first { $0.hasPrefix("http") }
        let start = "http://localhost:8080/signup/resume?code="
        let text = try #require(line.map(String.init))
        try #require(text.hasPrefix(start))
        return try #require(Token(String(text.dropFirst(start.count))))
    }
}
