import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The list of audit records", .freshDatabase)
struct AuditCommandTests {
    private static let subject = "01a1fdb2-1117-7906-a197-83af84022e4d"

    private func addRecords() throws {
        try DatabaseSession().run(
            """
            INSERT INTO audit (at, operator, act, subject, role, host, reason)
            VALUES (now() - interval '3 days', 'mina', 'reveal account', '\(Self.subject)', NULL, NULL, NULL),
                   (now() - interval '2 hours', 'mina', 'flush', NULL, 'mina', 'ops-1', NULL),
                   (now() - interval '90 minutes', 'jun', 'erase account', '\(Self.subject)', 'jun', 'ops-2',
                    'OPS-1234')
            """
        )
    }

    @Test func `audit records are listed, newest first`() async throws {
        #expect(try await CommandRun.byMina("audit", "list").output == "no audit records\n")
        try addRecords()
        let list = try await CommandRun.byMina("audit", "list")
        let lines = list.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "AT OPERATOR ROLE HOST ACT SUBJECT REASON",
                "1 h ago jun jun ops-2 erase account \(Self.subject) OPS-1234", "2 h ago mina mina ops-1 flush",
                "3 d ago mina reveal account \(Self.subject)", "3 of 3 audit records",
            ]
        )
        #expect(try DatabaseSession().number(of: "audit") == 3, "the list adds no record")
    }

    @Test func `records are selected and printed in pages`() async throws {
        try addRecords()
        for (options, acts) in [
            (["--by", "mina"], ["flush", "reveal account"]), (["--act", "flush"], ["flush"]),
            (["--subject", Self.subject], ["erase account", "reveal account"]),
            (["--subject", "01A1FDB2-1117"], ["erase account", "reveal account"]), (["--subject", "01a1fdb3"], []),
            (["--since", "1d"], ["erase account", "flush"]), (["--by", "mina", "--act", "erase account"], []),
            (["--reason", "OPS-1234"], ["erase account"]), (["--reason", "OPS"], []),
        ] {
            let run = try await CommandRun.byMina(["audit", "list", "--json"] + options)
            #expect(try run.json["records"]?.texts(of: "act") == acts, "\(options)")
        }
        let first = try await CommandRun.byMina("audit", "list", "--limit", "2", "--json").json
        let next = try #require(first["next"]?.string)
        #expect(first["total"] == 3 && first["records"]?.texts(of: "act") == ["erase account", "flush"])
        let rest = try await CommandRun.byMina("audit", "list", "--after", next, "--json").json
        #expect(rest["records"]?.texts(of: "act") == ["reveal account"] && rest["next"] == .null)
        #expect(rest["records"]?.texts(of: "role") == [nil])
        #expect(first["records"]?.texts(of: "host") == ["ops-2", "ops-1"])
        #expect(first["records"]?.texts(of: "reason") == ["OPS-1234", nil])
    }

    @Test func `a narrow list omits the role and the machine, and shows the whole reason`() async throws {
        try DatabaseSession().run(
            """
            INSERT INTO audit (operator, host, role, act, subject, reason)
            VALUES ('mina', 'ops-1.example.com', 'accounts_operator', 'remove authenticator', '\(Self.subject)',
                    'OPS-1234: the person came to the office')
            """
        )
        for (options, isWhole) in [([], false), (["--wide"], true)] {
            let list = ["audit", "list"] + options
            let terminal = try TerminalSession(columns: 80, lines: 24, list, settings: CommandRun.settingsOfMina)
            let screen = try await terminal.expect("1 of 1 audit record")
            #expect(screen.timedOut == nil && !screen.text.contains("…"), "\(screen.text)")
            #expect(screen.text.contains("ops-1.example.com") == isWhole, "\(screen.text)")
            let words = screen.text.split(whereSeparator: \.isWhitespace)
            #expect(Set(words).isSuperset(of: ["OPS-1234:", "the", "person", "came", "to", "office"]))
            #expect(try await terminal.end().status == 0)
        }
    }

    @Test func `an audit record has the machine and the reason, whatever writes it`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            let session = try DatabaseSession()
            let line = #"{"username": "lee", "created_at": "2024-05-01T12:00:00Z"}"#
            try await withFile(line, named: "users.jsonl") { file in
                for command in [
                    ["accounts", "show", "kim@example.com", "--reveal"],
                    ["drafts", "list", "--email", "a@example.com"],
                    ["accounts", "remove-authenticator", "kim", "--yes"], ["accounts", "import", file],
                    ["sessions", "end", "--everybody", "--yes"], ["keys", "rotate"],
                    ["drafts", "purge", "--state", "open", "--yes"], ["accounts", "erase", "kim", "--yes"],
                ] {
                    let run = try await CommandRun.byMina(command + ["--reason", "OPS-1234: lost phone"])
                    #expect(run.status == 0, "\(run.errorOutput)")
                }
            }
            let records = try session.query("SELECT host, reason, count(DISTINCT act) FROM audit GROUP BY 1, 2")
            let (host, reason, acts) = try records.only.decode(String?.self, String?.self, Int.self)
            #expect(host == Machine.name && host?.isEmpty == false && reason == "OPS-1234: lost phone")
            #expect(acts >= 8, "also those that SQL functions write")

            #expect(try await CommandRun.byMina("outbox", "list", "--email", "kim@example.com").status == 0)
            let last = try session.query("SELECT host, reason FROM audit ORDER BY number DESC LIMIT 1")
            let (place, noReason) = try last.only.decode(String?.self, String?.self)
            #expect(place == Machine.name && noReason == nil)
        }
    }

    @Test(arguments: [
        ("", "pass a text of 1 to 200 characters"), (String(repeating: "r", count: 201), "1 to 200 characters"),
        ("OPS\u{1B}[2J", "it has characters that are not allowed"), ("OPS\n1", "such as control characters"),
    ])
    func `an invalid reason is a usage error`(reason: String, message: String) async throws {
        let run = try await CommandRun.byMina("outbox", "flush", "--reason", reason)
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.errorOutput)")
        #expect(try DatabaseSession().number(of: "audit") == 0)
    }

    @Test(arguments: [
        ["--act", "dance"], ["--subject", "kim"], ["--subject", "01a1f"], ["--after", "x"], ["--limit", "0"],
    ])
    func `wrong options are usage errors`(options: [String]) async throws {
        #expect(try await CommandRun.byMina(["audit", "list"] + options).status == 2)
    }
}
