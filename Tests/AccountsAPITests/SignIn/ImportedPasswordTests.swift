import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Imported accounts", .freshDatabase, .timeLimit(.minutes(30)))
struct ImportedPasswordTests {
    /// A bcrypt hash of `HashOfOtherTool.password` with cost 5.
    private static let bcrypt = "$2b$05$f/UELHl5XkxHPtse1qz0YuV/ITUtFW/fm1vwh1Rozp3ARCGiralJu"

    private func line(
        _ email: String = "kim@example.com",
        _ username: String = "kim",
        _ more: [JSON.Member] = [.init("password_hash", .string(bcrypt))]
    ) -> [UInt8] {
        JSON.object(
            [
                .init("email", .string(email)), .init("username", .string(username)),
                .init("created_at", "2024-05-01T12:00:00Z"),
            ] + more
        ).bytes
    }

    private func run(_ lines: [[UInt8]], on site: TestServer, isTrial: Bool = false) async throws
        -> [AccountImport.Outcome]
    {
        try await AccountImport(by: Operator(site.service.signups, name: "mina"), isTrial: isTrial).run(lines)
    }

    private func secret() throws -> String {
        try DatabaseSession().query("SELECT secret FROM credentials").only.decode(String.self)
    }

    private func count(_ table: String) throws -> Int {
        try DatabaseSession().number(of: table)
    }

    @Test func `an imported password signs in, and is then hashed with Argon2id as all others`() async throws {
        try await TestServer.with { site in
            #expect(try await run([line()], on: site) == [.imported])
            #expect(try secret().hasPrefix("crypt,$2b$05$|"))
            let kim = Browser(site)
            #expect(try await kim.signIn("kim@example.com", "another password").slug == "sign-in-failed")
            #expect(try secret().hasPrefix("crypt,"), "only the right password replaces the hash")
            #expect(try await kim.signIn("kim@example.com", HashOfOtherTool.password).status == 201)
            #expect(try secret().hasPrefix("$argon2id$"))
            #expect(try await Browser(site).signIn("kim", HashOfOtherTool.password).status == 201)
            #expect(try await Browser(site).signIn("kim", "another password").slug == "sign-in-failed")
            let shown = try await kim.send(.get, "/account")
            #expect(shown.json["account"]?["created_at"] == "2024-05-01T12:00:00Z")
        }
    }

    @Test func `two sign-ins at once with an imported password both succeed`() async throws {
        try await TestServer.with { site in
            _ = try await run([line()], on: site)
            async let one = Browser(site).signIn("kim", HashOfOtherTool.password).status
            async let other = Browser(site).signIn("kim", HashOfOtherTool.password).status
            #expect(try await [one, other] == [201, 201])
            #expect(try count("sessions") == 2)
        }
    }

    @Test func `a session of an imported account is confirmed with its password`() async throws {
        try await TestServer.with { site in
            _ = try await run([line()], on: site)
            let (kim, imported) = (Browser(site), try secret())
            _ = try await kim.signIn("kim", HashOfOtherTool.password)
            // Restores the imported hash, as if the sign-in had not been able to hash the password again.
            try DatabaseSession().query("UPDATE credentials SET secret = \(imported)")
            let confirmed = try await kim.send(
                .put,
                "/session/confirm",
                ["password": .string(HashOfOtherTool.password)]
            )
            #expect(confirmed.status == 200)
        }
    }

    @Test func `a repeated import makes no account twice`() async throws {
        try await TestServer.with { site in
            let lines = (1...5).map { line("kim\($0)@example.com", "kim\($0)") }
            #expect(try await run(Array(lines.prefix(3)), on: site) == [.imported, .imported, .imported])
            #expect(
                try await run(lines, on: site) == [.present, .present, .present, .imported, .imported]
            )
            #expect(try count("accounts") == 5 && count("identifiers") == 10 && count("credentials") == 5)
            let twice = try await run([line("lee@example.com", "lee"), line("lee@example.com", "lee")], on: site)
            #expect(twice == [.imported, .present])
            let audit = try DatabaseSession().query(
                "SELECT count(DISTINCT subject) FROM audit WHERE act = 'import account' AND operator = 'mina'"
            )
            #expect(try audit.only.decode(Int.self) == 6)
        }
    }

    @Test func `a line with an identifier of another account is refused, and nothing of it is stored`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp()
            let outcomes = try await run(
                [line("kim@example.com", "mina"), line("mina@example.com", "kim"), line("mina@example.com", "mina")],
                on: site
            )
            #expect(outcomes == [.refused(["email: taken"]), .refused(["username: taken"]), .imported])
            #expect(try count("accounts") == 2 && count("identifiers") == 4)
        }
    }

    @Test func `two lines of one import cannot share an identifier`() async throws {
        try await TestServer.with { site in
            let outcomes = try await run([line("kim@example.com", "kim"), line("lee@example.com", "kim")], on: site)
            #expect(outcomes == [.imported, .refused(["username: taken"])])
            #expect(try count("accounts") == 1 && count("identifiers") == 2 && count("credentials") == 1)
        }
    }

    @Test func `a trial returns the outcomes of the import, and writes nothing`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp("lee@example.com", "lee")
            let lines = [line(), line("lee@example.com", "mina"), Array("{".utf8)]
            let trial = try await run(lines, on: site, isTrial: true)
            #expect(try count("accounts") == 1 && count("audit") == 0)
            #expect(try await run(lines, on: site) == trial)
        }
    }

    @Test func `the field kinds of the flow validate the values`() async throws {
        try await TestServer.with { site in
            let profile: JSON = [
                "display_name": "Kim", "birth_date": "2001-02-30", "terms": true, "nickname": "K", "password": "x",
            ]
            let outcomes = try await run(
                [
                    line("kim@example.com", "kim", [.init("profile", profile)]),
                    line(
                        "no address",
                        "k",
                        [.init("password_hash", "md5"), .init("locale", "fr"), .init("role", "a")]
                    ),
                    line("lee@example.com", "lee", [.init("profile", ["display_name": "Lee"])]),
                    Array(#"{"email": "mina@example.com"}"#.utf8), Array(#"{"created_at": "2024-05-01"}"#.utf8),
                    Array(#"{"username": "mina", "created_at": "2999-05-01T12:00:00Z"}"#.utf8), Array("[]".utf8),
                ],
                on: site
            )
            #expect(
                outcomes == [
                    .refused([
                        "profile.birth_date: impossible_date", "profile.terms: unknown_field",
                        "profile.nickname: unknown_field", "profile.password: unknown_field",
                    ]),
                    .refused([
                        "role: unknown_field", "email: bad_format", "username: too_short", "password_hash: unsupported",
                        "locale: the flow has no such language",
                    ]),
                    .imported, .refused(["created_at: required"]),
                    .refused(["email: required", "created_at: bad_format"]),
                    .refused(["created_at: impossible_date"]), .refused(["the line is not a JSON object"]),
                ]
            )
            let stored = try DatabaseSession().query("SELECT profile::text FROM accounts").only.decode(String.self)
            #expect(stored == #"{"display_name": "Lee"}"#)
        }
    }

    @Test func `an address counts as verified only if the other system says so`() async throws {
        try await TestServer.with { site in
            _ = try await run(
                [line("kim@example.com", "kim", [.init("email_verified", true)]), line("lee@example.com", "lee", [])],
                on: site
            )
            let proved = try DatabaseSession().query(
                "SELECT email_proved_at IS NOT DISTINCT FROM created_at FROM accounts ORDER BY email"
            )
            let areProved = try proved.map { row in try row.decode(Bool.self) }
            #expect(areProved == [true, false])
        }
    }

    @Test func `an account without a password gets one by a recovery`() async throws {
        try await TestServer.with { site in
            _ = try await run([line("kim@example.com", "kim", [])], on: site)
            let kim = Browser(site)
            #expect(try await kim.signIn().slug == "sign-in-failed")
            try await kim.send(.post, "/recovery", [:])
            try await kim.send(.put, "/recovery/email", ["email": "kim@example.com"])
            let code = try await site.service.readCode(for: "kim@example.com")
            try await kim.send(.put, "/recovery/code", ["code": .string(code)])
            let password: JSON = ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
            try await kim.send(.put, "/recovery/password", password)
            #expect(try await kim.send(.post, "/recovery/commit").status == 200)
            #expect(try await Browser(site).signIn().status == 201)
        }
    }

    @Test func `two imports of one file at the same time make each account once`() async throws {
        try await TestServer.with { site in
            let lines = (1...40).map { line("kim\($0)@example.com", "kim\($0)", []) }
            async let one = run(lines, on: site)
            async let other = run(lines, on: site)
            for (first, second) in zip(try await one, try await other) {
                #expect([first, second].contains(.imported) && [first, second].contains(.present))
            }
            #expect(try count("accounts") == 40 && count("identifiers") == 80 && count("audit") == 40)
        }
    }

    @Test func `if an import and a sign-up want the same username, one of them gets it`() async throws {
        try await TestServer.with { site in
            for number in 1...10 {
                let name = "kim\(number)"
                let draft = try await site.service.readyDraft(email: "\(name)@example.com", username: name)
                async let signedUp = try? site.service.signups.commit(draft)
                async let imported = run([line("lee\(number)@example.com", name, [])], on: site)
                let (commit, outcome) = try await (signedUp, imported[0])
                #expect((commit == nil) == (outcome == .imported))
                let owners = try DatabaseSession().query("SELECT FROM identifiers WHERE value = \(name)")
                #expect(owners.count == 1)
            }
            #expect(try count("accounts") == 10 && count("identifiers") == 20)
        }
    }
}
