import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The commands for mail", .freshDatabase, .timeLimit(.minutes(30)))
struct MailCommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    private static let greylisted = "451 4.7.1 <address>: Greylisted, please come back later"

    @Test func `outbox list shows waiting mail, and outbox retry and flush requeue it`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            try await service.deliverNext(to: .refuse("451 4.7.1 <ADDRESS>: Greylisted, please come back later"))
            let list = try await command("outbox", "list", "--state", "waiting", "--json")
            let mail = try #require(JSON.read(Array(list.output.utf8))["mails"]?.items.first)
            #expect(mail["to"] == "k•••@e•••.com" && mail["attempts"] == 1 && mail["draft"] == .string("\(draft.id)"))
            #expect(mail["last_error"] == .string("not delivered yet: \(Self.greylisted)"))
            let table = try await command("outbox", "list")
            #expect(table.output.contains("verification-code") && !table.output.contains("kim@"))
            #expect(table.output.contains(Self.greylisted) && table.output.hasSuffix("\n\n1 of 1 mail\n"))

            let id = try #require(mail["id"]?.string)
            #expect(try await command("outbox", "retry", id).output == "requeued mail \(id)\n")
            #expect(try await service.readCode(for: "kim@example.com").count == 6)
            #expect(try await command("outbox", "retry", id).status == 1)
            #expect(try await command("outbox", "flush").output == "requeued 0 mails\n")
            #expect(try audit() == ["mina: retry \(id)"])

            service.mailbox.refuse(with: .temporary(reply: 451, reason: "greylisted"))
            for name in ["lee", "park"] {
                _ = try await service.fill(service.start(), through: "email", email: "\(name)@example.com")
            }
            try await service.deliver()
            service.mailbox.refuse(with: nil)
            try session.run("UPDATE outbox SET due_at = now() + interval '1 hour' WHERE state = 'waiting'")
            #expect(try await command("outbox", "flush").output == "requeued 2 mails\n")
            #expect(try session.query("SELECT FROM outbox WHERE state = 'waiting' AND attempts = 0").count == 2)
            #expect(try audit() == ["mina: retry \(id)", "mina: flush"])
            #expect(try await service.readCode(for: "lee@example.com").count == 6)
        }
    }

    @Test func `outbox list finds the mail of a draft and of an address, page by page`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "code")
            try session.letPass("2 minutes")
            let other = try await service.fill(service.start(), through: "email")
            _ = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            func mails(_ options: String...) async throws -> JSON {
                let run = try await CommandRun.byMina(["outbox", "list", "--json"] + options)
                return try JSON.read(Array(run.output.utf8))
            }
            func drafts(_ page: JSON) -> [JSON?] { page["mails"]?.items.map { $0["draft"] } ?? [] }
            let (first, second): (JSON, JSON) = (.string("\(kim.id)"), .string("\(other.id)"))
            #expect(try await drafts(mails("--draft", "\(kim.id)")) == [first])
            #expect(try audit() == [])
            let found = try await mails("--email", "Kim@example.com")
            #expect(drafts(found) == [second, first], "also the delivered mail of an unfinished sign-up")
            let ids = found["mails"]?.items.compactMap { $0["id"]?.string } ?? []
            #expect(try Set(audit()) == Set(ids.map { "mina: find mail \($0)" }))
            try session.run("TRUNCATE audit")
            #expect(try await mails("--email", "nobody@example.com")["total"] == 0)
            #expect(try audit() == ["mina: find mail"])

            let page = try await mails("--limit", "2")
            #expect(page["total"] == 3 && page["mails"]?.items.count == 2)
            let rest = try await mails("--after", #require(page["next"]?.string))
            #expect(drafts(rest) == [first] && rest["next"] == JSON.null)
            let line = try await command("outbox", "list", "--limit", "1").output.split(separator: "\n").last
            #expect(line?.hasPrefix("1 of 3 mails; next page: --after ") == true)
        }
    }

    @Test func `outbox show shows a mail with the answer of the mail server, by the first digits of its id`()
        async throws
    {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let id = try session.query("SELECT id::text FROM outbox").only.decode(String.self)
            let waiting = try await command("outbox", "show", String(id.prefix(13)))
            for line in ["mail       \(id)", "recipient  k•••@e•••.com", "draft      \(draft.id)", "attempts   0"] {
                #expect(waiting.output.contains("\(line)\n"))
            }
            #expect(try audit() == [])
            let revealed = try await command("outbox", "show", id, "--reveal")
            #expect(revealed.output.contains("recipient  kim@example.com\n"))
            #expect(try audit() == ["mina: reveal mail \(id)"])
            try await service.deliverNext(to: .accept("250 2.0.0 Ok: queued as 4Zx1"))
            let delivered = try await command("outbox", "show", id)
            #expect(delivered.output.contains("state      delivered\n") && !delivered.output.contains("recipient"))
            #expect(delivered.output.hasSuffix("\nreply      250 2.0.0 Ok: queued as 4Zx1\n"))
            let json = try JSON.read(Array(await command("outbox", "show", id, "--json").output.utf8))
            #expect(json["reply"] == "250 2.0.0 Ok: queued as 4Zx1" && json["finished_at"]?.string != nil)

            try session.run(
                """
                INSERT INTO outbox (id, template, state, useless_after)
                SELECT (left(id::text, 35) || translate(right(id::text, 1), '0123456789abcdef', '123456789abcdef0'))::uuid,
                       template, state, useless_after FROM outbox
                """
            )
            let several = try await command("outbox", "show", String(id.prefix(13)))
            #expect(several.status == 1 && several.errorOutput.contains("2 mails have an id that begins with"))
            let none = try await command("outbox", "show", "ffffffff-ffff")
            #expect(none.status == 1 && none.errorOutput.contains("no mail with the id \"ffffffff-ffff\""))
        }
    }

    @Test func `drafts why says what has become of the mail with the code`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            func reason() async throws -> [JSON?] {
                let why = try await command("drafts", "why", "\(draft.id)", "--json")
                let obstacles = try JSON.read(Array(why.output.utf8))["obstacles"]?.items ?? []
                return obstacles.filter { $0["field"] == "code" }.flatMap { [$0["reason"], $0["message"]] }
            }
            #expect(try await reason() == ["code_waiting", "the mail with the code waits to be sent"])
            try await service.deliverNext(to: .refuse("451 4.7.1 <ADDRESS>: Greylisted, please come back later"))
            try session.run("UPDATE outbox SET due_at = now() - interval '1 s'")
            #expect(
                try await reason() == [
                    "code_postponed",
                    .string("the mail server has postponed the code: \(Self.greylisted), next attempt now"),
                ]
            )
            try session.run(
                "UPDATE outbox SET due_at = now() + interval '100 days', last_error = 'not delivered yet: no route'"
            )
            let unsent = "the code could not be sent yet: no route, next attempt in "
            #expect(try await reason().last??.string?.hasPrefix(unsent) == true)
            try session.run("UPDATE outbox SET due_at = now()")
            try await service.deliverNext(to: .refuse("550 5.1.1 <ADDRESS>: User unknown"))
            let text = "the mail server has refused the code, so the person must request a new one: "
            let refused = ["code_refused", text + "550 5.1.1 <address>: User unknown"]
            #expect(try await reason().map { $0?.string } == refused)
            let rest = "cannot requeue 1 dead mail of the last day (outbox list --state dead)"
            #expect(try await command("outbox", "flush").output == "requeued 0 mails; \(rest)\n")
            try session.letPass("11 minutes")
            #expect(try await reason().map { $0?.string } == refused, "more helpful than that the code has expired")

            let current = try #require(try await Operator(service.signups, name: "mina").draft(draft.id))
            _ = try await service.signups.resend(service.signups.flow.step(named: "code")!, of: current)
            try await service.deliver()
            #expect(try await reason() == ["code_not_given", "code sent, not entered yet"])
        }
    }

    @Test func `a code that comes too late keeps the reason`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            try await service.deliverNext(to: .refuse("451 4.7.1 Greylisted"))
            try session.run("UPDATE outbox SET useless_after = now(), due_at = now()")
            try await service.deliver()
            let why = try await command("drafts", "why", "\(draft.id)")
            let reason = "expired before delivery; not delivered yet: 451 4.7.1 Greylisted"
            #expect(why.output.contains("the code was not sent, so the person must request a new one: \(reason)"))
        }
    }

    @Test func `drafts why says whether the mail of an expired code can still arrive`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            func code() async throws -> [String?] {
                let why = try await command("drafts", "why", "\(draft.id)", "--json")
                let obstacles = try JSON.read(Array(why.output.utf8))["obstacles"]?.items ?? []
                return obstacles.filter { $0["field"] == "code" }.flatMap {
                    [$0["reason"]?.string, $0["message"]?.string]
                }
            }
            try session.letPass("11 minutes")
            #expect(try await code() == ["code_waiting", "the code has expired, and its mail still waits to be sent"])
            try await service.deliverNext(to: .refuse("451 4.7.1 Greylisted"))
            let failure = "451 4.7.1 Greylisted"
            let postponed =
                "the code has expired, and the mail server has postponed its mail: \(failure), next attempt in "
            #expect(try await code().first == "code_postponed")
            #expect(try await code().last??.hasPrefix(postponed) == true)
            // As for a mail without a link to a new code.
            try session.run("UPDATE outbox SET useless_after = due_at")
            let notSent = "the code was not sent, so the person must request a new one: "
            let tooLate = notSent + "expired before delivery; not delivered yet: \(failure)"
            #expect(try await code() == ["code_refused", tooLate])
            try session.run("UPDATE outbox SET due_at = now(), useless_after = now()")
            try await service.deliver()
            #expect(try session.number(of: "outbox WHERE state = 'dead'") == 1)
            #expect(try await code() == ["code_refused", tooLate], "the same when the mail is given up")
        }
    }
}
