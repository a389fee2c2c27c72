import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Commands for accounts and sessions", .freshDatabase)
struct AccountCommandTests {
    private func command(_ arguments: String...) async throws -> CommandRun {
        try await CommandRun.byMina(arguments)
    }

    @Test func `disabling an account ends its sessions, and enabling it restores none of them`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let disabled = try await command("accounts", "disable", "kim@example.com")
            #expect(disabled.status == 0 && disabled.output.hasPrefix("disabled account "))
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            #expect(try await Browser(site).signIn().slug == "sign-in-failed")
            #expect(try await command("accounts", "disable", "kim@example.com").output.contains("was disabled already"))
            #expect(
                try await command("accounts", "show", "kim@example.com").output.contains("disabled  by an operator")
            )
            #expect(try await command("accounts", "enable", "kim@example.com").output.hasPrefix("enabled account "))
            #expect(try await kim.send(.get, "/session").slug == "no-session", "the session stays ended")
            #expect(try await Browser(site).signIn().status == 201)
            let acts = try DatabaseSession().auditedActs().filter { $0 != "find account" }
            #expect(acts == ["disable account", "enable account"])
        }
    }

    @Test func `the sessions of an account are listed and ended`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site, userAgent: "curl/8.5.0")
            try await kim.signUp()
            for _ in 1...2 { _ = try await Browser(site).signIn() }
            let listed = try JSON.read(
                Array(await command("sessions", "list", "kim@example.com", "--json").output.utf8)
            )
            guard case .array(let sessions) = listed else { throw Missing() }
            #expect(sessions.count == 3 && sessions.filter { $0["browser"] == "curl" }.count == 1)
            let id = try #require(sessions.first { $0["browser"] == "curl" }?["id"]?.string)
            #expect(try await command("sessions", "list", "kim@example.com").output.contains(id))
            let one = try await command("sessions", "end", "kim@example.com", "--session", id)
            #expect(one.output == "ended 1 session\n")
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            let again = try await command("sessions", "end", "kim@example.com", "--session", id)
            #expect(again.status == 1 && again.errorOutput.contains("the account has no session \(id)"))
            #expect(try await command("sessions", "end", "kim@example.com").output == "ended 2 sessions\n")
            #expect(try await command("sessions", "end", "kim@example.com").output == "ended 0 sessions\n")
            #expect(try DatabaseSession().auditedActs().filter { $0 == "end sessions" }.count == 2)
        }
    }

    @Test func `with the sessions of an account, the sign-ins that wait for a second factor end`() async throws {
        try await TestServer.with { site in
            let (kim, thief) = (Browser(site), Browser(site))
            let person = try await kim.signUp(hasAuthenticator: true)
            _ = try await thief.signIn()
            let session = try DatabaseSession().query("SELECT id::text FROM sessions").only.decode(String.self)
            let one = try await command("sessions", "end", "kim@example.com", "--session", session)
            #expect(one.output == "ended 1 session\n")
            #expect(try DatabaseSession().number(of: "sign_ins") == 1, "only the session was to end")
            #expect(try await command("sessions", "end", "kim@example.com").output == "ended 0 sessions\n")
            let code = JSON.string(person.recoveryCodes[0])
            #expect(try await thief.send(.put, "/session/recovery-code", ["code": code]).slug == "no-session")
            #expect(try DatabaseSession().auditedActs().filter { $0 == "end sessions" }.count == 2)
        }
    }

    /// Follows a support case of docs/operating.md: somebody else has changed the address.
    @Test func `the owner of the old address gets back an account that was disabled meanwhile`() async throws {
        try await TestServer.with { site in
            let (kim, thief) = (Browser(site), Browser(site))
            try await kim.signUp()
            _ = try await thief.signIn()
            try await thief.moveAddress(to: "kim@example.net")
            #expect(try await command("accounts", "show", "kim@example.com").status == 1, "this is a former address")
            let id = try DatabaseSession().query(
                "SELECT account FROM identifiers WHERE kind = 'email' AND value = 'kim@example.com'"
            ).only.decode(ID<Account>.self)
            #expect(try await command("accounts", "disable", "\(id)").status == 0)
            #expect(try await thief.send(.get, "/session").slug == "no-session")
            try await site.service.deliver()
            let token = JSON.string(try site.service.mailbox.undoToken(for: "kim@example.com"))
            #expect(try await kim.send(.post, "/email-change/undo", ["token": token]).status == 204)
            #expect(try await command("accounts", "enable", "kim@example.com").status == 0)
            #expect(try await thief.signIn("kim@example.net").slug == "sign-in-failed")
            #expect(try await kim.recover().nextStep == "password")
        }
    }

    @Test func `everybody is signed out only with --yes`() async throws {
        try await TestServer.with { site in
            let (kim, lee) = (Browser(site), Browser(site))
            try await kim.signUp()
            try await lee.signUp("lee@example.com", "lee")
            let asked = try await command("sessions", "end", "--everybody")
            #expect(asked.status == 2 && asked.errorOutput.contains("pass --yes"))
            #expect(try await kim.send(.get, "/session").status == 200)
            #expect(try await command("sessions", "end", "--everybody", "--yes").output == "ended 2 sessions\n")
            for person in [kim, lee] { #expect(try await person.send(.get, "/session").slug == "no-session") }
            let records = try DatabaseSession().auditedActs()
            #expect(records == ["end sessions"])
            for mistake in [["kim@example.com", "--everybody"], []] {
                let run = try await CommandRun.of(["sessions", "end"] + mistake, settings: [:])
                #expect(run.status == 2 && run.errorOutput.contains("pass either an account or --everybody"))
            }
        }
    }

    @Test func `disabling an account ends its open recovery`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            try await kim.recover()
            _ = try await command("accounts", "disable", "kim@example.com")
            _ = try await command("accounts", "enable", "kim@example.com")
            let new: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
            try await kim.send(.put, "/recovery/password", new)
            #expect(try await kim.send(.post, "/recovery/commit").status != 200)
            let signedIn = try await Browser(site).signIn().status
            #expect(signedIn == 201, "the old password is still right")
        }
    }

    @Test func `an account is erased only with --yes`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let asked = try await command("accounts", "erase", "kim@example.com")
            #expect(asked.status == 2 && asked.errorOutput.contains("pass --yes"))
            #expect(try await kim.send(.get, "/session").status == 200)
            let erased = try await command("accounts", "erase", "kim@example.com", "--yes")
            #expect(erased.status == 0 && erased.output.hasPrefix("erased account "))
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            #expect(try DatabaseSession().query("SELECT FROM accounts").isEmpty)
            #expect(try DatabaseSession().auditedActs().last == "erase account")
        }
    }

    @Test func `a dry run says what would be erased, asks nothing and erases nothing`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            _ = try await Browser(site).signIn()
            let trial = try await command("accounts", "erase", "kim@example.com", "--dry-run")
            #expect(trial.status == 0 && trial.errorOutput.isEmpty)
            let id = try DatabaseSession().query("SELECT id::text FROM accounts").only.decode(String.self)
            let start = "would erase account \(id) (k•••@e•••.com, k•••) with 2 identifiers, 1 credential, "
            #expect(trial.output.hasPrefix(start), "\(trial.output)")
            #expect(trial.output.contains(", 2 sessions") && !trial.output.contains(" 0 "))
            let json = try await command("accounts", "erase", id, "--dry-run", "--json").json
            #expect(json["account"] == .string(id) && json["dry_run"] == true)
            #expect(json["rows"]?["sessions"] == 2 && json["rows"]?["past_consents"] == 0)
            #expect(try await kim.send(.get, "/session").status == 200)
            #expect(try DatabaseSession().auditedActs() == ["find account"], "only the search leaves a record")
            let erased = try await command("accounts", "erase", id, "--yes", "--json")
            #expect(erased.output == #"{"account":"\#(id)","dry_run":false,"rows":null}"# + "\n")
        }
    }

    @Test(arguments: [
        ["accounts", "disable"], ["accounts", "enable"], ["accounts", "erase", "--yes"],
        ["accounts", "erase", "--dry-run"], ["accounts", "remove-authenticator", "--yes"], ["sessions", "list"],
        ["sessions", "end"],
    ])
    func `an account that does not exist is not found`(act: [String]) async throws {
        try await TestSignups.with { _ in
            for account in ["nobody@example.com", "01a1fdb2-1117-7906-a197-83af84022e4d"] {
                let run = try await CommandRun.byMina(act + [account])
                #expect(run.status == 1 && run.errorOutput.contains("no account"), "\(run.errorOutput)")
            }
        }
    }
}
