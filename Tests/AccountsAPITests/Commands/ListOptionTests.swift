import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The options of lists", .freshDatabase, .timeLimit(.minutes(30)))
struct ListOptionTests {
    private func words(_ run: CommandRun) -> [String] {
        run.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    }

    // MARK: - Times

    @Test func `drafts are selected by the time of their start and of their last change`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            let lee = try await service.start()
            try DatabaseSession().run(
                """
                UPDATE drafts SET created_at = now() - interval '3 hours', updated_at = now() - interval '90 minutes'
                 WHERE id = '\(kim.id)'
                """
            )
            for (options, found) in [
                (["--since", "2h"], [lee]), (["--since", "4h"], [lee, kim]), (["--idle", "1h"], [kim]),
                (["--idle", "2h"], []), (["--since", "4h", "--older-than", "2h"], [kim]),
                (["--since", "2h", "--idle", "1h"], []),
            ] {
                let run = try await CommandRun.byMina(["drafts", "list", "--json"] + options)
                #expect(try run.json["drafts"]?.texts(of: "id") == found.map { "\($0.id)" }, "\(options)")
            }
        }
    }

    @Test func `mail is selected by its time`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            try DatabaseSession().run("UPDATE outbox SET created_at = now() - interval '3 hours'")
            let lee = try await service.fill(service.start(), through: "email", email: "lee@example.com")
            for (since, found) in [("2h", [lee]), ("4h", [lee, kim])] {
                let run = try await CommandRun.byMina("outbox", "list", "--json", "--since", since)
                #expect(try run.json["mails"]?.texts(of: "draft") == found.map { "\($0.id)" }, "\(since)")
            }
        }
    }

    @Test(arguments: [
        ["drafts", "list", "--idle", "0h"], ["outbox", "list", "--since", "x"], ["events", "list", "--since", "1"],
    ])
    func `an invalid duration is a usage error`(arguments: [String]) async throws {
        #expect(try await CommandRun.byMina(arguments).status == 2)
    }

    // MARK: - Order

    /// The ids of three drafts, read in pages of one draft.
    private func drafts(sortedBy order: String) async throws -> [String?] {
        var ids: [String?] = []
        var after: [String] = []
        for _ in 1...3 {
            let options = ["--limit", "1", "--sort", order]
            let page = try await CommandRun.byMina(["drafts", "list", "--json"] + options + after).json
            ids += page["drafts"]?.texts(of: "id") ?? []
            after = page["next"]?.string.map { ["--after", $0] } ?? []
        }
        #expect(after.isEmpty, "the third page is the last one")
        return ids
    }

    @Test func `drafts are sorted by the time of their start, their last change or their end, page by page`()
        async throws
    {
        try await TestSignups.with { service in
            var ids: [String] = []
            for name in ["kim", "lee", "park"] {
                let draft = try await service.fill(service.start(), through: "email", email: "\(name)@example.com")
                ids.append("\(draft.id)")
            }
            // Two drafts are changed at the same time, and the third one a microsecond before.
            try DatabaseSession().run(
                """
                UPDATE drafts SET updated_at = date_trunc('hour', now()) - interval '654321 microseconds';
                UPDATE drafts SET updated_at = updated_at - interval '1 microsecond' WHERE id = '\(ids[2])';
                UPDATE drafts SET ends_at = now() + interval '1 hour' WHERE id = '\(ids[1])'
                """
            )
            #expect(try await drafts(sortedBy: "created") == [ids[2], ids[1], ids[0]])
            #expect(try await drafts(sortedBy: "updated") == [ids[1], ids[0], ids[2]])
            #expect(try await drafts(sortedBy: "expires") == [ids[1], ids[2], ids[0]])
        }
    }

    @Test func `a search writes audit records about the drafts of its page, whatever the order`() async throws {
        try await TestSignups.with { service in
            let older = try await service.fill(service.start(), through: "email")
            let newer = try await service.fill(service.start(), through: "email")
            let session = try DatabaseSession()
            try session.run("UPDATE drafts SET updated_at = now() - interval '1 hour' WHERE id = '\(newer.id)'")
            let search = ["drafts", "list", "--email", "kim@example.com", "--limit", "1", "--sort", "updated"]
            let first = try await CommandRun.byMina(search + ["--json"]).json
            #expect(first["drafts"]?.texts(of: "id") == ["\(older.id)"])
            let second = try await CommandRun.byMina(search + ["--after", #require(first["next"]?.string)])
            #expect(second.output.contains("\(newer.id)"))
            let records = try session.query("SELECT subject::text FROM audit ORDER BY number")
            let subjects = try records.map { try $0.decode(String.self) }
            #expect(subjects == ["\(older.id)", "\(newer.id)"])
        }
    }

    @Test(arguments: [
        (["--sort", "name"], "--sort"),
        (
            ["--sort", "expires", "--after", "updated/1784217600123456/01a1fdb2-1117-7906-a197-83af84022e4d"],
            "this --after is of a list with --sort updated: pass the same --sort"
        ),
        (
            ["--sort", "updated", "--after", "01a1fdb2-1117-7906-a197-83af84022e4d"],
            "this --after is of a list with --sort created: pass the same --sort"
        ),
        (["--after", "updated/x/01a1fdb2-1117-7906-a197-83af84022e4d"], "--after"),
        (["--after", "created/1/01a1fdb2-1117-7906-a197-83af84022e4d"], "--after"),
    ])
    func `an unknown order and a cursor of another order are usage errors`(
        options: [String],
        message: String
    ) async throws {
        let run = try await CommandRun.byMina(["drafts", "list"] + options, settings: Self.noDatabase)
        #expect(run.status == 2 && run.errorOutput.contains(message))
    }

    // MARK: - Columns and fields

    @Test func `--columns chooses the columns of a table and their order`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "code")
            for columns in ["step,ID,Expires", "step, id ,expires,step"] {
                let run = try await CommandRun.byMina("drafts", "list", "--columns", columns)
                #expect(words(run) == ["STEP ID EXPIRES", "password \(kim.id) in 24 h", "1 of 1 draft"])
            }
            for name in ["last_error", "last-error", "LAST ERROR"] {
                let run = try await CommandRun.byMina("outbox", "list", "--columns", "state,\(name)")
                #expect(words(run).prefix(2) == ["STATE LAST ERROR", "delivered"])
            }
        }
    }

    @Test func `a narrow table omits no column that was chosen`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "code")
            let terminal = try TerminalSession(
                columns: 70,
                lines: 24,
                ["drafts", "list", "--columns", "id,address,updated,failures,created,expires,step"],
                settings: CommandRun.settingsOfMina
            )
            let screen = try await terminal.expect("1 of 1 draft")
            #expect(screen.text.contains("UPDATED") && screen.text.contains("FAILURES"), "\(screen.text)")
            #expect(try await terminal.end().status == 0)
        }
    }

    @Test func `--fields chooses the members of each item of the JSON output and their order`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "code")
            let run = try await CommandRun.byMina("drafts", "list", "--json", "--fields", "step,id")
            #expect(
                run.output == #"{"drafts":[{"step":"password","id":"\#(kim.id)"}],"total":1,"next":null}"# + "\n"
            )
            let none = try await CommandRun.byMina("audit", "list", "--json", "--fields", "at,act")
            #expect(none.output == #"{"records":[],"total":0,"next":null}"# + "\n")
        }
    }

    /// Nothing listens there, so a command that asks the database fails with another status.
    private static let noDatabase = ["DATABASE_URL": "host=/nowhere"]

    @Test(arguments: [
        (["drafts", "list"], "id, state, step, address, failures, created, updated, expires"),
        (["accounts", "list"], "id, created, state, address, username, factors, last_used"),
        (["sessions", "list", "kim"], "session, network, browser, created, used"),
        (["audit", "list"], "at, operator, role, host, act, subject, reason"),
        (["outbox", "list"], "id, state, template, recipient, draft, attempts, created, due, last_error"),
        (
            ["events", "list"],
            "id, type, account, sequence, created, application, state, attempts, due, last_error"
        ),
        (["keys", "signing", "list"], "kid, algorithm, state, published, created, live, retired"),
        (
            ["applications", "list", "--applications-file", "docs/applications.yaml"],
            "id, name, client, claims, events, redirect_uris"
        ),
    ])
    func `an unknown column is a usage error that lists the columns`(list: [String], columns: String) async throws {
        let run = try await CommandRun.byMina(list + ["--columns", "nosuch"], settings: Self.noDatabase)
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.errorOutput.hasPrefix("Error: unknown column \"nosuch\": the list has \(columns)\n"))
    }

    @Test(arguments: [
        (["drafts", "list"], "id, state, step, email, revision, failures, created_at, updated_at, expires_at"),
        (["accounts", "list"], "id, created_at, state, email, username, factors, last_used_at"),
        (["sessions", "list", "kim"], "id, network, browser, created_at, last_seen_at"),
        (["audit", "list"], "number, at, operator, role, host, act, subject, reason"),
        (["keys", "signing", "list"], "kid, algorithm, state, published, created_at, live_at, retired_at"),
    ])
    func `an unknown field is a usage error that lists the fields`(list: [String], fields: String) async throws {
        let run = try await CommandRun.byMina(list + ["--json", "--fields", "nosuch"], settings: Self.noDatabase)
        let error = try run.errorJSON["error"]
        #expect(run.status == 2 && error?["code"] == "usage")
        #expect(error?["message"]?.string == "unknown field \"nosuch\": the list has \(fields)")
    }

    @Test(arguments: [
        (["--json", "--columns", "id"], "--columns is for the table: with --json, pass --fields"),
        (["--fields", "id"], "--fields needs --json: for the table, pass --columns"),
        (["--columns", "id,"], "unknown column \"\": the list has id, "),
    ])
    func `an option for the other form of output and an empty name are usage errors`(
        options: [String],
        message: String
    ) async throws {
        let run = try await CommandRun.byMina(["drafts", "list"] + options, settings: Self.noDatabase)
        #expect(run.status == 2 && run.errorOutput.contains(message))
    }
}
