import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The commands that show drafts", .freshDatabase, .timeLimit(.minutes(30)))
struct DraftCommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test(arguments: ["list", "purge"])
    func `the shell completes the steps of the flow`(command: String) async throws {
        // The completion script sends the index of the word, the position in the word, and the words.
        func steps(_ options: [String]) async throws -> [String] {
            let words = ["accounts-api", "drafts", command] + options + ["--step", ""]
            let request = ["---completion", "drafts", command, "--", "--step", "\(words.count - 1)", "0"]
            let run = try await CommandRun.of(request + words, settings: [:])
            #expect(run.status == 0, "\(run.errorOutput)")
            return run.output.split(separator: "\n").map(String.init)
        }
        let builtIn = try await steps([])
        #expect(builtIn.first == "email" && builtIn.contains("recovery/code"), "\(builtIn)")
        let flow = """
            flow: tea
            version: 1
            languages: [en]
            steps:
              - name: first
                title: {en: First}
                fields: [{name: drink, kind: text, label: {en: Drink}}]

            """
        let own = try await withFile(flow) { file in try await steps(["--flow-file", file]) }
        #expect(own == ["first", "review"])
    }

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
                let run = try await CommandRun.byMina(["drafts", "list", "--json"] + options)
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

    @Test(arguments: ["show", "why"])
    func `the warning of a draft of another flow is JSON if the output is`(command name: String) async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            try session.run("UPDATE drafts SET flow = 'default@0'")
            let message = "this draft was last changed under the flow default@0, but this command uses "
            let text = try await command("drafts", name, "\(draft.id)")
            #expect(text.status == 0 && text.errorOutput.hasPrefix("warning: " + message), "\(text.errorOutput)")
            let json = try await command("drafts", name, "\(draft.id)", "--json")
            #expect(try json.errorJSON["warning"]?.string?.hasPrefix(message) == true, "\(json.errorOutput)")
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
                    == "nothing is missing: only the commit is left\n"
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
                    == "nothing is missing: the draft is committed, and its account was deleted\n"
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
                    "2 open drafts have this address; pass the id of one:\n  \(other.id)\n  \(kim.id)\n"
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
}
