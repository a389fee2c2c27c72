import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Recovery of an account", .freshDatabase)
struct RecoveryTests {
    private static let email = "kim@example.com"
    private static let new = "another pass phrase"

    @Test func `a person who forgot the password chooses another one by mail`() async throws {
        try await TestServer.with { site in
            let before = Browser(site)
            try await before.signUp()
            let kim = Browser(site)
            let start = try await kim.recover()
            #expect(
                start.status == 200 && start.nextStep == "password"
                    && start.states == ["complete", "complete", "current"]
            )
            #expect(start.json["next"]?["href"] == "/recovery/password")
            #expect(site.service.mailbox.mails.last?.subject == "Reset your Acme password")
            #expect(try await kim.send(.put, "/recovery/password", .passwords(Self.new)).nextStep == "review")
            let commit = try await kim.send(.post, "/recovery/commit")
            #expect(commit.status == 200 && commit.json["account"]?["email"] == .string(Self.email))
            #expect(commit.json["session"]?["amr"] == ["otp"] && commit.json["session"]?["assurance"] == "aal1")
            #expect(try await kim.send(.get, "/session").status == 200)
            #expect(try await before.send(.get, "/session").slug == "no-session", "all other sessions have ended")
            #expect(try await Browser(site).signIn().slug == "sign-in-failed")
            let signedIn = try await Browser(site).signIn(Self.email, Self.new).status
            #expect(signedIn == 201)
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.last?.subject == "Your Acme password was changed")
        }
    }

    @Test func `a repeated commit returns the same session`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            try await kim.recover()
            try await kim.send(.put, "/recovery/password", .passwords(Self.new))
            let first = try await kim.send(.post, "/recovery/commit")
            let token = kim["session"]
            kim["session"] = nil
            let again = try await kim.send(.post, "/recovery/commit")
            #expect(again.status == 200 && again.json["session"] == first.json["session"] && kim["session"] == token)
            let shown = try await kim.send(.get, "/recovery")
            #expect(
                shown.json["state"] == "committed" && shown.json["account"] == nil,
                "only a session shows the account"
            )
            #expect(try await kim.send(.put, "/recovery/password", .passwords("a third pass phrase")).status == 409)
        }
    }

    @Test func `the answers do not reveal whether there is an enabled account, and only such an account gets mail`()
        async throws
    {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.readyAccount("away@example.com", "away")
            try DatabaseSession().run("UPDATE accounts SET disabled_at = now() WHERE username = 'away'")
            try await site.service.deliver()
            let mails = site.service.mailbox.mails.count
            var answers: [[String]] = []
            for address in [Self.email, "away@example.com", "nobody@example.com"] {
                let browser = Browser(site)
                try await browser.send(.post, "/recovery", [:])
                var one = [try await browser.send(.put, "/recovery/email", ["email": .string(address)])]
                for _ in 1...5 { one.append(try await browser.send(.put, "/recovery/code", ["code": "000000"])) }
                one.append(try await browser.send(.post, "/recovery/code/resend"))
                one.append(try await browser.send(.put, "/recovery/password", .passwords(Self.new)))
                one.append(try await browser.send(.post, "/recovery/commit"))
                answers.append(one.map { $0.comparable(address) })
            }
            #expect(Set(answers).count == 1)
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.dropFirst(mails).map(\.to) == [Self.email])
            let rows = try DatabaseSession().number(of: "outbox WHERE template = 'withheld'")
            #expect(rows == 2)
        }
    }

    @Test func `an account with an authenticator needs a code of the app, too`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = Browser(site)
            let start = try await kim.recover()
            #expect(start.nextStep == "second-factor")
            #expect(start.states == ["complete", "complete", "current", "locked"])
            #expect(try await kim.send(.put, "/recovery/password", .passwords(Self.new)).slug == "step-locked")
            let step = try await kim.send(.get, "/recovery/second-factor")
            #expect(step.status == 200 && step.json["fields"] != nil)
            let path = "/recovery/second-factor"
            let wrong = try await kim.send(.put, path, ["second_factor": .string(person.wrongCode)])
            #expect(wrong.refusals == ["second_factor:code_wrong"])
            #expect(try await kim.send(.put, path, ["second_factor": "12"]).refusals == ["second_factor:bad_format"])
            #expect(try await kim.send(.put, path, [:]).refusals == ["second_factor:required"])
            let code = person.code
            #expect(try await kim.send(.put, path, ["second_factor": .string(code)]).nextStep == "password")
            #expect(
                try await kim.send(.put, path, ["second_factor": .string(code)]).status == 200,
                "the form was sent twice"
            )
            let other = try await kim.send(.put, path, ["second_factor": .string(person.wrongCode)])
            #expect(other.refusals == ["second_factor:code_wrong"])
            #expect(try await kim.send(.get, "/recovery").nextStep == "password", "the right code still counts")
            try await kim.send(.put, "/recovery/password", .passwords(Self.new))
            let commit = try await kim.send(.post, "/recovery/commit")
            #expect(commit.json["session"]?["assurance"] == "aal2" && commit.json["session"]?["amr"] == ["otp", "mfa"])
            let again = Browser(site)
            #expect(try await again.signIn(Self.email, Self.new).json["session"] == ["state": "second-factor"])
            #expect(
                try await again.send(.put, "/session/totp", ["code": .string(code)]).status == 422,
                "the code is used up"
            )
        }
    }

    @Test func `a recovery code replaces a code of the app once, and a new recovery code takes its place`() async throws
    {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            let kim = Browser(site)
            try await kim.recover()
            let used: JSON = ["second_factor": .string(person.recoveryCodes[0])]
            let given = try await kim.send(.put, "/recovery/second-factor", used)
            let new = given.strings("recovery_codes")
            #expect(given.nextStep == "password" && new.count == 1 && !person.recoveryCodes.contains(new[0]))
            let rows = try DatabaseSession().number(of: "recovery_codes")
            #expect(rows == 10)
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.last?.subject == "A recovery code was used for your Acme account")
            let other = Browser(site)
            try await other.recover()
            #expect(try await other.send(.put, "/recovery/second-factor", used).status == 422)
            let second = try await other.send(.put, "/recovery/second-factor", ["second_factor": .string(new[0])])
            #expect(second.nextStep == "password")
        }
    }

    @Test func `guesses at the second factor are limited, and the owner can still sign in`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let thief = Browser(site)
            try await thief.recover()
            for _ in 1...10 {
                let wrong = try await thief.send(
                    .put,
                    "/recovery/second-factor",
                    ["second_factor": .string(person.wrongCode)]
                )
                #expect(wrong.refusals == ["second_factor:code_wrong"])
            }
            let right = try await thief.send(.put, "/recovery/second-factor", ["second_factor": .string(person.code)])
            #expect(right.slug == "rate-limited" && right.headers[.retryAfter] == "3600")
            #expect(right.headers[.rateLimitPolicy] == "\"app_guesses_for_account\";q=10;w=3600")
            let message = "Too many codes from the app were tried. Try again in 1 hour, or enter a recovery code."
            #expect(right.json["message"] == .string(message))
            let code: JSON = ["second_factor": .string(person.recoveryCodes[0])]
            #expect(
                try await thief.send(.put, "/recovery/second-factor", code).status == 200,
                "recovery codes have a count of their own"
            )
            let kim = Browser(site)
            _ = try await kim.signIn()
            #expect(try await kim.send(.put, "/session/totp", ["code": .string(person.code)]).status == 200)
        }
    }

    @Test func `guesses at the recovery codes are limited, and a code of the app is still accepted`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let thief = Browser(site)
            try await thief.recover()
            func answer(_ code: String) async throws -> Response {
                try await thief.send(.put, "/recovery/second-factor", ["second_factor": .string(code)])
            }
            let wrong = String(repeating: "A", count: 24)
            for _ in 1...10 { #expect(try await answer(wrong).refusals == ["second_factor:code_wrong"]) }
            let right = try await answer(person.recoveryCodes[0])
            #expect(right.slug == "rate-limited" && right.headers[.retryAfter] == "3600")
            #expect(right.headers[.rateLimitPolicy] == "\"recovery_code_guesses_for_account\";q=10;w=3600")
            #expect(right.json["message"] == "Too many attempts. Try again in 1 hour.")
            #expect(try await answer(person.code).status == 200)
        }
    }

    @Test func `the token of a recovery opens no sign-up, and the token of a sign-up opens no recovery`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            try await kim.recover()
            try await kim.send(.post, "/signup", [:])
            let (recovery, signup) = (kim["recovery"], kim["signup"])
            (kim["signup"], kim["recovery"]) = (recovery, signup)
            #expect(try await kim.send(.get, "/signup").slug == "no-draft")
            #expect(try await kim.send(.put, "/signup/profile", ["display_name": "x"]).slug == "no-draft")
            #expect(try await kim.send(.post, "/signup/commit").slug == "no-draft")
            #expect(try await kim.send(.get, "/recovery").slug == "no-draft")
            #expect(try await kim.send(.get, "/recovery").json["restart"]?["href"] == "/recovery")
        }
    }

    @Test func `of two recoveries of an account, the first commit ends the other`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (kim, other) = (Browser(site), Browser(site))
            for browser in [kim, other] {
                try await browser.recover()
                try await browser.send(.put, "/recovery/password", .passwords(Self.new))
            }
            #expect(try await kim.send(.post, "/recovery/commit").status == 200)
            let late = try await other.send(.post, "/recovery/commit")
            #expect(late.slug == "draft-expired" && late.json["reason"] == "superseded")
        }
    }

    @Test(
        arguments: [
            "DELETE FROM accounts", "UPDATE accounts SET disabled_at = now()",
            "UPDATE accounts SET credentials_version = credentials_version + 1",
        ]
    )
    func `a recovery ends if its account is deleted, disabled or gets new credentials meanwhile`(change: String)
        async throws
    {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            try await kim.recover()
            try await kim.send(.put, "/recovery/password", .passwords(Self.new))
            try DatabaseSession().run(change)
            let commit = try await kim.send(.post, "/recovery/commit")
            #expect(commit.slug == "draft-expired" && commit.json["reason"] == "superseded")
            #expect(try await kim.send(.post, "/recovery", [:]).nextStep == "email", "another recovery can begin")
            let rows = try DatabaseSession().number(of: "sessions")
            #expect(rows == 0)
        }
    }

    @Test func `a change of the password ends a recovery that somebody else has begun`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let thief = Browser(site)
            try await thief.recover()
            let passwords = JSON.passwords("the choice of the owner")
            #expect(try await kim.send(.put, "/account/password", passwords).status == 200)
            try await thief.send(.put, "/recovery/password", .passwords(Self.new))
            #expect(try await thief.send(.post, "/recovery/commit").slug == "draft-expired")
            #expect(try await kim.send(.get, "/session").status == 200)
        }
    }

    @Test func `the removal of the app ends a recovery, whether or not its second factor was entered`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            let person = try await kim.signUp(hasAuthenticator: true)
            let (given, asked) = (Browser(site), Browser(site))
            for browser in [given, asked] { try await browser.recover() }
            let code: JSON = ["second_factor": .string(person.recoveryCodes[0])]
            try await given.send(.put, "/recovery/second-factor", code)
            try await given.send(.put, "/recovery/password", .passwords(Self.new))
            #expect(try await kim.send(.delete, "/account/totp").status == 200)
            #expect(try await given.send(.post, "/recovery/commit").slug == "draft-expired")
            let late = try await asked.send(.put, "/recovery/second-factor", ["second_factor": "123456"])
            #expect(late.slug == "draft-expired", "no code could be right any more")
        }
    }

    @Test func `a repeated commit is refused after the session has ended`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            try await kim.recover()
            try await kim.send(.put, "/recovery/password", .passwords(Self.new))
            try await kim.send(.post, "/recovery/commit")
            try await kim.send(.delete, "/session")
            #expect(try await kim.send(.post, "/recovery/commit").slug == "already-committed")
        }
    }

    @Test(
        arguments: [
            ("kim@gmail.com", ["k.im@gmail.com", "ki.m@gmail.com"]),
            ("kim+shop@example.com", ["kim+a@example.com", "kim@example.com"]),
        ]
    )
    func `other spellings of an address do not use up its limit of mails`(address: String, others: [String])
        async throws
    {
        let limits = Limits(byName: [.mailsToAddress: Limit(1, per: .seconds(86_400))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            try await site.readyAccount(address, "kim")
            for other in others {
                let stranger = Browser(site)
                try await stranger.send(.post, "/recovery", [:])
                #expect(try await stranger.send(.put, "/recovery/email", ["email": .string(other)]).status == 200)
            }
            let kim = Browser(site)
            let recovery = try await kim.recover(address)
            #expect(recovery.nextStep == "password")
        }
    }

    @Test(arguments: ["kim@example.com", "nobody@example.com"])
    func `strangers have fifty guesses at the codes for an address, and a ticket still lets its owner in`(
        address: String
    ) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let signups = site.service.signups.following(try #require(site.service.signups.flow.recovery))
            func guess(from network: Int) async throws -> String {
                let signups = signups.from(Network(try #require(IPAddress("203.0.\(network).1"))))
                let (draft, _) = try await signups.start(in: .english)
                let steps = signups.flow.steps
                let sent = try await signups.submit(["email": .json(.string(address))], to: steps[0], of: draft).draft
                do throws(SubmitError) {
                    _ = try await signups.submit(["code": .json("000000")], to: steps[1], of: sent)
                    return "right"
                } catch {
                    switch error {
                    case .refused(let refusals): return refusals[0].code.rawValue
                    case .limited(let reached): return reached.name
                    default: return "\(error)"
                    }
                }
            }
            var outcomes: [String] = []
            for number in 0..<51 { outcomes.append(try await guess(from: number / 5)) }
            #expect(outcomes == Array(repeating: "code_wrong", count: 50) + ["guesses_for_address"])
            guard address == "kim@example.com" else { return }
            let kim = Browser(site)
            let late = try? await kim.recover()
            #expect(late?.slug == "rate-limited")
            let ticket = JSON.string(try site.service.mailbox.recoveryTicket(for: address))
            try await kim.send(.post, "/recovery/ticket", ["ticket": ticket])
            let code = try await site.service.readCode(for: address)
            #expect(try await kim.send(.put, "/recovery/code", ["code": .string(code)]).nextStep == "password")
        }
    }

    @Test func `the reaper erases an expired recovery, and keeps a live one`() async throws {
        try await TestServer.with(flow: standardFlow(with: "draft: {idle: 1m, absolute: 30d}")) { site in
            let reaper = Reaper(signups: site.service.signups, logger: site.log.logger)
            let kim = Browser(site)
            try await kim.send(.post, "/recovery", [:])
            try DatabaseSession().run("UPDATE drafts SET updated_at = now() - interval '29 minutes'")
            #expect(try await reaper.sweep().drafts == 0)
            try DatabaseSession().run("UPDATE drafts SET updated_at = now() - interval '31 minutes'")
            #expect(try await reaper.sweep().drafts == 1)
        }
    }

    @Test func `a mail that is sent after its recovery has expired still lets the owner in`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.service.deliver()
            let stranger = Browser(site)
            try await stranger.send(.post, "/recovery", [:])
            try await stranger.send(.put, "/recovery/email", ["email": .string(Self.email)])
            try DatabaseSession().letPass("31 minutes")
            #expect(try await Reaper(signups: site.service.signups, logger: site.log.logger).sweep().drafts == 1)
            try await site.service.deliver()
            let ticket = JSON.string(try site.service.mailbox.recoveryTicket(for: Self.email))
            let kim = Browser(site)
            #expect(try await kim.send(.post, "/recovery/ticket", ["ticket": ticket]).nextStep == "code")
            let code = try await site.service.readCode(for: Self.email)
            #expect(try await kim.send(.put, "/recovery/code", ["code": .string(code)]).nextStep == "password")
        }
    }

    @Test func `operators see recoveries apart from sign-ups`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            try await kim.recover()
            let worker = Operator(site.service.signups, name: "test")
            let listed = try await worker.drafts(DraftFilter(), limit: 10).items.filter { $0.state == .open }
            #expect(listed.map(\.step) == ["recovery/password"])
            let draft = try #require(try await worker.draft(listed[0].id))
            let obstacles = try await worker.following(draft).obstacles(of: draft)
            #expect(obstacles.map(\.step) == ["password", "password"])
            let (expiresAt, now) = try #require(try await worker.extend(draft.id))
            #expect(expiresAt.timeIntervalSince(now) == 1800)
        }
    }

    @Test(arguments: ["kim@example.com", "kim-the-username"])
    func `the address and the username of the account are refused as the new password`(password: String) async throws {
        try await TestServer.with { site in
            try await site.readyAccount(Self.email, "kim-the-username")
            let kim = Browser(site)
            try await kim.recover()
            let refused = try await kim.send(.put, "/recovery/password", .passwords(password))
            #expect(refused.refusals == ["password:contains_identifier"])
        }
    }

    @Test func `another address must be proved again, and needs the second factor of its account`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await Browser(site).signUp("lee@example.com", "lee", hasAuthenticator: true)
            let kim = Browser(site)
            try await kim.recover()
            try await kim.send(.put, "/recovery/password", .passwords(Self.new))
            let moved = try await kim.send(.put, "/recovery/email", ["email": "lee@example.com"])
            #expect(moved.nextStep == "code")
            #expect(try await kim.send(.post, "/recovery/commit").slug == "incomplete")
            let code = try await site.service.readCode(for: "lee@example.com")
            #expect(try await kim.send(.put, "/recovery/code", ["code": .string(code)]).nextStep == "second-factor")
            #expect(try await kim.send(.post, "/recovery/commit").slug == "incomplete")
        }
    }

    @Test func `sign-ups and recoveries have separate limits of mails, and do not accept each other's tickets`()
        async throws
    {
        let limits = Limits(byName: [.mailsToAddress: Limit(1, per: .seconds(86_400))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            try await site.readyAccount()
            let stranger = Browser(site)
            try await stranger.send(.post, "/signup", [:])
            #expect(try await stranger.send(.put, "/signup/email", ["email": .string(Self.email)]).status == 429)
            let kim = Browser(site)
            let started = try await kim.recover()
            #expect(started.status == 200)
            let other = Browser(site)
            try await other.send(.post, "/recovery", [:])
            #expect(try await other.send(.put, "/recovery/email", ["email": .string(Self.email)]).status == 429)
            let ticket = JSON.string(try site.service.mailbox.recoveryTicket(for: Self.email))
            #expect(
                try await other.send(.post, "/signup/ticket", ["ticket": ticket]).refusals == ["ticket:code_expired"]
            )
            let redeemed = try await other.send(.post, "/recovery/ticket", ["ticket": ticket])
            #expect(redeemed.status == 201 && redeemed.nextStep == "code")
            let code = try await site.service.readCode(for: Self.email)
            #expect(try await other.send(.put, "/recovery/code", ["code": .string(code)]).nextStep == "password")
            #expect(
                try await other.send(.post, "/recovery/ticket", ["ticket": ticket]).status == 422,
                "a ticket works once"
            )
        }
    }

    @Test func `a recovery expires half an hour after its last change`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            let start = try await kim.send(.post, "/recovery", [:])
            #expect(start.json["expires_in"] == 1800)
            try DatabaseSession().run("UPDATE drafts SET updated_at = now() - interval '31 minutes'")
            let late = try await kim.send(.get, "/recovery")
            #expect(late.slug == "draft-expired" && late.json["reason"] == "expired")
        }
    }

    @Test(
        arguments: [
            "  - {name: a, title: A, fields: [{name: name, kind: text, label: N}]}",
            """
              - {name: a, title: A, fields: [{name: name, kind: username, label: N, identifier: true}]}
              - {name: b, title: B, fields: [{name: password, kind: password, label: P}]}
            """,
        ]
    )
    func `a flow without an address or without a password has no recovery`(steps: String) async throws {
        try await TestServer.with(flow: "flow: f\nversion: 1\nsteps:\n\(steps)") { site in
            let start = try await Browser(site).send(.post, "/recovery", [:])
            #expect(start.slug == "not-found")
        }
    }

    @Test func `a person without script recovers the account`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = PageVisitor(site)
            #expect(try await kim.open("/sign-in").has("href=\"/recovery\""))
            let first = try await kim.open("/recovery")
            #expect(first.status == 200 && first.has("action=\"/recovery\"") && first.has("Reset your password"))
            let email = try await kim.post("/recovery")
            #expect(email.path == "/recovery/email" && email.has("1 / 3") && email.has("action=\"/recovery/cancel\""))
            let code = try await kim.post("/recovery/email", "email=kim%40example.com")
            #expect(code.path == "/recovery/code" && !code.has("href=\"/sign-in\"") && !code.has("handoff"))
            let digits = try await site.service.readCode(for: Self.email)
            let factor = try await kim.post("/recovery/code", "code=\(digits)")
            #expect(factor.path == "/recovery/second-factor" && factor.has("3 / 4") && factor.has("authenticator app"))
            let password = try await kim.post("/recovery/second-factor", "second_factor=\(person.code)")
            #expect(password.path == "/recovery/password" && password.has("New password"))
            #expect(try await kim.open("/recovery/second-factor").has("Confirmed"))
            let form = "password=another+pass+phrase&confirmation=another+pass+phrase"
            let review = try await kim.post("/recovery/password", form)
            #expect(review.path == "/recovery/review" && review.has("Reset password"))
            let account = try await kim.post("/recovery/commit")
            #expect(account.path == "/account?password-changed" && account.has("kim@example.com"))
            #expect(try await kim.open("/recovery").has("action=\"/recovery\""), "another one can begin")
        }
    }

    @Test func `the page shows the recovery code that replaces the used one`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            let kim = PageVisitor(site)
            _ = try await kim.post("/recovery")
            _ = try await kim.post("/recovery/email", "email=kim%40example.com")
            let code = try await site.service.readCode(for: Self.email)
            let factor = try await kim.post("/recovery/code", "code=\(code)")
            #expect(
                factor.has("data-native-submit") && factor.has("data-secret") && !factor.has("inputmode=\"numeric\"")
            )
            let codes = try await kim.post("/recovery/second-factor", "second_factor=\(person.recoveryCodes[0])")
            #expect(codes.status == 200 && codes.has("<code>") && codes.has("href=\"/recovery/password\""))
            #expect(codes.has("It replaces the one you just used"))
        }
    }

    @Test func `after too many codes of the app, the page says how long to wait, or takes a recovery code`()
        async throws
    {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            let kim = PageVisitor(site)
            _ = try await kim.post("/recovery")
            _ = try await kim.post("/recovery/email", "email=kim%40example.com")
            let code = try await site.service.readCode(for: Self.email)
            _ = try await kim.post("/recovery/code", "code=\(code)")
            let wrong = "second_factor=\(person.wrongCode)"
            for _ in 1...10 { #expect(try await kim.post("/recovery/second-factor", wrong).status == 422) }
            let refused = try await kim.post("/recovery/second-factor", wrong)
            #expect(refused.status == 429 && refused.has("Try again in 1 hour, or enter a recovery code."))
            #expect(refused.has("name=\"second_factor\"") && refused.has("<button class=\"main\">Next</button>"))
            let codes = try await kim.post("/recovery/second-factor", "second_factor=\(person.recoveryCodes[0])")
            #expect(codes.status == 200 && codes.has("href=\"/recovery/password\""))
        }
    }

    @Test func `the pages of a recovery say what it is for, and do not tell whether there is an account`() async throws
    {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.post("/recovery")
            for page in [try await kim.open("/recovery/email"), try await kim.post("/recovery/email", "email=")] {
                #expect(page.has("<h1>Reset your password</h1>") && page.has("then you can choose a new password."))
            }
            let sent = try await kim.post("/recovery/email", "email=nobody%40example.com")
            #expect(sent.path == "/recovery/code")
            #expect(sent.has("we&#39;ve sent a code to <strong>nobody@example.com<"))
        }
    }

    @Test func `a person cancels a recovery`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.post("/recovery")
            #expect(try await kim.open("/recovery/cancel").has("Cancel password reset?"))
            let gone = try await kim.post("/recovery/cancel")
            #expect(gone.path == "/recovery?given-up" && gone.has("Password reset canceled."))
        }
    }
}

extension Browser {
    /// Starts a recovery and proves the address.
    @discardableResult
    func recover(_ address: String = "kim@example.com") async throws -> Response {
        try await send(.post, "/recovery", [:])
        try await send(.put, "/recovery/email", ["email": .string(address)])
        let code = try await site.service.readCode(for: address)
        return try await send(.put, "/recovery/code", ["code": .string(code)])
    }
}

extension Response {
    /// The status and the body, without the address and without the members that differ between two drafts.
    fileprivate func comparable(_ address: String) -> String {
        let variable: Set<String> = ["id", "expires_at", "expires_in", "request_id", "message"]
        guard case .object(let members) = json else { return "\(status) \(body)" }
        let rest = JSON.object(members.filter { !variable.contains($0.name) })
        return "\(status) \(rest.text.replacing(address, with: "ADDRESS"))"
    }
}

extension JSON {
    fileprivate static func passwords(_ password: String) -> JSON {
        ["password": .string(password), "confirmation": .string(password)]
    }
}
