import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The keys that commands need", .freshDatabase, .timeLimit(.minutes(30)))
struct CommandKeyTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// A draft with an address, and the settings of a key ring that lacks the key of the servers.
    private func strangersKeys() async throws -> [String: String] {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            #expect(try await KeyRing(TestSignups.keys).mismatch(with: service.database) == nil)
        }
        return ["ACCOUNTS_KEYS": "other:v2:" + Data(repeating: 9, count: 32).base64EncodedString()]
    }

    @Test(arguments: [
        ["drafts", "list", "--email", "kim@example.com"], ["drafts", "purge", "--email", "kim@example.com", "--yes"],
        ["drafts", "purge", "--email", "kim@example.com", "--dry-run"], ["accounts", "show", "kim@example.com"],
        ["drafts", "expire", "01a1fdb2-1117-7906-a197-83af84022e4d"], ["outbox", "flush"], ["keys", "rotate"],
    ])
    func `a search and a change are refused with keys that do not fit the database`(arguments: [String]) async throws {
        let run = try await CommandRun.byMina(arguments, settings: strangersKeys())
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(
            run.errorOutput == #"ACCOUNTS_KEYS lacks the key "test" of this database: pass the keys of the servers"#
                + "\n"
        )
        #expect(try session.number(of: "drafts") == 1 && audit() == [])
    }

    @Test func `a list warns of keys that do not fit the database`() async throws {
        let keys = try await strangersKeys()
        let list = try await command("drafts", "list", settings: keys)
        #expect(list.status == 0 && list.output.contains("open") && !list.output.contains("•"))
        #expect(list.output.contains(" sealed "))
        #expect(list.errorOutput.hasPrefix(#"warning: ACCOUNTS_KEYS lacks the key "test" of this database"#))
        let json = try await command("outbox", "list", "--json", settings: keys)
        #expect(json.status == 0)
        #expect(try json.errorJSON["warning"]?.string?.contains(#"the key "test""#) == true)
        #expect(try await command("drafts", "list").errorOutput.isEmpty)
    }

    @Test(arguments: [
        ["audit", "list"], ["drafts", "funnel"], ["drafts", "purge", "--state", "expired", "--yes"],
        ["outbox", "flush"],
        ["events", "list"], ["accounts", "list", "--username", "kim"], ["sessions", "end", "--everybody", "--yes"],
        ["keys", "signing", "list"],
    ])
    func `a command that decrypts nothing needs no keys`(arguments: [String]) async throws {
        let settings = ["DATABASE_URL": FreshDatabase.current.conninfo, "USER": "mina"]
        let run = try await CommandRun.of(arguments, settings: settings)
        #expect(run.status == 0 && run.errorOutput.isEmpty && !run.output.isEmpty)
    }

    @Test func `the rotation counts one address`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: "kim@example.net")
            let new = "new:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
            let run = try await command("keys", "rotate", settings: ["ACCOUNTS_KEYS": "\(new),\(TestSignups.keys)"])
            #expect(run.output.contains(", 1 address, "), "\(run.output)\(run.errorOutput)")
        }
    }

    @Test func `the rotation names a key that may be removed, and when`() async throws {
        let old = "old:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
        let run = try await command("keys", "rotate", settings: ["ACCOUNTS_KEYS": "\(TestSignups.keys),\(old)"])
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(run.output.hasSuffix("\nyou may remove the key \"old\" in 30 days, or in a day if it has leaked\n"))
    }

    @Test func `the rotation names the key that it lacks`() async throws {
        try await TestSignups.with { service in
            _ = try await service.start()
            let new = "new:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
            let run = try await command("keys", "rotate", settings: ["ACCOUNTS_KEYS": new])
            let error = """
                cannot decrypt 1 item: add the missing key "test" to ACCOUNTS_KEYS and run this command again

                """
            #expect(run.status == 1 && run.errorOutput == error)
            let json = try await command("keys", "rotate", "--json", settings: ["ACCOUNTS_KEYS": new]).json
            #expect(json["unreadable"] == 1 && json["missing_keys"] == ["test"])
        }
    }

    @Test func `the rotation asks for no key if none is missing`() async throws {
        try await TestSignups.with { service in
            _ = try await service.start()
            try session.run("UPDATE drafts SET sealed = sealed || '\\x00'::bytea")
            let run = try await command("keys", "rotate")
            #expect(run.status == 1)
            #expect(run.errorOutput.hasPrefix("cannot decrypt 1 item: their keys are present, so the data is damaged"))
        }
    }

    @Test func `commands change drafts and accounts without keys`() async throws {
        try await TestSignups.with { service in
            let settings = ["DATABASE_URL": FreshDatabase.current.conninfo, "USER": "mina"]
            let account = try await service.signups.commit(service.readyDraft()).account.id
            let lee = try await service.fill(
                service.start(),
                through: "profile",
                email: "lee@example.com",
                username: "lee"
            )
            for (arguments, output) in [
                (["accounts", "show", "kim"], "account   \(account)"),
                (["accounts", "disable", "kim"], "disabled account"),
                (["accounts", "enable", "\(account)"], "enabled account"),
                (["accounts", "erase", "kim@example.com", "--yes"], "erased account \(account)"),
                (["drafts", "extend", "\(lee.id)"], "extended draft \(lee.id)"),
                (["drafts", "expire", "\(lee.id)"], "deleted draft \(lee.id)"),
            ] {
                let run = try await CommandRun.of(arguments, settings: settings)
                #expect(run.status == 0 && run.output.hasPrefix(output), "\(arguments): \(run.errorOutput)")
            }
            for arguments in [["drafts", "board"], ["drafts", "purge", "--email", "lee@example.com", "--yes"]] {
                let run = try await CommandRun.of(arguments, settings: settings)
                #expect(run.status == 2 && run.errorOutput == "ACCOUNTS_KEYS is missing\n")
            }
        }
    }

    // MARK: - Pseudonyms

    @Test func `an address is found in the log by its pseudonyms`() async throws {
        let (address, today) = (try #require(IPAddress("2001:db8::1")), Date())
        let run = try await CommandRun.of(
            "keys",
            "pseudonym",
            "2001:db8::1",
            "--day",
            today.formatted(.iso8601.year().month().day()),
            "--json",
            settings: ["ACCOUNTS_KEYS": TestSignups.keys]
        )
        #expect(run.status == 0, "\(run.errorOutput)")
        let (keys, json) = (try KeyRing(TestSignups.keys), try run.json)
        #expect(json["network"]?.string == keys.pseudonym(of: Network(address), at: today))
        #expect(json["site"]?.string == keys.pseudonym(of: Network(address).site, at: today))
        #expect(json["site"] != json["network"])
    }

    @Test(arguments: [["192.0.2"], ["192.0.2.1", "--day", "yesterday"], ["192.0.2.1", "--day", "2026-02-30"]])
    func `an address or a day that does not exist is a usage error`(arguments: [String]) async throws {
        let run = try await CommandRun.of(
            ["keys", "pseudonym"] + arguments,
            settings: ["ACCOUNTS_KEYS": TestSignups.keys]
        )
        #expect(run.status == 2 && run.output.isEmpty)
    }
}
