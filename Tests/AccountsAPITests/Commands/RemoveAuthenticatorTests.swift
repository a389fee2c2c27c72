import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

/// Follows a support case of docs/operating.md: a person has lost the app and the recovery codes.
@Suite("Removing a lost authenticator", .freshDatabase)
struct RemoveAuthenticatorTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    private func remove(_ account: String = "kim@example.com", _ flags: String...) async throws -> CommandRun {
        let run = try await CommandRun.byMina(["accounts", "remove-authenticator", account, "--yes"] + flags)
        #expect(run.status == 0, "\(run.errorOutput)")
        return run
    }

    private func acts() throws -> [String] {
        try session.query("SELECT act FROM audit WHERE act <> 'find account' ORDER BY number").map {
            try $0.decode(String.self)
        }
    }

    /// Asks for a mailed code and enters it.
    private func proveMailbox(_ kim: Browser) async throws -> Response {
        try await kim.send(.post, "/session/code", ["identifier": "kim@example.com"])
        let code = try await kim.site.service.readCode(for: "kim@example.com")
        return try await kim.send(.put, "/session/code", ["code": .string(code)])
    }

    @Test func `the password then signs in after a mailed code, and another app can be set up`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            let run = try await remove()
            #expect(run.output.hasPrefix("removed the authenticator app of account "))
            #expect(run.output.hasSuffix(": each device needs a mailed code before the password\n"))
            #expect(try acts() == ["remove authenticator"])
            #expect(try session.number(of: "authenticators") == 0)
            #expect(try session.number(of: "recovery_codes") == 0)
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            for identifier in ["kim@example.com", "kim"] {
                #expect(
                    try await kim.signIn(identifier).slug == "code-required",
                    "the lost phone may have stored the password"
                )
            }
            let proved = try await proveMailbox(kim)
            #expect(proved.nextStep == "password")
            let signedIn = try await kim.signIn()
            #expect(signedIn.status == 201 && signedIn.json["session"]?["assurance"] == "aal1")
            let secret = try #require(await kim.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes)
            let added = try await kim.send(.put, "/account/totp", ["code": .string(SignedUp(secret: secret).code)])
            #expect(added.status == 200 && added.strings("recovery_codes").count == 10)
        }
    }

    @Test func `other devices need a mailed code for a month`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            _ = try await remove("kim")
            _ = try await proveMailbox(kim)
            #expect(try await kim.signIn().status == 201)
            #expect(try await Stranger(site, at: "198.51.100.1").signIn("kim").slug == "code-required")
            let reasons = try await CommandRun.byMina("accounts", "why", "kim", "--json").json["reasons"]
            let codes = reasons?.texts(of: "code")
            #expect(codes == ["password_guessed_for_address", "password_guessed_for_username", "signed_in"])
            try session.letPass("31 days")
            #expect(try await Stranger(site, at: "198.51.100.2").signIn("kim").slug == "session")
        }
    }

    @Test func `the removal ends sign-ins and recoveries that have begun`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let (waiting, recovering) = (Browser(site), Browser(site))
            let first = try await waiting.signIn()
            #expect(first.nextStep == "totp")
            try await recovering.recover()
            _ = try await remove()
            let code: JSON = ["code": .string(person.code)]
            #expect(try await waiting.send(.put, "/session/totp", code).slug == "no-session")
            let new: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
            try await recovering.send(.put, "/recovery/password", new)
            #expect(try await recovering.send(.post, "/recovery/commit").status != 200)
        }
    }

    @Test func `the current and the former address get a mail about the removal`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            #expect(try await kim.moveAddress(to: "kim@example.net").status == 200)
            try await site.service.deliver()
            let earlier = site.service.mailbox.mails.count
            _ = try await remove("kim")
            try await site.service.deliver()
            let mails = site.service.mailbox.mails.dropFirst(earlier)
            #expect(
                mails.map(\.subject)
                    == Array(repeating: "Your Acme authenticator app was removed on request", count: 2)
            )
            #expect(Set(mails.map(\.to)) == ["kim@example.com", "kim@example.net"])
            #expect(
                mails.allSatisfy { $0.text.contains("If you asked for this, there's nothing else") }
            )
        }
    }

    @Test func `if the account has no address, the password alone signs in`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp(hasAuthenticator: true)
            try session.run("DELETE FROM identifiers WHERE kind = 'email'; UPDATE accounts SET email = NULL")
            let run = try await remove("kim")
            #expect(run.output.hasSuffix(": the password alone signs in, because the account has no address\n"))
            #expect(try await Browser(site).signIn("kim").status == 201)
        }
    }

    @Test func `for an account without an app the command changes nothing`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await site.service.deliver()
            let earlier = site.service.mailbox.mails.count
            let json = try await remove("kim", "--json").json
            #expect(json["changed"] == false && json["needs_mailed_code"] == false)
            #expect(try await remove("kim").output.hasSuffix(" has no authenticator app\n"))
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.count == earlier)
            #expect(try acts() == [])
            #expect(try await kim.send(.get, "/session").status == 200)
        }
    }

    @Test func `the command needs --yes if it cannot ask in a terminal`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            let run = try await CommandRun.byMina("accounts", "remove-authenticator", "kim")
            #expect(run.status == 2 && run.errorOutput.contains("pass --yes"))
            #expect(try session.number(of: "authenticators") == 1)
        }
    }
}
