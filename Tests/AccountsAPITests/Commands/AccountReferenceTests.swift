import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("How a command names an account", .freshDatabase)
struct AccountReferenceTests {
    @Test func `an account is found by its id, its first digits, its address and its username`() async throws {
        try await TestSignups.with { service in
            let id = "\(try await service.signups.commit(service.readyDraft()).account.id)"
            let digits = id.filter { $0 != "-" }
            for reference in [id, "\(id.prefix(13))", "\(digits.prefix(6))", digits.uppercased()] {
                #expect(try await CommandRun.byMina("accounts", "show", reference, "--json").json["id"]?.string == id)
            }
            #expect(try DatabaseSession().auditedActs() == [], "a lookup by id is not recorded")
            for reference in ["Kim@Example.COM", "kim", "KIM"] {
                #expect(try await CommandRun.byMina("accounts", "show", reference, "--json").json["id"]?.string == id)
            }
            #expect(try DatabaseSession().auditedActs() == ["find account", "find account", "find account"])
            #expect(try await CommandRun.byMina("sessions", "end", "\(digits.prefix(8))").status == 0)
        }
    }

    @Test func `digits with which several ids begin are refused`() async throws {
        try await TestSignups.with { _ in
            try DatabaseSession().run(
                """
                INSERT INTO accounts (id, profile, locale, flow)
                SELECT ('01000000-0000-7000-8000-00000000000' || n)::uuid, '{}', 'en', 'default@1'
                  FROM generate_series(1, 2) AS n
                """
            )
            let run = try await CommandRun.byMina("accounts", "erase", "010000", "--yes")
            #expect(run.status == 1)
            #expect(run.errorOutput == "2 accounts have an id that begins with \"010000\": pass more digits\n")
            #expect(try DatabaseSession().number(of: "accounts") == 2)
        }
    }

    @Test func `a username that looks like the first digits of an id is found`() async throws {
        try await TestSignups.with { service in
            let account = try await service.signups.commit(service.readyDraft(username: "facade")).account
            let run = try await CommandRun.byMina("accounts", "show", "facade", "--json")
            #expect(try run.json["id"] == .string("\(account.id)"))
            #expect(try DatabaseSession().auditedActs() == ["find account"])
        }
    }

    @Test func `digits need the name of an operator only if no id begins with them`() async throws {
        try await TestSignups.with { service in
            let id = "\(try await service.signups.commit(service.readyDraft()).account.id)"
            let settings = ["USER": ""]
            #expect(try await CommandRun.byMina("accounts", "show", "\(id.prefix(8))", settings: settings).status == 0)
            let run = try await CommandRun.byMina("accounts", "show", "ffffff", settings: settings)
            #expect(run.status == 2 && run.errorOutput.contains("pass --operator NAME"))
        }
    }

    @Test func `a former address of an account does not find it`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: "kim@example.net")
            #expect(try await CommandRun.byMina("accounts", "show", "kim@example.com").status == 1)
            #expect(try await CommandRun.byMina("accounts", "show", "kim@example.net").status == 0)
        }
    }
}
