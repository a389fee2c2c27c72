import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Continuing on another device", .freshDatabase, .timeLimit(.minutes(30)))
struct HandoffTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `the link moves the draft to a new token, and the old token reports continued-elsewhere`() async throws {
        try await TestSignups.with { service in
            let (started, before) = try await service.signups.start(in: .english)
            let draft = try await service.fill(started)
            try await service.signups.handOff(draft)
            let (moved, token) = try await service.signups.resume(service.link())
            #expect(moved.id == draft.id && moved.proofs["code"]?.isProved == true)
            #expect(draft.values.contains("password") && !moved.values.contains("password"))
            for field in ["email", "username", "birth_date", "terms"] as [FieldName] {
                #expect(moved.values.json(of: field) == draft.values.json(of: field))
            }
            #expect(try await service.signups.find(token).revision == draft.revision + 1)
            #expect(await outcome { try await service.signups.find(before) } == "continued-elsewhere")
            #expect(
                await outcome { try await service.submit(["terms": true], to: "terms", of: draft) }
                    == "continued-elsewhere"
            )
            #expect(await outcome { try await service.signups.cancel(draft) } == "continued-elsewhere")
            #expect(await outcome { try await service.signups.commit(draft) } == "continued-elsewhere")
            #expect(await outcome { try await service.signups.commit(moved) } == "incomplete: password, confirmation")
            let password: Answers = [
                "password": .password("another pass phrase"), "confirmation": .password("another pass phrase"),
            ]
            let ready = try await service.submit(password, to: "password", of: moved)
            #expect(try await service.signups.commit(ready).isNew)
        }
    }

    @Test func `a draft without a password moves unchanged`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let moved = try await service.signups.resume(service.link()).draft
            #expect(moved.values == draft.values && moved.revision == draft.revision + 1)
        }
    }

    @Test func `a password that the first device sets meanwhile does not move`() async throws {
        try await TestSignups.with(connections: 9) { service in
            let draft = try await service.fill(service.start(), through: "password")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            let password: Answers = [
                "password": .password("the stranger's own words"),
                "confirmation": .password("the stranger's own words"),
            ]
            async let writes = atOnce(5) { _ in
                await outcome { try await service.submit(password, to: "password", of: draft) }
            }
            let ending = await outcome { try await service.signups.resume(link) }
            #expect(try await writes.allSatisfy { ["done", "continued-elsewhere", "contended"].contains($0) })
            if ending == "done" {
                #expect(try session.number(of: "drafts WHERE step = 'password'") == 1)
            } else {
                #expect(ending == "contended")
            }
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

    @Test func `an authenticator that was set up is removed when the draft moves to another device`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.fill(service.start(), through: "contact")
            let step = try #require(service.signups.flow.step(named: "totp"))
            let enrolment = try #require(try await service.signups.enrolment(at: step, of: draft))
            let code = TOTP.code(enrolment.secret.base32Bytes, step: TOTP.timeStep(at: enrolment.now))
            draft = try await service.submit(["totp": .string(code)], to: "totp", of: draft)
            #expect(draft.values.contains("totp"))
            try await service.signups.handOff(draft)
            let (moved, _) = try await service.signups.resume(service.link())
            #expect(!moved.values.contains("totp") && !moved.values.contains("password"))
            #expect(!moved.values.answered.contains("totp"))
        }
    }

    @Test func `a step that needs no authenticator is open again when the draft has lost it`() async throws {
        let flow = """
            flow: f
            version: 1
            steps:
              - {name: email, title: E, fields: [{name: email, kind: email, identifier: true, label: E}]}
              - {name: code, title: C, fields: [{name: code, kind: code, proves: email, label: C}]}
              - {name: password, title: P, fields: [{name: password, kind: password, min: 15, label: P}]}
              - {name: totp, title: A, fields: [{name: totp, kind: totp, required: false, label: A}]}
            """
        try await TestSignups.with(flow: flow) { service in
            var draft = try await service.submit(["email": "kim@example.com"], to: "email", of: service.start())
            let code = try await service.readCode(for: "kim@example.com")
            draft = try await service.submit(["code": .string(code)], to: "code", of: draft)
            draft = try await service.submit(
                ["password": .password("a pass phrase of mine")],
                to: "password",
                of: draft
            )
            let step = try #require(service.signups.flow.step(named: "totp"))
            let enrolment = try #require(try await service.signups.enrolment(at: step, of: draft))
            let digits = TOTP.code(enrolment.secret.base32Bytes, step: TOTP.timeStep(at: enrolment.now))
            draft = try await service.submit(["totp": .string(digits)], to: "totp", of: draft)
            #expect(service.signups.progress(of: draft).isReady)
            try await service.signups.handOff(draft)
            let (moved, _) = try await service.signups.resume(service.link())
            let again = try await service.submit(
                ["password": .password("a pass phrase of mine")],
                to: "password",
                of: moved
            )
            #expect(service.signups.progress(of: again).next?.name == "totp")
        }
    }

    @Test func `a late write of the first device is rejected`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let (moved, token) = try await service.signups.resume(service.link())
            // The first device had read the draft before the link was opened.
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
            let outcomes = try await atOnce(20) { number in
                let opening = number % 2 == 0 ? LinkOpening() : nil
                return await outcome { try await service.signups.resume(link, openedBy: opening) }
            }
            #expect(outcomes.tally == ["done": 1, "invalid link": 19])
        }
    }

    @Test func `the client that opened a link gets the same token again for a minute`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let (link, opening) = (try await service.link(), LinkOpening())
            let opened = try await atOnce(20) { _ in try await service.signups.resume(link, openedBy: opening) }
            let tokens = Set(opened.map(\.token.text))
            #expect(tokens.count == 1 && !tokens.contains(link.text))
            #expect(Set(opened.map(\.draft.revision)) == [draft.revision + 1])
            let again = try await service.signups.resume(link, openedBy: opening).token
            #expect(tokens == [again.text])
            for other in [LinkOpening(), nil] {
                #expect(await outcome { try await service.signups.resume(link, openedBy: other) } == "invalid link")
            }
            let token = opened[0].token
            #expect(try await service.signups.maskedAddress(of: link) == nil)
            #expect(try await service.signups.maskedAddress(of: token) == nil, "the new token is not a link")
            #expect(await outcome { try await service.signups.resume(token) } == "invalid link")
            try session.letPass("1 minute")
            #expect(await outcome { try await service.signups.resume(link, openedBy: opening) } == "invalid link")
            #expect(try await service.signups.find(token).revision == draft.revision + 1)
        }
    }

    @Test func `a server that has another first key since then gives the same token again`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let (link, opening) = (try await service.link(), LinkOpening())
            let token = try await service.signups.resume(link, openedBy: opening).token
            let keys = "new:" + Data(repeating: 8, count: 32).base64EncodedString() + "," + TestSignups.keys
            try await TestSignups.with(keys: keys) { server in
                let again = try await server.signups.resume(link, openedBy: opening).token
                #expect(again.text == token.text)
            }
        }
    }

    @Test func `an opened link does not give the token of a later link`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let first = try await service.link()
            let moved = try await service.signups.resume(first).draft
            try session.letPass("1 minute")
            try await service.signups.handOff(moved)
            let second = try await service.link()
            #expect(await outcome { try await service.signups.resume(first) } == "invalid link")
            #expect(try await service.signups.resume(second).draft.revision == moved.revision + 1)
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

    @Test func `the moved values are bound to the new token`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let (moved, token) = try await service.signups.resume(service.link())
            #expect(moved.sealed != draft.sealed)
            try session.query("UPDATE drafts SET sealed = \(draft.sealed) WHERE id = \(draft.id)")
            #expect(await outcome { try await service.signups.find(token) } == "unreadable")
        }
    }

    @Test func `opening a link during a write loses no acknowledged value`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            async let late = outcome {
                try await service.submit(
                    TestSignups.answers(email: "", username: "kim")["profile"]!,
                    to: "profile",
                    of: draft
                )
            }
            let (moved, token) = try await service.signups.resume(link)
            #expect(["done", "continued-elsewhere"].contains(await late))
            let now = try await service.signups.find(token)
            // Only the password does not move, so the write is one of another step.
            #expect(now.values.contains("username") == (await late == "done"))
            #expect(now.values == moved.values && now.proofs["code"]?.isProved == true)
        }
    }

    @Test func `a link expires after 15 minutes`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            try session.letPass("15 minutes")
            #expect(await outcome { try await service.signups.resume(link) } == "invalid link")
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
            #expect(await outcome { try await service.signups.resume(first) } == "invalid link")
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
            #expect(await outcome { try await service.signups.resume(link) } == "invalid link")
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
            #expect(await outcome { try await service.signups.resume(Token(for: draft.id)) } == "invalid link")
            #expect(await outcome { try await service.signups.resume(Token(for: ID())) } == "invalid link")
            let link = try await service.link()
            #expect(await outcome { try await service.signups.resume(link) } == "done")
        }
    }

    @Test func `no link is mailed before the address is proved, and none can be opened after the commit`() async throws
    {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            #expect(await outcome { try await service.signups.handOff(draft) } == "address not proved, next is code")
            let ready = try await service.readyDraft(email: "lee@example.com", username: "lee")
            try await service.signups.handOff(ready)
            let link = try await service.link()
            _ = try await service.signups.commit(ready)
            #expect(await outcome { try await service.signups.resume(link) } == "invalid link")
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

    @Test func `a link that a rate limit refuses changes nothing, and stays valid`() async throws {
        var limits = Limits.lavish
        limits.byName[.starts] = Limit(1, per: .seconds(3600))
        try await TestSignups.with(limits: limits) { service in
            let draft = try await service.fill(service.start(), through: "password")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            let before = try session.dump()
            #expect(await outcome { try await service.signups.resume(link) } == "too many: starts")
            #expect(try session.dump() == before)
            try session.letPass("1 hour")
            #expect(try await service.signups.reread(draft).values.contains("password"))
        }
    }

    @Test func `a link that is opened too short a time before the deadline moves nothing`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            try await service.signups.handOff(draft)
            let link = try await service.link()
            // The service moves a draft only if more than a second is left until the deadline.
            let ending = await Deadline.$current.withValue(Deadline(in: .seconds(1))) {
                await outcome { try await service.signups.resume(link) }
            }
            #expect(ending != "done")
            let now = try await service.signups.reread(draft)
            #expect(now.revision == draft.revision && now.values == draft.values)
            #expect(await outcome { try await service.signups.resume(link) } == "done")
        }
    }

    @Test func `opening links counts against the limit of starts of the network`() async throws {
        var limits = Limits.lavish
        limits.byName[.starts] = Limit(3, per: .seconds(3600))
        try await TestSignups.with(limits: limits) { service in
            for _ in 0..<3 {
                #expect(await outcome { try await service.signups.resume(Token(for: ID())) } == "invalid link")
            }
            #expect(await outcome { try await service.signups.resume(Token(for: ID())) } == "too many: starts")
        }
    }
}

extension TestSignups {
    /// Delivers all due mail, and returns the token in the link of the last mail.
    fileprivate func link() async throws -> Token<Draft> {
        try await deliver()
        let line = mailbox.mails.last?.text.split(separator: "\n").first { $0.hasPrefix("http") }
        let start = "http://localhost:8080/signup/resume#code="
        let text = try #require(line.map(String.init))
        try #require(text.hasPrefix(start))
        return try #require(Token<Draft>(String(text.dropFirst(start.count))))
    }
}
