import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The migrate command", .freshDatabase, .timeLimit(.minutes(30)))
struct MigrateCommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `migrate --status aligns the states`() async throws {
        let lines = try await command("migrate", "--status").output.split(separator: "\n")
        let columns = lines.map { line in
            line.prefix { $0 != " " }.count + line.drop { $0 != " " }.prefix { $0 == " " }.count
        }
        #expect(lines.count > 20 && Set(columns).count == 1)
    }

    @Test func `migrate --status exits with 1 if anything is pending`() async throws {
        #expect(try await command("migrate", "--status").status == 0)
        try session.run("DELETE FROM functions WHERE name = 'draft_id_floor'")
        let pending = try await command("migrate", "--status")
        #expect(pending.status == 1 && pending.errorOutput.isEmpty)
        #expect(pending.output.contains("functions/draft_id_floor "), "\(pending.output)")
        let json = try await command("migrate", "--status", "--json")
        #expect(try json.status == 1 && json.json["pending"] == ["functions/draft_id_floor"])
        #expect(try session.number(of: "functions WHERE name = 'draft_id_floor'") == 0)
    }

    @Test func `migrate --status shows when each script was applied`() async throws {
        try session.run(
            """
            UPDATE migrations SET applied_at = '2026-03-13 10:00:00+00' WHERE name = '0006-key-sentinel';
            UPDATE functions SET applied_at = '2026-04-01 12:30:00+02' WHERE name = 'draft_id_floor';
            UPDATE functions SET checksum = '', version = 0 WHERE name = 'mail_turn'
            """
        )
        let lines = try await command("migrate", "--status").output.split(separator: "\n").map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.contains("0006-key-sentinel applied 2026-03-13T10:00:00Z, compatible"), "\(lines)")
        #expect(lines.contains("functions/draft_id_floor applied 2026-04-01T10:30:00Z"), "\(lines)")
        #expect(lines.contains("functions/mail_turn pending"), "\(lines)")
        let times = try await command("migrate", "--status", "--json").json["applied_at"]
        #expect(times?["functions/draft_id_floor"] == "2026-04-01T10:30:00Z" && times?["functions/mail_turn"] == nil)
        #expect(try await command("migrate", "--json").json["applied_at"] == .null)
    }

    @Test func `migrate names the compatible scripts that it has applied`() async throws {
        let last = try session.query("SELECT name FROM migrations ORDER BY name DESC LIMIT 1").only.decode(String.self)
        let status = try await command("migrate", "--status", "--json").json
        #expect(status["compatible"]?.text.contains(last) == true)
        try session.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        #expect(try await command("migrate", "--json").json["compatible"] == status["compatible"])
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
}
