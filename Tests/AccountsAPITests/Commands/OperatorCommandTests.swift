import Accounts
import Foundation
import Logging
import TestSupport
import Testing

@testable import accounts_api

@Suite("Operator commands", .freshDatabase, .timeLimit(.minutes(5)))
struct OperatorCommandTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    private func command(_ arguments: String..., settings: [String: String] = [:]) async throws -> CommandRun {
        try await command(arguments: arguments, settings: settings)
    }

    private func command(arguments: [String], settings: [String: String] = [:]) async throws -> CommandRun {
        let standard = [
            "DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys, "USER": "root",
            "SUDO_USER": "mina",
        ]
        return try await CommandRun.of(arguments, settings: standard.merging(settings) { $1 })
    }

    private func audit() throws -> [String] {
        try session.query(
            "SELECT operator || ': ' || act || coalesce(' ' || subject::text, '') FROM audit ORDER BY number"
        )
        .map { try $0.decode(String.self) }
    }

    @Test(arguments: [
        ["drafts", "list"], ["keys", "rotate"], ["sessions", "list", "nobody"], ["migrate", "--status"],
    ])
    func `a command warns of a password in a flag, and of none elsewhere`(arguments: [String]) async throws {
        let conninfo = FreshDatabase.current.conninfo
        let password = conninfo.hasPrefix("postgres") ? "&password=canary" : " password=canary"
        let settings = ["ACCOUNTS_KEYS": TestSignups.keys, "USER": "mina"]
        let warned = try await CommandRun.of(
            arguments + ["--database-url", conninfo + password],
            settings: settings
        )
        let warning = "other users of this machine can read the password in --database-url"
        #expect(warned.errorOutput.hasPrefix("warning: \(warning); use DATABASE_URL or DATABASE_URL_FILE instead\n"))
        #expect(!warned.errorOutput.contains("canary"))
        let json = try await CommandRun.of(
            arguments + ["--json", "--database-url", conninfo + password],
            settings: settings
        )
        let line = try #require(json.errorOutput.split(separator: "\n").first)
        #expect(try JSON.read(Array(line.utf8))["warning"]?.string?.hasPrefix(warning) == true)
        for (flags, variable) in [(["--database-url", conninfo], nil), ([], conninfo + password)] {
            let quiet = try await CommandRun.of(
                arguments + flags,
                settings: settings.merging(variable.map { ["DATABASE_URL": $0] } ?? [:]) { $1 }
            )
            #expect(!quiet.errorOutput.contains("warning") && quiet.status == warned.status)
        }
    }

    // MARK: - Drafts

    @Test func `drafts list prints and filters drafts, newest first, with masked addresses`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "code")
            let lee = try await service.readyDraft(email: "lee@example.com", username: "lee")
            let park = try await service.readyDraft(email: "park@example.com", username: "park")
            _ = try await service.signups.commit(park)
            try session.run("UPDATE drafts SET created_at = now() - interval '3 hours' WHERE id = '\(kim.id)'")

            let list = try await command("drafts", "list")
            #expect(list.status == 0 && list.errorOutput.isEmpty)
            #expect(list.output.hasSuffix("\n\n3 of 3 drafts\n"))
            let lines = list.output.split(separator: "\n").dropLast().map { $0.split(separator: " ").map(String.init) }
            #expect(lines.map { $0[0] } == ["ID", "\(park.id)", "\(lee.id)", "\(kim.id)"])
            #expect(lines.map { $0[1] } == ["STATE", "committed", "review", "open"])
            #expect(lines[0][4...] == ["FAILURES", "CREATED", "UPDATED", "EXPIRES"])
            #expect(lines[2][3] == "l•••@e•••.com" && lines[3][3] == "k•••@e•••.com")
            #expect(lines[3][2] == "password" && list.output.contains("3 h ago"))
            #expect(!list.output.contains("example"))

            for (options, found) in [
                (["--state", "review"], [lee]), (["--step", "password"], [kim]), (["--older-than", "2h"], [kim]),
                (["--email", "Lee@Example.COM"], [lee]), (["--limit", "1"], [park]), (["--state", "expired"], []),
            ] {
                let run = try await CommandRun.of(
                    ["drafts", "list", "--json"] + options,
                    settings: [
                        "DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys,
                        "USER": "mina",
                    ]
                )
                #expect(try run.json["drafts"]?.texts(of: "id") == found.map { "\($0.id)" }, "\(options)")
            }

            let first = try await command("drafts", "list", "--limit", "2")
            #expect(first.output.hasSuffix("\n\n2 of 3 drafts; next page: --after \(lee.id)\n"))
            let second = try await command("drafts", "list", "--limit", "2", "--after", "\(lee.id)", "--json").json
            #expect(second["drafts"]?.texts(of: "id") == ["\(kim.id)"])
            #expect(second["total"] == 3 && second["next"] == .null)
            let none = try await command("drafts", "list", "--state", "expired", "--json").json
            #expect(none == ["drafts": [], "total": 0, "next": .null])
            #expect(try await command("drafts", "list", "--state", "expired").output == "no drafts\n")
        }
    }

    @Test func `drafts show masks values, and --reveal shows them and writes an audit record`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "contact")
            let masked = try await command("drafts", "show", "\(draft.id)")
            #expect(masked.status == 0 && masked.output.contains("k•••@e•••.com"))
            for value in ["kim@", "Kim", "2001-02-28", "argon2"] { #expect(!masked.output.contains(value)) }
            #expect(try audit() == [])

            let revealed = try await command("drafts", "show", "\(draft.id)", "--reveal")
            for value in ["kim@example.com", "Kim", "2001-02-28"] { #expect(revealed.output.contains(value)) }
            #expect(!revealed.output.contains("argon2"), "a secret is never shown")
            #expect(try audit() == ["mina: reveal draft \(draft.id)"])

            let json = try await command("drafts", "show", "\(draft.id)", "--json")
            let shown = try JSON.read(Array(json.output.utf8))
            #expect(shown["next"] == "totp" && shown["values"]?["email"] == "k•••@e•••.com")
            #expect(shown["values"]?["code"] == "verified" && shown["values"]?["password"] == "set")
        }
    }

    @Test func `drafts show has the history of the draft, of its codes and of their mails`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            let id = try session.query("SELECT id::text FROM outbox").only.decode(String.self)
            try session.letPass("3 minutes")
            try await service.deliverNext(to: .accept("250 2.0.0 Ok: queued as 4Zx1"))
            func shown() async throws -> String { try await command("drafts", "show", "\(draft.id)").output }
            let events = try await shown().split(separator: "\n").drop { !$0.hasPrefix("TIME") }.map { line in
                line.replacing(/[0-9]+ (s|min)/, with: "N").split(separator: " ").joined(separator: " ")
            }
            #expect(
                events == [
                    "TIME EVENT", "N ago started", "N ago last change", "N ago code: new code, 0 of 5 guesses wrong",
                    "N ago mail \(id), verification-code: delivered N ago, 250 2.0.0 Ok: queued as 4Zx1",
                    "in N code: code expires",
                ]
            )
            for _ in 1...5 {
                try session.run("UPDATE proofs SET code_digest = ''")
                _ = try? await service.submit(["code": "000000"], to: "code", of: draft)
            }
            let usedUp = try await shown()
            #expect(usedUp.contains("code: new code, 5 of 5 guesses wrong"))
            #expect(usedUp.contains("used up by wrong guesses"))

            let json = try JSON.read(Array(await command("drafts", "show", "\(draft.id)", "--json").output.utf8))
            let code = json["codes"]?.items.first
            #expect(code?["wrong_guesses"] == 5 && code?["maximum"] == 5 && code?["entered_at"] == JSON.null)
            #expect(json["mails"]?.items.map { $0["id"] } == [.string(id)])
            #expect(json["created_at"]?.string != nil && json["updated_at"]?.string != nil)
        }
    }

    @Test func `drafts why lists the obstacles to a commit`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            try await service.deliver()
            let why = try await command("drafts", "why", "\(draft.id)")
            let lines = why.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            #expect(
                lines.map { $0[1] } == ["FIELD", "code", "password", "confirmation", "username", "birth_date", "terms"]
            )
            #expect(why.output.contains("code sent, not entered yet") && why.output.contains("missing"))
            try session.letPass("11 minutes")
            #expect(try await command("drafts", "why", "\(draft.id)").output.contains("the code has expired"))

            let ready = try await service.readyDraft(email: "lee@example.com", username: "lee")
            #expect(
                try await command("drafts", "why", "\(ready.id)").output
                    == "nothing is missing: a commit would succeed now\n"
            )
            let account = try await service.signups.commit(
                service.readyDraft(email: "park@example.com", username: "park")
            )
            .account
            try session.query("INSERT INTO identifiers VALUES ('email', 'lee@example.com', \(account.id))")
            let taken = try await command("drafts", "why", "\(ready.id)", "--json")
            let obstacles = try JSON.read(Array(taken.output.utf8))["obstacles"]
            #expect(obstacles?.items.map { $0["reason"] } == ["taken"])
        }
    }

    @Test func `a draft whose account was deleted can be listed and shown`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let account = try await service.signups.commit(draft).account
            try session.run("DELETE FROM accounts")
            let list = try await command("drafts", "list")
            #expect(list.status == 0 && list.output.contains("\(draft.id)"))
            let shown = try await command("drafts", "show", "\(draft.id)")
            #expect(shown.status == 0 && shown.output.contains("account   \(account.id), deleted\n"))
            let detail = try await command("drafts", "show", "\(draft.id)", "--json")
            #expect(try JSON.read(Array(detail.output.utf8))["account_deleted"] == true)
            #expect(
                try await command("drafts", "why", "\(draft.id)").output
                    == "nothing is missing: the draft became an account, which was deleted\n"
            )
        }
    }

    @Test func `a draft is named by the first digits of its id, its address or its username`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "profile")
            let digits = "\(kim.id)".prefix(18).description
            for name in [digits, "\(kim.id)".replacing("-", with: "").uppercased()] {
                #expect(try await command("drafts", "show", name).output.contains("draft     \(kim.id)\n"))
            }
            #expect(try audit() == [])
            for name in ["Kim@example.com", "KIM"] {
                #expect(try await command("drafts", "why", name).status == 0)
                let mails = try await command("outbox", "list", "--draft", name)
                #expect(mails.output.contains("delivered") && mails.output.hasSuffix("1 of 1 mail\n"))
            }
            #expect(try audit() == Array(repeating: "mina: find drafts \(kim.id)", count: 4))
            try session.run("TRUNCATE audit")
            #expect(try await command("drafts", "extend", "kim").output.hasPrefix("extended draft \(kim.id): "))
            #expect(try audit() == ["mina: find drafts \(kim.id)", "mina: extend \(kim.id)"])

            let none = try await command("drafts", "why", "nobody@example.com")
            #expect(none.status == 1)
            #expect(none.errorOutput.contains("no open draft with the id, address or username \"nobody@example.com\""))
            let other = try await service.fill(service.start(), through: "email")
            let several = try await command("drafts", "expire", "kim@example.com")
            #expect(several.status == 1)
            #expect(
                several.errorOutput.contains(
                    "2 open drafts have this address, pass an id:\n  \(other.id)\n  \(kim.id)\n"
                )
            )
            #expect(try await command("drafts", "expire", "\(other.id)").status == 0)
            #expect(try await command("drafts", "expire", "kim@example.com").output == "deleted draft \(kim.id)\n")
            let ambiguous = try await ambiguousDigits(of: service)
            let refused = try await command("drafts", "show", ambiguous)
            #expect(refused.status == 1 && refused.errorOutput.contains("drafts have an id that begins with"))
        }
    }

    /// Six digits with which the ids of two new drafts begin.
    private func ambiguousDigits(of service: TestSignups) async throws -> String {
        let ids = [try await service.start().id, try await service.start().id]
        let digits = ids.map { "\($0)".prefix(6).description }
        // These digits are of the time, and change every few hours.
        if digits[0] != digits[1] { return try await ambiguousDigits(of: service) }
        return digits[0]
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
                    settings: [
                        "DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys,
                        "USER": "mina",
                    ]
                )
                #expect(try await terminal.expect("Delete 2 drafts? [y/N]").timedOut == nil)
                try await terminal.press("\(answer)\r")
                #expect(try await terminal.end().status == (left > 0 ? 1 : 0))
                #expect(try session.number(of: "drafts") == left)
            }
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

    @Test func `a stored password stays hidden after the flow file changes the kind of its field`() async throws {
        let id = try await TestSignups.with { service in try await service.fill(service.start(), through: "password").id
        }
        let flow = """
            flow: other
            version: 1
            steps:
              - name: all
                title: All
                fields: [{name: password, kind: text, label: Text}, {name: email, kind: text, label: Text}]
            """.replacing("name: email, kind: text", with: "name: nick, kind: text")
        try await withFile(flow) { path in
            let shown = try await command("drafts", "show", "\(id)", "--reveal", settings: ["FLOW_FILE": path])
            #expect(shown.status == 0 && !shown.output.contains("argon2"))
            #expect(shown.errorOutput.contains("default@1") && shown.errorOutput.contains("other@1"))
        }
    }

    @Test func `an audit record needs a valid operator name`() async throws {
        let id = "01a1fdb2-1117-7906-a197-83af84022e4d"
        for (name, message) in [
            ("", "pass --operator NAME: this command writes an audit record"),
            ("mi\u{1B}na", "invalid operator name \"mi\u{FFFD}na\""),
        ] {
            let refused = try await command("drafts", "expire", id, "--operator", name)
            #expect(refused.status == 2 && refused.errorOutput.contains(message))
        }
        let unnamed = try await CommandRun.of(
            ["drafts", "expire", id],
            settings: ["DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys]
        )
        #expect(unnamed.status == 2 && unnamed.errorOutput.contains("--operator"))
    }

    /// A draft with an address, and the settings of a key ring that lacks the key of the servers.
    private func strangersKeys() async throws -> [String: String] {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            #expect(try await KeyRing(TestSignups.keys).mismatch(with: service.database) == nil)
        }
        return ["ACCOUNTS_KEYS": "other:v2:" + Data(repeating: 9, count: 32).base64EncodedString()]
    }

    @Test(arguments: [
        ["drafts", "list", "--email", "kim@example.com"], ["drafts", "purge", "--email", "kim@example.com", "--yes"],
        ["drafts", "purge", "--email", "kim@example.com", "--dry-run"], ["accounts", "show", "kim@example.com"],
        ["drafts", "expire", "01a1fdb2-1117-7906-a197-83af84022e4d"], ["outbox", "flush"], ["keys", "rotate"],
    ])
    func `a search and a change are refused with keys that do not fit the database`(arguments: [String]) async throws {
        let run = try await CommandRun.byMina(arguments, settings: strangersKeys())
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(
            run.errorOutput == #"ACCOUNTS_KEYS lacks the key "test" of this database: pass the keys of the servers"#
                + "\n"
        )
        #expect(try session.number(of: "drafts") == 1 && audit() == [])
    }

    @Test func `a list warns of keys that do not fit the database`() async throws {
        let keys = try await strangersKeys()
        let list = try await command("drafts", "list", settings: keys)
        #expect(list.status == 0 && list.output.contains("open") && !list.output.contains("•"))
        #expect(list.output.contains(" sealed "))
        #expect(list.errorOutput.hasPrefix(#"warning: ACCOUNTS_KEYS lacks the key "test" of this database"#))
        let json = try await command("outbox", "list", "--json", settings: keys)
        #expect(json.status == 0)
        #expect(try json.errorJSON["warning"]?.string?.contains(#"the key "test""#) == true)
        #expect(try await command("drafts", "list").errorOutput.isEmpty)
    }

    @Test(arguments: [
        ["audit", "list"], ["drafts", "funnel"], ["drafts", "purge", "--state", "expired", "--yes"],
        ["outbox", "flush"],
        ["events", "list"], ["accounts", "list", "--username", "kim"], ["sessions", "end", "--everybody", "--yes"],
        ["keys", "signing", "list"],
    ])
    func `a command that decrypts nothing needs no keys`(arguments: [String]) async throws {
        let settings = ["DATABASE_URL": FreshDatabase.current.conninfo, "USER": "mina"]
        let run = try await CommandRun.of(arguments, settings: settings)
        #expect(run.status == 0 && run.errorOutput.isEmpty && !run.output.isEmpty)
    }

    @Test func `commands change drafts and accounts without keys`() async throws {
        try await TestSignups.with { service in
            let settings = ["DATABASE_URL": FreshDatabase.current.conninfo, "USER": "mina"]
            let account = try await service.signups.commit(service.readyDraft()).account.id
            let lee = try await service.fill(
                service.start(),
                through: "profile",
                email: "lee@example.com",
                username: "lee"
            )
            for (arguments, output) in [
                (["accounts", "show", "kim"], "account   \(account)"),
                (["accounts", "disable", "kim"], "disabled account"),
                (["accounts", "enable", "\(account)"], "enabled account"),
                (["accounts", "erase", "kim@example.com", "--yes"], "erased account \(account)"),
                (["drafts", "extend", "\(lee.id)"], "extended draft \(lee.id)"),
                (["drafts", "expire", "\(lee.id)"], "deleted draft \(lee.id)"),
            ] {
                let run = try await CommandRun.of(arguments, settings: settings)
                #expect(run.status == 0 && run.output.hasPrefix(output), "\(arguments): \(run.errorOutput)")
            }
            for arguments in [["drafts", "board"], ["drafts", "purge", "--email", "lee@example.com", "--yes"]] {
                let run = try await CommandRun.of(arguments, settings: settings)
                #expect(run.status == 2 && run.errorOutput == "ACCOUNTS_KEYS is missing\n")
            }
        }
    }

    // MARK: - Accounts and mail

    @Test func `an account is shown by its address and by its id`() async throws {
        try await TestSignups.with { service in
            let account = try await service.signups.commit(service.readyDraft()).account
            for key in ["KIM@example.com", "\(account.id)"] {
                let shown = try await command("accounts", "show", key)
                #expect(shown.status == 0 && shown.output.contains("\(account.id)"))
                #expect(shown.output.contains("k•••@e•••.com") && shown.output.contains("factor    password"))
                for value in ["kim@", "2001-02-28", "argon2"] { #expect(!shown.output.contains(value)) }
            }
            let revealed = try await command(
                "accounts",
                "show",
                "kim@example.com",
                "--reveal",
                "--operator",
                "jun",
                "--json"
            )
            let json = try JSON.read(Array(revealed.output.utf8))
            #expect(json["values"]?["birth_date"] == "2001-02-28" && json["credentials"] == ["password"])
            #expect(
                try audit() == [
                    "mina: find account \(account.id)", "jun: find account \(account.id)",
                    "jun: reveal account \(account.id)",
                ]
            )
            let missing = try await command("accounts", "show", "lee@example.com")
            #expect(missing.status == 1 && missing.output.isEmpty)
            #expect(try audit().last == "mina: find account", "a search without a result is recorded, too")
            let invalid = try await command("accounts", "show", "no address@")
            #expect(invalid.status == 2 && invalid.errorOutput.contains("invalid e-mail address \"no address@\""))
        }
    }

    @Test func `an account is shown with the rows of every kind`() async throws {
        try await TestSignups.with { service in
            let id = try await service.signups.commit(service.readyDraft()).account.id
            try session.run(
                """
                UPDATE accounts SET created_at = now() - interval '3 h', email_proved_at = now() - interval '4 h';
                UPDATE consents SET given_at = now() - interval '2 h';
                INSERT INTO consents (account, field, accepted, version, document, locale, given_at)
                SELECT account, 'marketing', false, '2025-01', document, locale, given_at FROM consents;
                INSERT INTO authenticators (account, sealed, last_step) VALUES ('\(id)', '', 0);
                INSERT INTO recovery_codes (account, digest) VALUES ('\(id)', '1'), ('\(id)', '2');
                INSERT INTO photos (account, field, type, image) VALUES ('\(id)', 'photo', 'image/jpeg', '123')
                """
            )
            #expect(
                try await command("accounts", "show", "\(id)").output == """
                    account   \(id)
                    flow      default@1
                    created   3 h ago
                    verified  4 h ago
                    factor    password
                    factor    authenticator, 2 recovery codes left

                    FIELD         VALUE
                    email         k•••@e•••.com
                    username      k•••
                    birth_date    •••
                    display_name  K•••
                    photo         photo, 3 bytes
                    marketing     not accepted 2 h ago, version 2025-01
                    terms         accepted 2 h ago, version 2026-11

                    """
            )

            let (created, proved, given) = try session.query(
                """
                SELECT created_at, email_proved_at, (SELECT given_at FROM consents WHERE field = 'terms') FROM accounts
                """
            )
            .only.decode(Date.self, Date.self, Date.self)
            let shown: JSON = [
                "id": .string("\(id)"), "flow": "default@1", "created_at": .string(created.timestamp),
                "proved_at": .string(proved.timestamp), "credentials": ["password"], "authenticator": true,
                "recovery_codes": 2, "disabled_at": nil, "sessions": 0, "devices": 0,
                "address_changes": [],
                "values": [
                    "email": "k•••@e•••.com", "username": "k•••", "birth_date": "•••", "display_name": "K•••",
                ],
                "consents": [
                    [
                        "field": "marketing", "version": "2025-01", "accepted": false, "at": .string(given.timestamp),
                    ],
                    ["field": "terms", "version": "2026-11", "accepted": true, "at": .string(given.timestamp)],
                ],
                "past_consents": [], "photos": ["photo": 3],
            ]
            #expect(try await command("accounts", "show", "\(id)", "--json").output == shown.text + "\n")

            for table in ["credentials", "authenticators", "recovery_codes", "consents", "photos"] {
                try session.run("DELETE FROM \(table)")
            }
            let bare = try JSON.read(Array(await command("accounts", "show", "\(id)", "--json").output.utf8))
            #expect(bare["credentials"] == [] && bare["authenticator"] == false && bare["recovery_codes"] == 0)
            #expect(bare["consents"] == [] && bare["photos"] == [:])
        }
    }

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

    private static let greylisted = "451 4.7.1 <address>: Greylisted, please come back later"

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
            let refused = ["code_refused", "the mail server has refused the code: 550 5.1.1 <address>: User unknown"]
            #expect(try await reason().map { $0?.string } == refused)
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
            #expect(why.output.contains("the code was not sent: \(reason)"))
        }
    }

    @Test func `a search for an address writes an audit record with the role of the database`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            for address in ["kim@example.com", "lee@example.com"] {
                #expect(try await command("drafts", "list", "--email", address).status == 0)
            }
            #expect(try await command("drafts", "list").status == 0)
            #expect(try audit() == ["mina: find drafts \(kim.id)", "mina: find drafts"])
            let isKnown = try session.query("SELECT bool_and(role = session_user) FROM audit").only.decode(Bool.self)
            #expect(isKnown)
        }
    }

    // MARK: - Failures

    @Test(arguments: [
        (["drafts", "show", "none"], 2), (["drafts", "list", "--state", "stuck"], 2),
        (["drafts", "list", "--limit", "0"], 2),
        (["drafts", "show", "01a1fdb2-1117-7906-a197-83af84022e4d"], 1),
        (["drafts", "list", "--older-than", "soon"], 2),
        (["outbox", "retry", "01a1fdb2-1117-7906-a197-83af84022e4d", "--operator", "mina"], 1),
        (["drafts", "list", "--email", "kim@example.com"], 2), (["accounts", "show", "kim@example.com"], 2),
        (["drafts", "purge", "--email", "kim@example.com", "--dry-run"], 2),
    ])
    func `a failed command writes only to standard error`(arguments: [String], status: Int) async throws {
        let run = try await CommandRun.of(
            arguments,
            settings: ["DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys]
        )
        #expect(Int(run.status) == status && run.output.isEmpty && !run.errorOutput.isEmpty)
    }

    @Test(arguments: [
        (["drafts", "list", "--email", "x"], "drafts list"), (["accounts", "show", "a@"], "accounts show"),
        (["keys", "signing", "rotate"], "keys signing rotate"),
    ])
    func `an error about a value leads to the help of the command`(arguments: [String], path: String) async throws {
        let run = try await command(arguments: arguments)
        #expect(run.status == 2 && !run.errorOutput.contains("Usage:"))
        #expect(run.errorOutput.hasSuffix("\nSee 'accounts-api \(path) --help' for more information.\n"))
    }

    @Test func `help of an unknown command is an error`() async throws {
        for arguments in [["help", "nosuch"], ["help", "drafts", "nosuch"]] {
            let run = try await CommandRun.of(arguments, settings: [:])
            #expect(run.status == 2 && run.errorOutput.contains("unknown command \"nosuch\""))
        }
        #expect(try await CommandRun.of("help", "drafts", "list").output.contains("--older-than"))
        #expect(try await CommandRun.of("help").output.contains("SUBCOMMANDS"))
    }

    @Test func `migrate --status aligns the states`() async throws {
        let lines = try await command("migrate", "--status").output.split(separator: "\n")
        let columns = lines.map { line in
            line.prefix { $0 != " " }.count + line.drop { $0 != " " }.prefix { $0 == " " }.count
        }
        #expect(lines.count > 20 && Set(columns).count == 1)
    }

    @Test func `migrate prints how long each script took`() async throws {
        let forget = "DELETE FROM functions WHERE name = 'draft_id_floor'"
        try session.run(forget)
        let run = try await command("migrate")
        let line = /functions\/draft_id_floor  applied in [0-9]+\.[0-9][0-9] s\n/
        #expect(run.status == 0 && run.output.wholeMatch(of: line) != nil, "\(run.output) \(run.errorOutput)")
        try session.run(forget)
        let json = try await command("migrate", "--json").json
        #expect(json["applied"] == ["functions/draft_id_floor"] && json["pending"] == [])
        guard case .object(let seconds)? = json["seconds"] else {
            Issue.record("\(json)")
            return
        }
        #expect(seconds.map(\.name) == ["functions/draft_id_floor"])
        #expect(try await command("migrate").output == "the schema is up to date\n")
        #expect(try await command("migrate", "--status", "--json").json["seconds"] == .null)
    }

    @Test func `an outage is one message, with the reason beside it`() async throws {
        let log = CapturedLog()
        let database = Database("host=/nowhere", connections: 2, logger: log.logger)
        await #expect(throws: DatabaseError.self) { try await database.read("SELECT 1") }
        await database.shutdown()
        let line = try #require(log.lines.first { $0["level"] == "error" })
        #expect(line["message"] == "database unavailable")
        #expect(line["reason"]?.string?.contains("/nowhere") == true)
    }

    @Test func `no line of the help of the program is wrapped in an example`() async throws {
        let help = try await CommandRun.of("--help").output
        #expect(help.contains("\n  accounts-api --generate-completion-script bash >accounts-api.bash\n"))
    }

    @Test func `an unknown step is a usage error, unless a draft of an earlier flow is there`() async throws {
        for arguments in [["drafts", "list", "--step", "cod"], ["drafts", "purge", "--step", "cod", "--yes"]] {
            let run = try await CommandRun.byMina(arguments)
            #expect(run.status == 2)
            #expect(run.errorOutput.contains(#"unknown step "cod": the flow default@1 has email, code, password, "#))
        }
        for step in ["review", "recovery/code"] {
            #expect(try await command("drafts", "list", "--step", step).output == "no drafts\n")
        }
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            try session.run("UPDATE drafts SET step = 'cod'")
            #expect(try await command("drafts", "list", "--step", "cod").output.contains("\(kim.id)"))
        }
    }

    @Test func `an unavailable database is exit status 69, and missing settings are reported together`() async throws {
        let unavailable = try await command("drafts", "list", settings: ["DATABASE_URL": "host=/nowhere"])
        #expect(unavailable.status == 69)
        let missing = try await CommandRun.of(["drafts", "board"], settings: [:])
        #expect(missing.status == 2)
        #expect(missing.errorOutput.contains("DATABASE_URL") && missing.errorOutput.contains("ACCOUNTS_KEYS"))
    }

    @Test func `a table shortens its widest columns to fit the terminal, but neither the first nor the last`() {
        let table = Table(["0123456789", "a long long word", "한국어로 긴 낱말"], [["1", "2", "3"]])
        let lines = table.text(within: 36).split(separator: "\n")
        #expect(lines[0] == "0123456789  a long …  한국어로 긴")
        #expect(lines[1] == "                      낱말")
        #expect(table.text(within: nil).hasPrefix("0123456789  a long long word  한국어로 긴 낱말"))
        #expect(table.text(within: 1).hasPrefix("0123456789  "))
    }

    private static let outbox = Table(
        ["ID", "STATE", "TEMPLATE", "ATTEMPTS", "LAST ERROR"],
        [
            [
                .init(id: ID<Draft>("01a1ff41-2d4e-7b63-8f5a-0b6c2d9e1a53")!), "waiting", "verification-code", "12",
                "not delivered yet: 4.7.1 Greylisted, please come back later",
            ],
            [.init(id: ID<Draft>("01a1ff41-2d4f-7b63-8f5a-0b6c2d9e1a53")!), "delivered", "recovery-code", "1", ""],
        ],
        omittingIfNarrow: ["ATTEMPTS"]
    )

    @Test(
        arguments: [
            (
                110,
                """
                ID             STATE      TEMPLATE           ATTEMPTS  LAST ERROR
                01a1ff41-2d4e  waiting    verification-code  12        not delivered yet: 4.7.1 Greylisted, please come back
                                                                       later
                01a1ff41-2d4f  delivered  recovery-code      1
                """
            ),
            (
                70,
                """
                ID             STATE      TEMPLATE           LAST ERROR
                01a1ff41-2d4e  waiting    verification-code  not delivered yet: 4.7.1
                                                             Greylisted, please come
                                                             back later
                01a1ff41-2d4f  delivered  recovery-code
                """
            ),
        ]
    )
    func `a narrow table shortens ids, omits what it can do without, and wraps the last column`(
        width: Int,
        text: String
    ) {
        #expect(Self.outbox.text(within: width) == text)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= width })
    }

    @Test func `a table that fits is printed as it is`() {
        let text = Self.outbox.text(within: 140)
        #expect(text == Self.outbox.text(within: nil) && text.contains("01a1ff41-2d4e-7b63-8f5a-0b6c2d9e1a53"))
    }

    @Test func `lists fit a terminal of 80 columns, unless --wide is given`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft(email: "lee@example.com", username: "lee"))
            try await service.deliver()
            let draft = try await service.fill(service.start(), through: "email")
            try await service.deliverNext(to: .refuse("451 4.7.1 <ADDRESS>: Greylisted, please come back later"))
            try session.run(
                """
                INSERT INTO applications (id, events, has_webhook, backchannel_logout)
                VALUES ('shop', ARRAY['account.disabled'], true, false);
                SELECT write_event(id, 'account.disabled') FROM accounts;
                DELETE FROM deliveries;
                SELECT write_event(id, 'account.disabled') FROM accounts;
                UPDATE deliveries SET due_at = now() + interval '1 hour', last_error = 'answered 500 after 20 seconds'
                """
            )
            let settings = [
                "DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys, "USER": "mina",
            ]
            try await service.signups.funnel.flush(to: service.database)
            for (arguments, line) in [
                (["drafts", "list"], "2 of 2 drafts"), (["drafts", "funnel"], "code "),
                (["outbox", "list"], "3 of 3 mails"), (["events", "list"], "2 of 2 lines"),
                (["accounts", "list"], "1 of 1 account"),
            ] {
                let terminal = try TerminalSession(columns: 80, lines: 24, arguments, settings: settings)
                let screen = try await terminal.expect(line)
                #expect(screen.timedOut == nil && !screen.text.contains("…"), "\(screen.text)")
                #expect(try await terminal.end().status == 0)
            }
            let wide = try TerminalSession(columns: 80, lines: 24, ["drafts", "list", "--wide"], settings: settings)
            #expect(try await wide.expect("2 of 2 drafts").text.contains("\(draft.id)"))
        }
    }

    @Test func `colours do not widen a column`() {
        let table = Table(["A", "B"], [[.init("red", .red), "x"], [.init("green", .green), .init("last", .dim)]])
        #expect(
            table.text(within: nil, inColours: true) == """
                \u{1B}[1mA\u{1B}[0m      \u{1B}[1mB\u{1B}[0m
                \u{1B}[31mred\u{1B}[0m    x
                \u{1B}[32mgreen\u{1B}[0m  \u{1B}[2mlast\u{1B}[0m
                """
        )
        #expect(table.text(within: nil) == "A      B\nred    x\ngreen  last")
    }

    // MARK: - The funnel

    @Test func `drafts funnel counts how many people entered and completed each step, and the refusals`() async throws {
        let empty = try await command("drafts", "funnel")
        #expect(empty.status == 0 && empty.output == "no sign-ups in this period\n")
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft())
            let lee = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            for code in ["x", "y"] { _ = try? await service.submit(["code": .string(code)], to: "code", of: lee) }
            try await service.signups.cancel(lee)
            try await service.signups.funnel.flush(to: service.database)
            try session.run(
                """
                -- As if nobody had waited, however busy the machine is.
                WITH counted AS (DELETE FROM funnel_daily RETURNING *)
                INSERT INTO funnel_daily (day, flow, step, outcome, code, seconds, count)
                SELECT day, flow, step, outcome, code, 0, sum(count) FROM counted GROUP BY 1, 2, 3, 4, 5;
                INSERT INTO funnel_daily (day, flow, step, outcome, count)
                VALUES (now(), 'old@7', 'email', 'entered', 5), (now(), 'old@7', 'user', 'entered', 4),
                       (now(), 'old@7', 'age', 'entered', 3);
                INSERT INTO funnel_daily (day, flow, step, outcome, count)
                VALUES (now() - interval '9 days', 'default@1', 'email', 'entered', 1000)
                """
            )
            let lines = try await command("drafts", "funnel").output.split(separator: "\n").map {
                $0.split(separator: " ").joined(separator: " ")
            }
            #expect(
                lines == [
                    "default@1",
                    "STEP ENTERED CONTINUED RATE SHARE OF STARTS MEDIAN ABANDONED SUPERSEDED REMOVED REFUSALS",
                    "email 2 2 100 % ████████████████████ 0 s", "code 2 1 50 % ██████████ 0 s 1 bad_format 2",
                    "password 1 1 100 % ██████████ 0 s", "profile 1 1 100 % ██████████ 0 s",
                    "contact 1 1 100 % ██████████ 0 s", "totp 1 1 100 % ██████████", "terms 1 1 100 % ██████████ 0 s",
                    "review 1 1 100 % ██████████ 0 s", "sign-in 1 0 0 %", "old@7",
                    "STEP ENTERED CONTINUED RATE SHARE OF STARTS MEDIAN ABANDONED SUPERSEDED REMOVED "
                        + "REFUSALS",
                    "email 5 0 0 %", "user 4 0 0 %", "age 3 0 0 %",
                ]
            )
            let month = try await command("drafts", "funnel", "--since", "30d", "--json")
            let json = try JSON.read(Array(month.output.utf8))
            guard case .array(let flows) = json, case .array(let steps)? = flows.first?["steps"] else {
                Issue.record("no list: \(month.output)")
                return
            }
            #expect(steps[0]["entered"] == 1002 && steps[1]["refused"]?["bad_format"] == 2)
            #expect(steps[1]["cancelled"] == 1 && steps[5]["skipped"] == 1)
        }
    }

    @Test func `a sign-up that another one for the same address has ended is in a column`() async throws {
        try await TestSignups.with { service in
            _ = try await service.readyDraft(username: "lee")
            _ = try await service.signups.commit(service.readyDraft())
            try await service.signups.funnel.flush(to: service.database)
            let lines = try await command("drafts", "funnel").output.split(separator: "\n")
            let column = try #require(lines[1].range(of: "SUPERSEDED")?.lowerBound)
            let start = lines[1].distance(from: lines[1].startIndex, to: column)
            let review = try #require(lines.first { $0.hasPrefix("review ") })
            #expect(review.dropFirst(start).first == "1", "\(review)")
        }
    }

    @Test(
        arguments: [
            (0, ""), (1, "████████████████████"), (0.5, "██████████"), (0.01875, "▍"), (7, "████████████████████"),
        ] as [(Double, String)]
    )
    func `a bar is drawn in eighths of a character`(part: Double, bar: String) {
        #expect(FunnelReport.bar(part) == bar)
        #expect(FunnelReport.bar(part, of: 8).count <= 8 && FunnelReport.bar(part, of: 8).isEmpty == bar.isEmpty)
    }

    // MARK: - Hashing

    @Test func `argon2 info shows the parameters, and argon2 calibrate recommends some`() async throws {
        let info = try await command("argon2", "info", "--json", settings: ["ARGON2_WORKERS": "1"])
        let json = try JSON.read(Array(info.output.utf8))
        #expect(info.status == 0 && json["library"]?.string?.contains("libargon2") == true)
        #expect(json["memory_kib"] == 19456 && json["iterations"] == 2 && json["workers"] == 1)
        let found = try await command("argon2", "calibrate", "--target", "1ms", settings: ["ARGON2_WORKERS": "1"])
        #expect(found.status == 0 && found.output.contains("ARGON2_MEMORY_KIB=19456\nARGON2_ITERATIONS=2\n"))
        #expect(found.errorOutput.contains("these are the minimum parameters"))
        let bounded = try await command(
            "argon2",
            "calibrate",
            "--json",
            "--target",
            "1s",
            "--workers",
            "2",
            "--memory-limit",
            "50MiB"
        )
        let room = try JSON.read(Array(bounded.output.utf8))
        guard case .integer(let memory)? = room["memory_kib"] else {
            Issue.record("\(room)")
            return
        }
        #expect((19_456...23_552).contains(memory) && room["workers"] == 2)
        for arguments in [
            ["--target", "soon"], ["--target", "1s", "--memory-limit", "1MiB"],
            ["--target", "1s", "--memory-limit", "64"],
        ] {
            #expect(try await CommandRun.of(["argon2", "calibrate"] + arguments, settings: [:]).status == 2)
        }
        #expect(try await command("argon2", "info", settings: ["ARGON2_MEMORY_KIB": "64"]).status == 2)
    }

    @Test func `the version of a release has its commit as build metadata`() {
        #expect(BuildVersion.text(commit: "4be1ac2d90f1") == "\(serviceVersion)+4be1ac2d90f1")
        #expect(BuildVersion.text(commit: "") == serviceVersion)
    }

    @Test func `--version lists the linked libraries`() async throws {
        let lines = try await command("--version").output.split(separator: "\n")
        #expect(lines.count == 4 && lines[0] == serviceVersion)
        #expect(lines[1].hasPrefix("libpq 1") && lines[2].hasPrefix("libcurl/") && lines[3].contains("libargon2"))
    }

    // MARK: - Terminals

    @Test func `a table replaces control characters and bidi characters`() {
        let table = Table(["\u{1B}[31mred\u{202E}\u{7}", "한국"], [["a", "b"]]).text
        #expect(table == "\u{FFFD}[31mred\u{FFFD}\u{FFFD}  한국\na           b")
    }

    @Test(
        arguments: [
            (-5, "5 s ago"), (-3540, "59 min ago"), (3600, "in 1 h"), (169_200, "in 47 h"), (86_387, "in 24 h"),
            (3599, "in 1 h"), (172_700, "in 2 d"), (89, "in 1 min"), (-3599, "59 min ago"), (-777_600, "9 d ago"),
            (0, "0 s ago"),
        ] as [(Int, String)]
    )
    func `a relative time is shown in one unit`(seconds: Int, text: String) {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(relative(now + Double(seconds), to: now) == text)
    }

    @Test func `a command is in English, whatever the locale`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            for name in ["LC_ALL", "LC_TIME", "LANG"] {
                let run = try await CommandRun.of(
                    ["drafts", "show", "\(draft.id)"],
                    settings: [
                        "DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys,
                        name: "ko_KR.UTF-8",
                    ]
                )
                #expect(run.status == 0 && run.output.contains("expires   in 24 h"), "\(run.output)")
            }
        }
    }
}

extension JSON {
    fileprivate var items: [JSON] { if case .array(let items) = self { items } else { [] } }
}
