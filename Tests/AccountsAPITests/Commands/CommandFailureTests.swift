import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The errors of commands as JSON", .freshDatabase)
struct CommandFailureTests {
    @Test(arguments: [
        (["accounts", "show", "01a1fdb2-1117-7906-a197-83af84022e4d"], "not-found", 1),
        (["sessions", "end", "kim@example.com"], "not-found", 1),
        (["accounts", "list", "--limit", "0"], "usage", 2), (["accounts", "lst"], "usage", 2),
        (["accounts", "show"], "usage", 2), (["accounts", "erase", "kim"], "usage", 2),
        (["flow", "show", "--flow-file", "nowhere.yaml"], "settings", 2),
        (["applications", "list", "--applications-file", "nowhere.yaml"], "settings", 2),
        (["flow", "diff", "nowhere.yaml", "nowhere.yaml"], "failed", 1),
    ])
    func `an error is one object`(arguments: [String], code: String, exit: Int) async throws {
        let run = try await CommandRun.byMina(arguments + ["--json"])
        #expect(run.output.isEmpty && Int(run.status) == exit)
        let error = try run.errorJSON["error"]
        #expect(error?["code"] == .string(code) && error?["exit"] == .integer(exit), "\(run.errorOutput)")
        let message = try #require(error?["message"]?.string)
        #expect(!message.isEmpty && !message.contains("Usage:"))
        #expect(run.errorOutput.split(separator: "\n").count == 1)
        let plain = try await CommandRun.byMina(arguments)
        #expect(Int(plain.status) == exit && !plain.errorOutput.hasPrefix("{"))
    }

    @Test func `a refusal is one object`() async throws {
        try DatabaseSession().run(
            """
            INSERT INTO accounts (id, profile, locale, flow)
            SELECT ('01000000-0000-7000-8000-00000000000' || n)::uuid, '{}', 'en', 'default@1'
              FROM generate_series(1, 2) AS n
            """
        )
        let run = try await CommandRun.byMina("accounts", "show", "010000", "--json")
        #expect(try run.status == 1 && run.errorJSON["error"]?["code"] == "refused")
    }

    @Test func `wrong settings and an unavailable database are objects, too`() async throws {
        let missing = try await CommandRun.of("accounts", "list", "--json")
        let settings = try missing.errorJSON["error"]
        #expect(missing.status == 2 && settings?["code"] == "settings")
        #expect(settings?["message"]?.string?.contains("DATABASE_URL") == true)
        let away = try await CommandRun.byMina(
            "sessions",
            "list",
            "kim",
            "--json",
            settings: ["DATABASE_URL": "host=/nowhere"]
        )
        #expect(try away.status == 69 && away.errorJSON["error"]?["code"] == "unavailable")
    }

    @Test func `--help wins over --json, and after two dashes --json is the name of an account`() async throws {
        let help = try await CommandRun.byMina("accounts", "list", "--help", "--json")
        #expect(help.status == 0 && help.output.contains("USAGE"))
        let run = try await CommandRun.byMina("accounts", "show", "--", "--json")
        #expect(run.status == 1 && run.errorOutput == "no account with the id, address or username \"--json\"\n")
    }
}
