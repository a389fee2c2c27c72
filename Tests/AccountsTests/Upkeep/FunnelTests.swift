import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("The funnel", .freshDatabase)
struct FunnelTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// The stored counts after this server has flushed its own, summed over all days, such as `email entered 2`.
    private func counts(_ service: TestSignups) async throws -> [String] {
        try await service.signups.funnel.flush(to: service.database)
        return try session.query(
            """
            SELECT concat_ws(' ', step, outcome, nullif(code, ''), sum(count)) FROM funnel_daily
             GROUP BY step, outcome, code ORDER BY 1
            """
        ).map { try $0.decode(String.self) }
    }

    @Test func `each step of a sign-up is counted as entered and completed once`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            _ = try await service.signups.commit(draft)
            _ = try await service.signups.commit(draft)
            let steps = service.signups.flow.steps.map(\.name.rawValue) + ["review"]
            let expected = steps.flatMap { ["\($0) entered 1", $0 == "totp" ? "totp skipped 1" : "\($0) completed 1"] }
            #expect(try await counts(service) == (expected + ["sign-in entered 1"]).sorted())
        }
    }

    @Test(arguments: [true, false])
    func `an account that an operator erases counts as removed only before its first sign-in`(hasSignedIn: Bool)
        async throws
    {
        try await TestSignups.with { service in
            let account = try await service.signups.commit(service.readyDraft()).account
            if hasSignedIn { try session.run("UPDATE accounts SET signed_in_at = now()") }
            let mina = Operator(service.signups, name: "mina")
            let erased = [try await mina.erase(account.id), try await mina.erase(account.id)]
            #expect(erased == [true, false])
            let last = try await counts(service).filter { $0.hasPrefix("sign-in") }
            #expect(last == ["sign-in entered 1"] + (hasSignedIn ? [] : ["sign-in removed 1"]))
        }
    }

    @Test func `a changed answer is not counted again`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "profile")
            let before = try await counts(service)
            _ = try await service.submit(["username": "another"], to: "profile", of: draft)
            _ = try await service.submit(["email": "new@example.com"], to: "email", of: service.signups.reread(draft))
            let after = try await counts(service)
            #expect(after == before)
        }
    }

    @Test func `a step that is cleared and answered again is counted once`() async throws {
        try await TestSignups.with { service in
            var draft = try await service.start()
            let step = service.signups.flow.step(named: "email")!
            for _ in 0..<3 {
                try session.letPass("2 minutes")
                draft = try await service.submit(
                    ["email": "kim@example.com"],
                    to: "email",
                    of: service.signups.reread(draft)
                )
                draft = try await service.signups.clear(step, of: draft).draft
            }
            #expect(try await counts(service) == ["code entered 1", "email completed 1", "email entered 1"])
        }
    }

    @Test func `a step that loses its authenticator with the address is counted once`() async throws {
        try await TestSignups.with { service in
            let step = service.signups.flow.step(named: "totp")!
            func enrol(_ draft: Draft) async throws -> Draft {
                let secret = try #require(try await service.signups.enrolment(at: step, of: draft)).secret
                let code = TOTP.code(secret.base32Bytes, step: TOTP.timeStep(at: Date()))
                return try await service.submit(["totp": .string(code)], to: "totp", of: draft)
            }
            var draft = try await enrol(service.fill(service.start(), through: "contact"))
            draft = try await service.submit(["email": "kim@example.org"], to: "email", of: draft)
            let code = try await service.readCode(for: "kim@example.org")
            draft = try await service.submit(["code": .string(code)], to: "code", of: draft)
            #expect(draft.step == "totp")
            _ = try await enrol(draft)
            let totp = try await counts(service).filter { $0.hasPrefix("totp") }
            #expect(totp == ["totp completed 1", "totp entered 1"])
        }
    }

    @Test func `a person who answers a later step first is counted as having entered both steps`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "contact")
            let done = try await service.submit(["terms": true], to: "terms", of: draft)
            _ = try await service.signups.commit(done)
            let late = try await counts(service).filter { $0.hasPrefix("t") || $0.hasPrefix("review") }
            #expect(
                late == [
                    "review completed 1", "review entered 1", "terms completed 1", "terms entered 1", "totp entered 1",
                ]
            )
        }
    }

    @Test func `a draft from another version of the flow is counted from its current step`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try session.run("UPDATE drafts SET flow = 'default@0'; TRUNCATE funnel_daily")
            try await service.signups.funnel.flush(to: service.database)
            try session.run("TRUNCATE funnel_daily")
            _ = try await service.fill(service.signups.reread(draft), through: "password")
            #expect(try await counts(service) == ["password completed 1", "password entered 1", "profile entered 1"])
        }
    }

    @Test func `a draft from another version of the flow is also counted when it only gets a destination`() async throws
    {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.funnel.flush(to: service.database)
            try session.run("UPDATE drafts SET flow = 'default@0'; TRUNCATE funnel_daily")
            let page = DraftDestination.page("https://app.example/")
            _ = try await service.signups.remember(page, in: service.signups.reread(draft))
            #expect(try await counts(service) == ["password entered 1"])
        }
    }

    @Test func `a refusal is counted by its code, once per submission`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            for answers: Answers in [
                ["email": "nobody"], ["email": "nobody"], ["x": 1, "y": 2, "email": "kim@example.com"],
            ] {
                _ = await outcome { try await service.submit(answers, to: "email", of: draft) }
            }
            #expect(
                try await counts(service) == [
                    "email entered 1", "email refused bad_format 2", "email refused unknown_field 1",
                ]
            )
        }
    }

    @Test func `cancelled, superseded and expired drafts are counted at their current step`() async throws {
        try await TestSignups.with { service in
            try await service.signups.cancel(service.fill(service.start(), through: "email"))
            let rival = try await service.fill(service.start(), through: "code", email: "lee@example.com")
            try session.letPass("61 seconds")
            let ready = try await service.readyDraft(email: "lee@example.com", username: "lee")
            _ = try await service.signups.commit(ready)
            #expect(await outcome { try await service.signups.reread(rival) } == "superseded")
            _ = try await service.fill(service.start(), through: "code", email: "park@example.com")
            try session.age("25 hours")
            _ = try await service.sweep()
            let endings = try await counts(service).filter {
                $0.contains("cancelled") || $0.contains("superseded") || $0.contains("expired")
            }
            #expect(endings == ["code cancelled 1", "password expired 1", "password superseded 1"])
        }
    }

    @Test func `drafts that an operator removes are counted`() async throws {
        try await TestSignups.with { service in
            let worker = Operator(service.signups, name: "mina")
            _ = try await worker.expire(service.start().id)
            _ = try await service.fill(service.start(), through: "email")
            #expect(try await worker.purge(DraftFilter(email: EmailAddress("kim@example.com"))) == 1)
            let endings = try await counts(service).filter { $0.contains("removed") }
            #expect(endings == ["code removed 1", "email removed 1"])
        }
    }

    @Test func `counts of servers and days add up, and a server keeps them while the database refuses them`()
        async throws
    {
        try await TestSignups.with { one in
            try await TestSignups.with { other in
                for service in [one, other, one] { _ = try await service.start() }
                try session.refuse("INSERT", on: "funnel_daily")
                await #expect(throws: DatabaseError.self) { try await one.signups.funnel.flush(to: one.database) }
                try session.allow()
                _ = try await one.start()
                try await other.signups.funnel.flush(to: other.database)
                #expect(try await counts(one) == ["email entered 4"])
                try session.run("UPDATE funnel_daily SET day = day - 1")
                _ = try await one.start()
                #expect(try await counts(one) == ["email entered 5"])
                #expect(try session.number(of: "funnel_daily") == 2)
            }
        }
    }

    @Test func `counts of which nobody knows whether they were written are dropped, and the log says so`() async throws
    {
        // The statement must wait until the test ends its connection.
        try await TestSignups.with(timeouts: .all(.seconds(3600))) { service in
            _ = try await service.start()
            let (holder, log) = (try DatabaseSession(), LogLines())
            try holder.run("BEGIN; LOCK TABLE funnel_daily")
            let writer = FunnelWriter(signups: service.signups, logger: log.logger)
            let running = Task { try await writer.run() }
            try await session.waitUntilSomebodyIsBlocked()
            try await session.terminateBlockedSessions()
            try holder.run("ROLLBACK")
            running.cancel()
            try await running.value
            #expect(log.messages == ["cannot tell whether the funnel counts were written, will not retry"])
            #expect(try await counts(service) == [])
        }
    }

    @Test func `the duration of a step is counted from the last change of the draft`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            try session.letPass("43 minutes")
            _ = try await service.submit(["email": "kim@example.com"], to: "email", of: service.signups.reread(draft))
            try await service.signups.funnel.flush(to: service.database)
            let seconds = try session.query("SELECT seconds FROM funnel_daily WHERE outcome = 'completed'").only
                .decode(Int.self)
            // Seconds may pass on a busy machine, but no five minutes.
            #expect((2580..<2880).contains(seconds))
        }
    }
}
