import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Why somebody cannot sign in", .freshDatabase)
struct AccountWhyTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    private func why(settings: [String: String] = [:]) async throws -> String {
        try keepMailNew()
        let run = try await CommandRun.byMina(["accounts", "why", "kim@example.com"], settings: settings)
        #expect(run.status == 0, "\(run.errorOutput)")
        return run.output
    }

    /// Mail that has waited for a minute is a reason, too. On a busy machine, the mail of a sign-up would become one.
    private func keepMailNew() throws {
        try session.run("UPDATE outbox SET created_at = now() WHERE state = 'waiting'")
    }

    /// The codes of the reasons, each with a `!` if it is an obstacle.
    private func codes(of account: String = "kim@example.com") async throws -> [String] {
        try keepMailNew()
        let json = try await CommandRun.byMina("accounts", "why", account, "--json").json
        guard case .array(let reasons)? = json["reasons"] else { throw Missing() }
        #expect(json["obstacle"] == .bool(reasons.contains { $0["obstacle"] == true }))
        return reasons.map { "\($0["code"]?.string ?? "")\($0["obstacle"] == true ? "!" : "")" }
    }

    @Test func `without an obstacle the command says how to sign in`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            #expect(try await why() == "Nothing stands in the way of a sign-in with the password.\n")
            #expect(try await codes() == [])
            _ = try await Browser(site).signIn()
            #expect(try await codes() == ["signed_in"])
            #expect(try await why().contains("\nThe account has 1 session, last used "))
            let code = try standardFlow(with: "sign_in: [code]")
            try await withFile(code) { file in
                let lines = try await why(settings: ["FLOW_FILE": file]).split(separator: "\n")
                #expect(lines.first == "Nothing stands in the way of a sign-in with a mailed code.")
                #expect(lines.dropFirst().first == "The flow does not let passwords sign in, only mailed codes.")
            }
            let records = try session.query("SELECT DISTINCT act FROM audit").map { try $0.decode(String.self) }
            #expect(records == ["find account"])
        }
    }

    @Test func `a disabled account is an obstacle`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp()
            _ = try await CommandRun.byMina("accounts", "disable", "kim")
            #expect(try await codes() == ["disabled!"])
            #expect(try await why().hasPrefix("An operator disabled the account "))
        }
    }

    @Test func `a missing password is an obstacle, with and without an address`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try session.run("DELETE FROM credentials")
            #expect(try await why() == "The account has no password. A recovery sets one.\n")
            try session.run("DELETE FROM identifiers WHERE kind = 'email'; UPDATE accounts SET email = NULL")
            #expect(try await codes(of: "kim") == ["no_password!"])
            let flow = try standardFlow(with: "sign_in: [code]")
            try await withFile(flow) { file in
                let run = try await CommandRun.byMina("accounts", "why", "kim", settings: ["FLOW_FILE": file])
                #expect(run.output.hasPrefix("The flow has no way to sign in that this account can use."))
            }
        }
    }

    @Test func `fifty wrong passwords of strangers are an obstacle for a month`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            func guess(_ numbers: Range<Int>) async throws {
                for number in numbers {
                    _ = try await Stranger(site, at: "198.51.100.\(number)").signIn("kim", "not the pass phrase")
                }
            }
            try await guess(0..<49)
            #expect(try await codes() == [])
            try await guess(49..<50)
            #expect(try await Browser(site).signIn("kim").slug == "code-required")
            #expect(try await codes() == ["password_guessed_for_username!"])
            #expect(
                try await why().replacing(/(29|30) d/, with: "N d") == """
                    Unknown browsers cannot sign in with the username and the password alone, for another N d, or \
                    longer if guesses go on; the account knows 0 browsers. A mailed code makes a browser known.

                    """
            )
            #expect(try await Browser(site).signIn().status == 201, "the address has a separate count")
            try session.letPass("31 days")
            #expect(try await codes() == [])
        }
    }

    @Test func `fifty wrong mailed codes, or fifty wrong codes of the app, are an obstacle`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp(hasAuthenticator: true)
            let kim = Browser(site)
            try await kim.send(.post, "/session/code", ["identifier": "kim@example.com"])
            try await kim.send(.put, "/session/code", ["code": "000000"])
            try session.run("UPDATE sign_in_failures SET count = 50 WHERE count > 0")
            #expect(try await codes() == ["code_guessed_for_address!", "second_factor", "signed_in"])
            let link = "The link in the mail with the code requests a new code, which is accepted.\n"
            #expect(try await why().contains(link))
            try session.run("DELETE FROM sign_in_failures")
            let stranger = Browser(site)
            _ = try await stranger.signIn()
            try await stranger.send(.put, "/session/totp", ["code": "000000"])
            try session.run("UPDATE sign_in_failures SET count = 50 WHERE count > 0")
            #expect(try await codes() == ["second_factor_guessed!", "second_factor", "signed_in"])
        }
    }

    @Test func `fifty wrong codes in a recovery are an obstacle`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            try await kim.send(.post, "/recovery", [:])
            try await kim.send(.put, "/recovery/email", ["email": "kim@example.com"])
            try await kim.send(.put, "/recovery/code", ["code": "000000"])
            try session.run("UPDATE sign_in_failures SET count = 50 WHERE count > 0")
            #expect(try await codes() == ["recovery_code_guessed!"])
        }
    }

    @Test func `an authenticator is an obstacle without recovery codes, or if it cannot be decrypted`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp(hasAuthenticator: true)
            #expect(try await why().contains("a code of its authenticator app, or one of 10 recovery codes."))
            try session.run("DELETE FROM recovery_codes")
            #expect(try await codes() == ["second_factor!", "signed_in"])
            try session.run("UPDATE authenticators SET sealed = ''")
            #expect(try await codes() == ["authenticator_unreadable!", "signed_in"])
        }
    }

    @Test func `a change of the address is an obstacle`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: "kim@example.net")
            try await site.service.deliver()
            #expect(try await codes(of: "kim@example.net") == ["address_left!", "signed_in"])
        }
    }

    @Test func `a code for the username that has waited for a minute is an obstacle`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.service.deliver()
            try await Browser(site).send(.post, "/session/code", ["identifier": "kim"])
            try session.run("UPDATE outbox SET created_at = now() - interval '2 hours' WHERE state = 'waiting'")
            let run = try await CommandRun.byMina("accounts", "why", "kim@example.com")
            #expect(run.output.hasPrefix("1 mail to the address has waited for 2 h"), "\(run.output)")
        }
    }

    @Test func `a mail that the mail server has refused is an obstacle`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.service.deliver()
            site.service.mailbox.refuse(with: .temporary(reply: 451, reason: "greylisted"))
            try await Browser(site).send(.post, "/session/code", ["identifier": "kim"])
            try await Browser(site).send(.post, "/session/code", ["identifier": "lee@example.com"])
            #expect(try await codes() == [], "no mail has been sent yet")
            try await site.service.deliver()
            #expect(try await codes() == ["mail_waits!"])
            let text = try await why()
            #expect(text.hasPrefix("1 mail to the address has waited for ") && text.contains("greylisted"))
        }
    }

    @Test func `of several mails that wait, the newest gives the reason`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.service.deliver()
            site.service.mailbox.refuse(with: .temporary(reply: 451, reason: "greylisted"))
            try await Browser(site).send(.post, "/session/code", ["identifier": "kim"])
            try await site.service.deliver()
            try session.run(
                """
                INSERT INTO outbox
                SELECT (jsonb_populate_record(mail, jsonb_build_object(
                            'id', gen_random_uuid(), 'created_at', now() - interval '2 hours', 'last_error', 'timed out'
                       ))).*
                  FROM outbox AS mail WHERE state = 'waiting'
                """
            )
            let text = try await CommandRun.byMina("accounts", "why", "kim@example.com").output
            #expect(text.hasPrefix("2 mails to the address have waited for up to 2 h: "), "\(text)")
            #expect(text.contains("greylisted") && !text.contains("timed out"))
        }
    }

    @Test func `a dead mail of a recovery is an obstacle`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.service.deliver()
            site.service.mailbox.refuse(with: .permanent(reply: 550, reason: "5.1.1 user unknown"))
            for identifier in ["kim@example.com", "lee@example.com"] {
                let person = Browser(site)
                try await person.send(.post, "/recovery", [:])
                try await person.send(.put, "/recovery/email", ["email": .string(identifier)])
            }
            try await site.service.deliver()
            #expect(try await codes() == ["mail_dead!"])
            let text = try await why()
            #expect(
                text.hasPrefix("1 mail for the account, or for a sign-up or recovery with its address, was given up, ")
            )
            #expect(text.contains("550 5.1.1 user unknown"))
        }
    }

    @Test func `a dead mail with a sign-in code is an obstacle, and its row names the account`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.service.deliver()
            site.service.mailbox.refuse(with: .permanent(reply: 550, reason: "5.1.1 user unknown"))
            for identifier in ["kim", "lee@example.com"] {
                try await Browser(site).send(.post, "/session/code", ["identifier": .string(identifier)])
            }
            try await site.service.deliver()
            #expect(try await codes() == ["mail_dead!"])
            let list = ["outbox", "list", "--state", "dead", "--json", "--email"]
            let run = try await CommandRun.byMina(list + ["kim@example.com"])
            let account = try session.query("SELECT id::text FROM accounts").only.decode(String.self)
            let mails = try run.json["mails"]
            #expect(mails?.texts(of: "template") == ["sign-in-code"] && mails?.texts(of: "account") == [account])
            #expect(try await CommandRun.byMina(list + ["lee@example.com"]).json["total"] == 0)
            // A mail that died before the account got its present address says nothing about this address.
            try session.run(
                """
                INSERT INTO address_changes (id, account, token_hash, sealed, expires_at)
                SELECT gen_random_uuid(), id, '', '', now() + interval '1 day' FROM accounts
                """
            )
            #expect(try await !codes().contains("mail_dead!"))
        }
    }

    @Test(arguments: ["address-left", "address-withdrawn", "withheld"])
    func `a dead mail to another address of the account, or one that was withheld, is no obstacle`(template: String)
        async throws
    {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.service.deliver()
            site.service.mailbox.refuse(with: .permanent(reply: 550, reason: "5.1.1 user unknown"))
            try await Browser(site).send(.post, "/session/code", ["identifier": "kim"])
            try await site.service.deliver()
            #expect(try await codes() == ["mail_dead!"])
            try session.run("UPDATE outbox SET template = '\(template)' WHERE state = 'dead'")
            #expect(try await codes() == [])
        }
    }

    @Test func `with an account its waiting mail is erased, and no other mail`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.service.deliver()
            try await Browser(site).send(.post, "/session/code", ["identifier": "kim"])
            let ofOthers = "outbox WHERE account IS NULL"
            let before = try session.number(of: ofOthers)
            #expect(try session.number(of: "outbox WHERE account IS NOT NULL AND state = 'waiting'") == 1)
            let run = try await CommandRun.byMina("accounts", "erase", "kim@example.com", "--yes")
            #expect(run.status == 0, "\(run.errorOutput)")
            #expect(try session.number(of: "outbox WHERE account IS NOT NULL AND state = 'waiting'") == 0)
            #expect(try session.number(of: ofOthers) == before)
        }
    }

    @Test func `an account that does not exist is not found`() async throws {
        for account in ["nobody@example.com", "nobody", "01a1fdb2-1117-7906-a197-83af84022e4d"] {
            let run = try await CommandRun.byMina("accounts", "why", account)
            #expect(run.status == 1 && run.errorOutput.contains("no account"))
        }
    }
}
