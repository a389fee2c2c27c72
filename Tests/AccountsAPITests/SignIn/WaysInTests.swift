import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

/// Tests every way to get a session, so that no way is weaker than the others (OWASP ASVS 5.0, 6.3.4).
@Suite("Ways in", .freshDatabase)
struct WaysInTests {
    private static let email = "kim@example.com"

    /// The built-in flow, but a mailed code can sign in, too.
    private static func flow() throws -> String { try standardFlow(with: "sign_in: [password, code]") }

    @Test(arguments: ["address", "username", "mailed code", "ticket", "recovery", "address that was brought back"])
    func `every way in asks for the app of an account that has one`(way: String) async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            let owner = Browser(site)
            let person = try await owner.signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = Browser(site)
            switch way {
            case "address": _ = try await kim.signIn()
            case "username": _ = try await kim.signIn("kim")
            case "mailed code": try await kim.enterMailedCode()
            case "ticket": try await kim.enterCodeForTicket()
            case "recovery": try await kim.recover()
            default:
                // Restoring the address removes an app that was added shortly before the change, so this one is older.
                try DatabaseSession().run("UPDATE authenticators SET created_at = now() - interval '8 days'")
                try await owner.moveAddress(to: "kim@example.net")
                try await site.service.deliver()
                let token = JSON.string(try site.service.mailbox.undoToken(for: Self.email))
                #expect(try await kim.send(.post, "/email-change/undo", ["token": token]).status == 204)
                try await kim.recover()
            }
            #expect(try await kim.send(.get, "/session").slug == "no-session", "one factor opens nothing")
            #expect(try await kim.send(.get, "/account").slug == "no-session")
            if kim["session"] != nil {
                #expect(try await kim.send(.put, "/session/totp", ["code": .string(person.code)]).status == 200)
            } else {
                let new: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
                #expect(try await kim.send(.put, "/recovery/password", new).slug == "step-locked")
                let factor: JSON = ["second_factor": .string(person.code)]
                #expect(try await kim.send(.put, "/recovery/second-factor", factor).nextStep == "password")
                try await kim.send(.put, "/recovery/password", new)
                #expect(try await kim.send(.post, "/recovery/commit").status == 200)
            }
            #expect(try await kim.send(.get, "/session").json["session"]?["assurance"] == "aal2")
        }
    }

    /// NIST SP 800-63B-4 §3.1.1.2: a short password is enough only beside another factor.
    @Test func `a short password never becomes the only factor`() async throws {
        let flow = try standardFlow(with: "").replacing("    optional: true\n", with: "").replacing(
            "min: 15",
            with: "min: 8"
        )
        try await TestServer.with(flow: flow) { site in
            let owner = Browser(site)
            try await owner.signUp(hasAuthenticator: true)
            let removal = try await owner.send(.delete, "/account/totp")
            #expect(removal.status == 409 && removal.slug == "factor-required")
            let page = try await owner.send(.get, "/account/authenticator")
            #expect(!page.body.contains("/account/authenticator/remove"))
            // Restoring the address removes the new app, because the owner of the old address may not have it.
            try await owner.moveAddress(to: "kim@example.net")
            try await site.service.deliver()
            let token = JSON.string(try site.service.mailbox.undoToken(for: Self.email))
            #expect(try await Browser(site).send(.post, "/email-change/undo", ["token": token]).status == 204)
            let kim = Browser(site)
            try await kim.recover()
            let (short, long) = (Self.passwords("lamp tree"), Self.passwords("lamp tree river cloud"))
            #expect(try await kim.send(.put, "/recovery/password", short).refusals == ["password:too_short"])
            #expect(try await kim.send(.put, "/recovery/password", long).status == 200)
            #expect(try await kim.send(.post, "/recovery/commit").json["session"]?["assurance"] == "aal1")
            #expect(try await kim.send(.put, "/account/password", short).refusals == ["password:too_short"])
        }
    }

    @Test func `a short password of a recovery does not pass to another account without an app`() async throws {
        let flow = try standardFlow(with: "").replacing("    optional: true\n", with: "").replacing(
            "min: 15",
            with: "min: 8"
        )
        try await TestServer.with(flow: flow) { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try await Browser(site).signUp("lee@example.com", "lee", hasAuthenticator: true)
            try DatabaseSession().run(
                "DELETE FROM authenticators USING accounts WHERE accounts.id = account AND username = 'lee'"
            )
            try site.forgetUsedCodes()
            let kim = Browser(site)
            #expect(try await kim.recover().nextStep == "second-factor")
            let short = Self.passwords("lamp tree")
            try await kim.send(.put, "/recovery/second-factor", ["second_factor": .string(person.code)])
            #expect(try await kim.send(.put, "/recovery/password", short).status == 200)
            try await kim.send(.put, "/recovery/email", ["email": "lee@example.com"])
            let code = try await site.service.readCode(for: "lee@example.com")
            #expect(try await kim.send(.put, "/recovery/code", ["code": .string(code)]).nextStep == "password")
            #expect(try await kim.send(.post, "/recovery/commit").slug == "incomplete")
        }
    }

    /// Such accounts exist after an import, and after an operator has removed a lost app.
    @Test func `an account without the app that the flow requires is asked to set one up`() async throws {
        let flow = try standardFlow(with: "").replacing("    optional: true\n", with: "")
        try await TestServer.with(flow: flow) { site in
            try await Browser(site).signUp(hasAuthenticator: true)
            try DatabaseSession().run("DELETE FROM recovery_codes; DELETE FROM authenticators")
            let next: JSON = ["step": "authenticator", "href": "/account/totp"]
            let kim = Browser(site)
            #expect(try await kim.signIn().json["next"] == next)
            #expect(try await kim.send(.get, "/session").json["next"] == next)
            let person = PageVisitor(site)
            let page = try await person.post("/sign-in", "identifier=kim&password=a+pass+phrase+of+mine")
            #expect(page.path == "/account/authenticator")
            let confirmed = try await person.post("/account/confirm", "next=password&password=a+pass+phrase+of+mine")
            #expect(confirmed.path == "/account/password")
            let secret = try #require(await kim.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes)
            let added = try await kim.send(.put, "/account/totp", ["code": .string(SignedUp(secret: secret).code)])
            #expect(added.status == 200)
            let session = try await kim.send(.get, "/session").json
            #expect(session["next"] == .null && session["session"]?["assurance"] == "aal2")
        }
    }

    @Test func `beside an app, a password of the flow's minimum length is enough`() async throws {
        let flow = try standardFlow(with: "").replacing("    optional: true\n", with: "").replacing(
            "min: 15",
            with: "min: 8"
        )
        try await TestServer.with(flow: flow) { site in
            let kim = Browser(site)
            let person = try await kim.signUp(hasAuthenticator: true)
            #expect(try await kim.send(.put, "/account/password", Self.passwords("lamp tree")).status == 200)
            try site.forgetUsedCodes()
            let other = Browser(site)
            try await other.recover()
            let factor: JSON = ["second_factor": .string(person.code)]
            #expect(try await other.send(.put, "/recovery/second-factor", factor).status == 200)
            #expect(try await other.send(.put, "/recovery/password", Self.passwords("tree lamp")).status == 200)
        }
    }

    private static func passwords(_ password: String) -> JSON {
        ["password": .string(password), "confirmation": .string(password)]
    }

    @Test(arguments: ["ticket", "recovery"])
    func `the session that the browser had ends`(way: String) async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            try await site.readyAccount()
            try await site.readyAccount("lee@example.com", "lee")
            let browser = Browser(site)
            _ = try await browser.signIn("lee")
            let old = try #require(browser["session"])
            if way == "ticket" {
                try await browser.enterCodeForTicket()
            } else {
                try await browser.recover()
                let new: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
                try await browser.send(.put, "/recovery/password", new)
                try await browser.send(.post, "/recovery/commit")
            }
            #expect(try await browser.send(.get, "/session").json["account"]?["username"] == "kim")
            browser["session"] = old
            #expect(try await browser.send(.get, "/session").slug == "no-session")
        }
    }

    /// Session fixation: somebody else may have put the cookie into the browser.
    @Test func `a token that the server did not issue is never adopted`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (kim, thief) = (Browser(site), Browser(site))
            let planted = String(repeating: "A", count: 64)
            (kim["session"], thief["session"]) = (planted, planted)
            #expect(try await kim.signIn().status == 201)
            #expect(kim["session"] != planted)
            #expect(try await thief.send(.get, "/session").slug == "no-session")
        }
    }

    /// OWASP ASVS 5.0, 7.6.2. Mail scanners and prefetching browsers open links, too.
    @Test func `opening a page or a link starts no session`() async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: "kim@example.net")
            try await Browser(site).send(.post, "/session/code", ["identifier": "kim"])
            try await site.service.deliver()
            let ticket = try site.service.mailbox.signInTicket(for: "kim@example.net")
            let before = try DatabaseSession().number(of: "sessions")
            for path in [
                "/sign-in", "/sign-in/mail", "/sign-in/code", "/sign-in/second-factor", "/sign-in/recovery-code",
                "/session/ticket?ticket=\(ticket)", "/email-change/undo", "/recovery", "/account",
                "/account/password", "/.well-known/change-password", "/signup",
            ] {
                let response = try await PageVisitor(site).send(.get, path)
                #expect(response.status < 400, "\(path)")
                #expect(!response.headers[values: .setCookie].contains { $0.hasPrefix("session=") }, "\(path)")
            }
            let after = try DatabaseSession().number(of: "sessions")
            #expect(after == before)
        }
    }

    @Test func `sign-ins that wait for a code end when the account is disabled`() async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let (factor, mailed) = (Browser(site), Browser(site))
            _ = try await factor.signIn()
            try await mailed.send(.post, "/session/code", ["identifier": "kim"])
            let code = try await site.service.readCode(for: Self.email)
            try DatabaseSession().run("UPDATE accounts SET disabled_at = now()")
            #expect(try await factor.send(.put, "/session/totp", ["code": .string(person.code)]).slug == "no-session")
            #expect(try await mailed.send(.put, "/session/code", ["code": .string(code)]).slug == "no-session")
            let sessions = try DatabaseSession().number(of: "sessions")
            #expect(sessions == 1, "only the session of the sign-up is left")
        }
    }

    /// Somebody who knows the password tries codes of the app.
    @Test func `a mailed code that does not sign in lets a new device try the code of the app again`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            for number in 0..<11 {
                _ = try await Stranger(site, at: "198.51.100.\(number)").guessSecondFactor(person.wrongCode)
            }
            let kim = Browser(site)
            _ = try await kim.signIn()
            let code: JSON = ["code": .string(person.code)]
            #expect(try await kim.send(.put, "/session/totp", code).slug == "code-required")
            try await kim.enterMailedCode()
            #expect(kim["session"] == nil, "the code only makes the device known")
            #expect(try await kim.signIn().json["session"] == ["state": "second-factor"])
            #expect(try await kim.send(.put, "/session/totp", ["code": .string(person.code)]).status == 200)
        }
    }

    // MARK: The time of a failure

    /// Checks of stored hashes take different times, and without an account there is no check.
    @Test(arguments: ["kim", "kim@example.com", "nobody", "nobody@example.com"])
    func `every failure takes the same minimum time`(identifier: String) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            guard let address = IPAddress("198.51.100.7"),
                case .secret(let wrong) = FieldAnswer.password("not the pass phrase")
            else { throw Missing() }
            let minimum = Duration.milliseconds(400)
            let sessions = Sessions(signups: site.service.signups, failureTime: minimum).from(
                Network(address),
                SessionClient(browser: nil, device: nil)
            )
            func fails() async throws -> String {
                let start = ContinuousClock.now
                var outcome = "signed in"
                do throws(SignInError) {
                    _ = try await sessions.signIn(as: SignInIdentifier(identifier), with: wrong)
                } catch {
                    outcome = "\(error)"
                }
                #expect(ContinuousClock.now - start >= minimum, "\(outcome)")
                return outcome
            }
            #expect(try await fails() == "failed")
            let stranger = try Stranger(site, at: "198.51.100.7")
            for _ in 1...9 { _ = try await stranger.signIn(identifier, "not the pass phrase") }
            #expect(try await fails() == "codeRequired")
            let start = ContinuousClock.now
            _ = try await sessions.mailCode(to: SignInIdentifier(identifier), in: .english)
            #expect(ContinuousClock.now - start >= minimum, "the request for a code")
        }
    }
}

extension Browser {
    /// Asks for a mailed code, and enters it.
    fileprivate func enterMailedCode() async throws {
        try await send(.post, "/session/code", ["identifier": "kim@example.com"])
        let code = try await site.service.readCode(for: "kim@example.com")
        try await send(.put, "/session/code", ["code": .string(code)])
    }

    /// Exchanges the ticket in a mail that another browser has requested, and enters the new code.
    fileprivate func enterCodeForTicket() async throws {
        try await Browser(site).send(.post, "/session/code", ["identifier": "kim@example.com"])
        try await site.service.deliver()
        let ticket = try site.service.mailbox.signInTicket(for: "kim@example.com")
        try await send(.post, "/session/ticket", ["ticket": .string(ticket)])
        let code = try await site.service.readCode(for: "kim@example.com")
        try await send(.put, "/session/code", ["code": .string(code)])
    }
}
