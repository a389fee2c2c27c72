import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The import of accounts by command", .freshDatabase, .timeLimit(.minutes(30)))
struct AccountImportCommandTests {
    private let settings = ["ARGON2_MEMORY_KIB": "7168", "ARGON2_ITERATIONS": "5"]

    private static let kim = #"{"email": "kim@example.com", "created_at": "2024-05-01T12:00:00Z"}"#
    private static let lee = #"{"username": "lee", "created_at": "2024-05-01T12:00:00.5+09:00"}"#

    private func run(_ text: String, _ options: String...) async throws -> CommandRun {
        try await withFile(text, named: "users.jsonl") { file in
            try await CommandRun.byMina(["accounts", "import", file] + options, settings: settings)
        }
    }

    @Test func `the refused lines are reported by their numbers, without values`() async throws {
        try await TestSignups.with { _ in
            let text = "\(Self.kim)\r\n\n\(Self.lee)\n{\"email\": \"nobody\"}\nnot JSON"
            let first = try await run(text)
            #expect(first.status == 1)
            #expect(first.output == "imported 2 accounts, skipped 0 that were imported before, refused 2 lines\n")
            #expect(
                first.errorOutput == """
                    line 4: email: bad_format, created_at: required
                    line 5: the line cannot be read as JSON: unexpected byte at byte 1

                    """
            )
            let second = try await run(text, "--json")
            #expect(second.status == 1 && second.errorOutput.isEmpty)
            let report = try JSON.read(Array(second.output.utf8))
            #expect(report["imported"] == 0 && report["present"] == 2 && report["dry_run"] == false)
            #expect(
                report["refused"] == [
                    ["line": 4, "reasons": ["email: bad_format", "created_at: required"]],
                    ["line": 5, "reasons": ["the line cannot be read as JSON: unexpected byte at byte 1"]],
                ]
            )
        }
    }

    @Test func `a line that repeats a refused line is refused, too`() async throws {
        try await TestSignups.with { _ in
            #expect(try await run(Self.kim).status == 0)
            let taken = #"{"username": "kim", "email": "kim@example.com", "created_at": "2024-05-01T12:00:00Z"}"#
            let repeated = try await run("\(taken)\n\(taken)")
            #expect(repeated.status == 1)
            #expect(
                repeated.output == "imported 0 accounts, skipped 0 that were imported before, refused 2 lines\n"
            )
        }
    }

    @Test func `a dry run imports nothing`() async throws {
        try await TestSignups.with { _ in
            let run = try await run(Self.kim, "--dry-run")
            #expect(run.status == 0 && run.output.hasPrefix("would import 1 account, "))
            #expect(try DatabaseSession().query("SELECT FROM accounts").isEmpty)
        }
    }

    @Test func `a dry run does not compare the lines with each other, and its help says so`() async throws {
        try await TestSignups.with { _ in
            let lines = "\(Self.lee)\n" + Self.lee.replacing("{", with: #"{"email": "lee@example.com", "#)
            #expect(try await run(lines, "--dry-run").output.hasPrefix("would import 2 accounts, "))
            #expect(try await run(lines).errorOutput == "line 2: username: taken\n")
            let help = try await CommandRun.of("accounts", "import", "--help").output
            #expect(help.contains("Checks each line by itself, and imports nothing."))
        }
    }

    @Test func `more lines than fit into one transaction are all imported`() async throws {
        try await TestSignups.with { _ in
            let lines = (1...600).map { "{\"username\": \"kim\($0)\", \"created_at\": \"2024-05-01T12:00:00Z\"}" }
            let run = try await run(lines.joined(separator: "\n"))
            #expect(run.status == 0 && run.output.hasPrefix("imported 600 accounts, "))
            let accounts = try DatabaseSession().query("SELECT count(*) FROM identifiers").only.decode(Int.self)
            #expect(accounts == 600)
        }
    }

    @Test func `in a terminal, the report begins at the left edge of the line of the progress`() async throws {
        try await TestSignups.with { _ in
            try await withFile(Self.kim, named: "users.jsonl") { file in
                let terminal = try TerminalSession(
                    columns: 100,
                    lines: 20,
                    ["accounts", "import", file, "--dry-run"],
                    settings: CommandRun.settingsOfMina.merging(settings) { $1 }
                )
                let screen = try await terminal.expect("would import 1 account")
                #expect(screen.text.hasPrefix("would import 1 account"), "\(screen.text)")
                #expect(try await terminal.end().status == 0)
            }
        }
    }

    @Test func `a file that does not exist is a usage error`() async throws {
        try await TestSignups.with { _ in
            let run = try await CommandRun.byMina("accounts", "import", "/nowhere", settings: settings)
            #expect(run.status == 2 && run.errorOutput.contains("cannot read /nowhere"))
        }
    }

    @Test func `keys that the servers do not have are refused`() async throws {
        try await TestServer.with { site in
            _ = try await KeyRing(TestSignups.keys).mismatch(with: site.service.database)
            let other = "other:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
            let run = try await withFile(Self.kim, named: "users.jsonl") { file in
                try await CommandRun.byMina(
                    ["accounts", "import", file],
                    settings: settings.merging(["ACCOUNTS_KEYS": other]) { $1 }
                )
            }
            #expect(run.status == 1 && run.errorOutput.contains(#"ACCOUNTS_KEYS lacks the key "test""#))
            #expect(try DatabaseSession().query("SELECT FROM accounts").isEmpty)
        }
    }
}
