import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The commands that change drafts", .freshDatabase, .timeLimit(.minutes(30)))
struct DraftChangeCommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `drafts expire deletes a draft, and its owner gets the reason expired`() async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            #expect(try await command("drafts", "expire", "\(draft.id)").status == 0)
            await #expect { try await service.signups.find(token) } throws: { error in
                if case FindError.ended(.expired) = error { true } else { false }
            }
            let again = try await command("drafts", "expire", "\(draft.id)")
            #expect(again.status == 1 && again.errorOutput.contains("no open draft \(draft.id)"))
            #expect(try audit() == ["mina: expire \(draft.id)"])
        }
    }

    @Test func `a command succeeds although its statistics cannot be written`() async throws {
        try await TestSignups.with { service in
            let (draft, _) = try await service.signups.start(in: .english)
            try session.run("ALTER TABLE funnel_daily RENAME TO hidden")
            let run = try await command("drafts", "expire", "\(draft.id)")
            #expect(run.status == 0 && run.output == "deleted draft \(draft.id)\n")
            #expect(run.errorOutput.hasPrefix("warning: the funnel may lack what this command has deleted: "))
        }
    }

    @Test func `drafts purge deletes the matching drafts and prints how many`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let old = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            let recent = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            try session.run("UPDATE drafts SET created_at = now() - interval '3 hours' WHERE id = '\(old.id)'")
            #expect(try await command("drafts", "purge").status == 2)
            let trial = try await command("drafts", "purge", "--email", "lee@example.com", "--dry-run")
            #expect(trial.output == "would delete 2 drafts\n")
            #expect(try Set(audit()) == ["mina: find drafts \(old.id)", "mina: find drafts \(recent.id)"])
            try session.run("TRUNCATE audit")
            let aged = try await command(
                "drafts",
                "purge",
                "--email",
                "lee@example.com",
                "--older-than",
                "2h",
                "--json",
                "--yes"
            )
            #expect(aged.output == #"{"drafts":1,"dry_run":false}"# + "\n")
            #expect(try session.query("SELECT FROM drafts WHERE id = \(recent.id)").count == 1)
            #expect(
                try await command("drafts", "purge", "--email", "lee@example.com", "--yes").output
                    == "deleted 1 draft\n"
            )
            #expect(try session.query("SELECT FROM drafts").count == 1)
            #expect(
                try await command("drafts", "purge", "--email", "lee@example.com", "--yes").output
                    == "deleted 0 drafts\n"
            )
            #expect(
                try audit() == [
                    "mina: find drafts \(old.id)", "mina: purge \(old.id)", "mina: find drafts \(recent.id)",
                    "mina: purge \(recent.id)", "mina: find drafts",
                ]
            )
        }
    }

    @Test func `drafts purge selects drafts by their state and step`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            _ = try await service.readyDraft(email: "lee@example.com", username: "lee")
            #expect(try await command("drafts", "purge", "--state", "committed", "--yes").status == 2)
            #expect(
                try await command("drafts", "purge", "--state", "review", "--dry-run").output
                    == "would delete 1 draft\n"
            )
            #expect(
                try await command("drafts", "purge", "--state", "review", "--yes").output == "deleted 1 draft\n"
            )
            #expect(
                try await command("drafts", "purge", "--state", "open", "--step", "email", "--yes").output
                    == "deleted 0 drafts\n"
            )
            #expect(try session.query("SELECT FROM drafts WHERE id = \(kim.id)").count == 1)
            let funnel = try await command("drafts", "funnel").output.split(separator: "\n")
            let header = try #require(funnel.first { $0.hasPrefix("STEP") })
            let review = try #require(funnel.first { $0.hasPrefix("review") })
            let column = header[..<(try #require(header.firstRange(of: "REMOVED")).lowerBound)].count
            #expect(review.dropFirst(column).hasPrefix("1"))
        }
    }

    @Test func `drafts purge asks before it deletes, and deletes nothing if nobody can answer`() async throws {
        try await TestSignups.with { service in
            for name in ["kim", "lee"] {
                _ = try await service.fill(service.start(), through: "email", email: "\(name)@example.com")
            }
            let purge = ["drafts", "purge", "--state", "open"]
            let unanswered = try await CommandRun.byMina(purge)
            #expect(unanswered.status == 2 && unanswered.errorOutput.contains("pass --yes"))
            for (answer, left) in [("n", 2), ("y", 0)] {
                let terminal = try TerminalSession(
                    columns: 80,
                    lines: 24,
                    purge,
                    settings: CommandRun.settingsOfMina
                )
                #expect(try await terminal.expect("Delete 2 drafts? [y/N]").timedOut == nil)
                try await terminal.press("\(answer)\r")
                #expect(try await terminal.end().status == (left > 0 ? 1 : 0))
                #expect(try session.number(of: "drafts") == left)
            }
        }
    }

    @Test func `drafts purge writes one record of each found draft, also if it asks`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            let terminal = try TerminalSession(
                columns: 80,
                lines: 24,
                ["drafts", "purge", "--email", "lee@example.com"],
                settings: CommandRun.settingsOfMina
            )
            let question = "Delete 1 draft and the tickets in mails to the address? [y/N]"
            #expect(try await terminal.expect(question).timedOut == nil)
            try await terminal.press("y\r")
            #expect(try await terminal.end().status == 0)
            #expect(try audit() == ["mina: find drafts \(draft.id)", "mina: purge \(draft.id)"])
        }
    }

    @Test func `drafts extend extends a live draft with its lease on the username, but not an expired draft`()
        async throws
    {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "profile")
            try session.letPass("23 hours")
            let extended = try await command("drafts", "extend", "\(draft.id)")
            #expect(extended.output == "extended draft \(draft.id): expires in 24 h\n")
            try session.letPass("23 hours")
            #expect(try await command("drafts", "show", "\(draft.id)").status == 0)
            #expect(try session.query("SELECT FROM leases WHERE until > now() + interval '6 days'").count == 1)
            #expect(try audit() == ["mina: extend \(draft.id)"])
            try session.letPass("2 hours")
            #expect(try await command("drafts", "extend", "\(draft.id)").status == 1)
            #expect(try await command("drafts", "show", "\(draft.id)").errorOutput.contains("has ended"))
        }
    }
}
