import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The list of audit records", .freshDatabase)
struct AuditCommandTests {
    private static let subject = "01a1fdb2-1117-7906-a197-83af84022e4d"

    private func addRecords() throws {
        try TestSupport.Session().run(
            """
            INSERT INTO audit (at, operator, act, subject, role)
            VALUES (now() - interval '3 days', 'mina', 'reveal account', '\(Self.subject)', NULL),
                   (now() - interval '2 hours', 'mina', 'flush', NULL, 'mina'),
                   (now() - interval '90 minutes', 'jun', 'erase account', '\(Self.subject)', 'jun')
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
                "AT OPERATOR ROLE ACT SUBJECT", "1 h ago jun jun erase account \(Self.subject)",
                "2 h ago mina mina flush", "3 d ago mina reveal account \(Self.subject)", "3 of 3 audit records",
            ]
        )
        #expect(try TestSupport.Session().number(of: "audit") == 3, "the list adds no record")
    }

    @Test func `records are selected and printed in pages`() async throws {
        try addRecords()
        for (options, acts) in [
            (["--by", "mina"], ["flush", "reveal account"]), (["--act", "flush"], ["flush"]),
            (["--subject", Self.subject], ["erase account", "reveal account"]),
            (["--since", "1d"], ["erase account", "flush"]), (["--by", "mina", "--act", "erase account"], []),
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
    }

    @Test(arguments: [["--act", "dance"], ["--subject", "kim"], ["--after", "x"], ["--limit", "0"]])
    func `wrong options are usage errors`(options: [String]) async throws {
        #expect(try await CommandRun.byMina(["audit", "list"] + options).status == 2)
    }
}
