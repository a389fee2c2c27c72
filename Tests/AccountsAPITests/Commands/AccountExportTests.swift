import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The export of an account by an operator", .freshDatabase)
struct AccountExportTests {
    private func withAccount(_ body: @escaping @Sendable (Browser) async throws -> Void) async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try DatabaseSession().run(
                "INSERT INTO photos (account, field, type, image) SELECT id, 'photo', 'image/jpeg', 'JPEG' FROM accounts"
            )
            try await body(kim)
        }
    }

    private func names(of json: JSON) -> [String] {
        guard case .object(let members) = json else { return [] }
        return members.map(\.name)
    }

    @Test func `the command exports what the person can export, and writes an audit record`() async throws {
        try await withAccount { kim in
            let own = try await kim.send(.get, "/account/export").json
            let run = try await CommandRun.byMina("accounts", "export", "kim@example.com")
            let export = try run.json
            #expect(run.status == 0 && names(of: export) == names(of: own))
            for member in ["account", "flow", "language", "factors", "consents", "devices", "photos"] {
                #expect(export[member] == own[member], "\(member)")
            }
            #expect(export["factors"]?["password"] == true && !run.output.contains("argon2"))
            #expect(export["sessions"]?.texts(of: "id") == own["sessions"]?.texts(of: "id"))
            #expect(try DatabaseSession().auditedActs() == ["find account", "export account"])
        }
    }

    @Test func `photos are written to files, and existing files are never overwritten`() async throws {
        try await withAccount { _ in
            try await withFile("") { file in
                let folder = "\(file).photos/new"
                let run = try await CommandRun.byMina("accounts", "export", "kim", "--photos", folder)
                #expect(run.status == 0 && run.output.contains("photo"))
                let photo = "\(folder)/photo.jpg"
                #expect(FileManager.default.contents(atPath: photo) == Data("JPEG".utf8))
                var status = stat()
                #expect(stat(photo, &status) == 0 && status.st_mode & 0o777 == 0o600)
                try DatabaseSession().run("UPDATE photos SET image = 'other'")
                let again = try await CommandRun.byMina("accounts", "export", "kim", "--photos", folder)
                #expect(again.status == 1 && again.output.isEmpty && again.errorOutput.contains("File exists"))
                #expect(FileManager.default.contents(atPath: photo) == Data("JPEG".utf8))
                let blocked = try await CommandRun.byMina("accounts", "export", "kim", "--photos", file)
                #expect(blocked.status == 1 && blocked.output.isEmpty)
            }
        }
    }

    @Test func `nothing is printed if the audit record cannot be written`() async throws {
        try await withAccount { _ in
            try DatabaseSession().run("ALTER TABLE audit ADD CHECK (act <> 'export account')")
            let run = try await CommandRun.byMina("accounts", "export", "kim")
            #expect(run.status == 1 && run.output.isEmpty)
        }
    }

    @Test func `an account that does not exist is not found`() async throws {
        try await TestSignups.with { _ in
            let run = try await CommandRun.byMina("accounts", "export", "01a1fdb2-1117-7906-a197-83af84022e4d")
            #expect(run.status == 1 && run.errorOutput.contains("no account") && run.output.isEmpty)
            #expect(try DatabaseSession().auditedActs() == [])
        }
    }
}
