import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Change of the address", .freshDatabase)
struct EmailChangeTests {
    private static let (old, new) = ("kim@example.com", "kim@example.net")

    @Test func `an account moves to an address that was proved, and both addresses get a mail`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let other = Browser(site)
            #expect(try await other.signIn().status == 201)
            let commit = try await kim.moveAddress(to: Self.new)
            #expect(commit.status == 200 && commit.json["account"]?["email"] == .string(Self.new))
            #expect(commit.json["session"]?["amr"] == ["pwd"])
            #expect(try await kim.send(.get, "/session").json["account"]?["email"] == .string(Self.new))
            #expect(try await other.send(.get, "/session").slug == "no-session", "all other sessions have ended")
            #expect(
                try await Browser(site).signIn(Self.old).slug == "sign-in-failed",
                "the old address finds no account"
            )
            let again = try await Browser(site).signIn(Self.new).status
            #expect(again == 201)
            try await site.service.deliver()
            let notices = site.service.mailbox.mails.suffix(2)
            #expect(
                Set(notices.map { "\($0.to) \($0.subject)" }) == [
                    "\(Self.new) Your Acme account has a new email address",
                    "\(Self.old) Your Acme email address was changed",
                ]
            )
            // The change needs a code from this mailbox, so whoever has made it can read its mail.
            let warning = "Change the password of your email account first, then open this link"
            #expect(notices.first { $0.to == Self.new }?.text.contains(warning) == true)
        }
    }

    @Test func `a draft that no key opens keeps its cookie`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            #expect(try await kim.send(.post, "/email-change", [:]).status == 201)
            try DatabaseSession().run("UPDATE drafts SET sealed = '\\x6e6f6e65' WHERE account_id IS NULL")
            let refused = try await kim.send(.post, "/email-change", [:])
            #expect(refused.status == 503 && refused.headers[values: .setCookie].isEmpty)
        }
    }

    @Test func `an earlier address that no key decrypts is 503, and the log says so`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: Self.new)
            try await site.service.deliver()
            let token = JSON.string(try site.service.mailbox.undoToken(for: Self.old))
            try DatabaseSession().run("UPDATE address_changes SET sealed = ''")
            #expect(try await kim.send(.post, "/email-change/undo", ["token": token]).slug == "unavailable")
            let errors = site.log.lines.filter { $0["level"] == "error" }
            #expect(
                errors.map { $0["message"] } == ["no key in the key ring decrypts an earlier address of an account"]
            )
        }
    }

    @Test func `the session gets a new token, and a repeated commit returns the same token`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let before = kim["session"]
            let first = try await kim.moveAddress(to: Self.new)
            let after = kim["session"]
            #expect(before != after)
            kim["session"] = before
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            let again = try await kim.send(.post, "/email-change/commit")
            #expect(again.json["session"] == first.json["session"] && kim["session"] == after)
            #expect(try await kim.signIn(Self.new).status == 201, "the device is still known")
        }
    }

    @Test func `a client without cookies gets a known device, which a repeated commit returns again`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            func send(
                _ method: HTTPRequest.Method,
                _ path: String,
                _ body: JSON?,
                _ token: String
            ) async throws -> Response {
                var headers: HTTPFields = [.authorization: "Bearer \(token)"]
                if body != nil { headers[.contentType] = "application/json" }
                return try await site.send(method, path, bytes: body?.bytes, headers)
            }
            let signIn: JSON = ["identifier": "kim", "password": "a pass phrase of mine", "transport": "bearer"]
            let session = try #require(try await Browser(site).send(.post, "/session", signIn).json["token"]?.string)
            let started = try await send(.post, "/email-change", ["transport": "bearer"], session)
            let draft = try #require(started.json["token"]?.string)
            _ = try await send(.put, "/email-change/email", ["email": .string(Self.new)], draft)
            let code = try await site.service.readCode(for: Self.new)
            _ = try await send(.put, "/email-change/code", ["code": .string(code)], draft)
            let commits = [
                try await send(.post, "/email-change/commit", nil, draft),
                try await send(.post, "/email-change/commit", nil, draft),
            ]
            let device = try #require(commits[0].json["device"]?.string)
            #expect(commits[1].json["device"]?.string == device)
            let digest: SQL = "sha256(decode(translate(\(device), '-_', '+/'), 'base64'))"
            #expect(try DatabaseSession().query("SELECT FROM devices WHERE digest = \(digest)").count == 1)
            #expect(try DatabaseSession().number(of: "devices") == 1)
        }
    }

    @Test func `a repeated commit does not return a session that has ended meanwhile`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: Self.new)
            try DatabaseSession().run("UPDATE sessions SET ends_at = now()")
            let again = try await kim.send(.post, "/email-change/commit")
            #expect(again.slug == "already-committed" && again.headers[.setCookie] == nil)
        }
    }

    @Test(arguments: ["kim@example.com", "kim@EXAMPLE.com"])
    func `the address that the account has already is refused, and gets no mail`(typed: String) async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.post, "/email-change", [:])
            let refused = try await kim.send(.put, "/email-change/email", ["email": .string(typed)])
            #expect(refused.refusals == ["email:unchanged"])
            #expect(refused.body.contains("That's already your email address."))
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.allSatisfy { !$0.subject.contains("Confirm your new") })
            #expect(try await kim.send(.put, "/email-change/email", ["email": .string(Self.new)]).status == 200)
        }
    }

    @Test func `the owner of the wanted address is told that somebody else wants it`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp("lee@example.com", "lee")
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.post, "/email-change", [:])
            #expect(try await kim.send(.put, "/email-change/email", ["email": "lee@example.com"]).status == 200)
            try await site.service.deliver()
            let mail = try #require(site.service.mailbox.mails.last)
            #expect(mail.to == "lee@example.com" && mail.subject == "Your email address is already in use at Acme")
            #expect(mail.text.contains("for another Acme account") && mail.text.contains("/sign-in"))
        }
    }

    @Test func `after an undone change, each address is told what it needs to know`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: Self.new)
            try await site.service.deliver()
            let token = JSON.string(try site.service.mailbox.undoToken(for: Self.old))
            #expect(try await kim.send(.post, "/email-change/undo", ["token": token]).status == 204)
            try await site.service.deliver()
            let mails = site.service.mailbox.mails.suffix(2)
            let restored = try #require(mails.first { $0.to == Self.old })
            let removed = try #require(mails.first { $0.to == Self.new })
            #expect(restored.text.contains("has this email address again") && restored.text.contains("/recovery\n"))
            #expect(removed.subject == "Your email address was removed from Acme")
            #expect(!removed.text.contains("password") && !removed.text.contains("/account"))
        }
    }

    @Test func `an undo that waits for another change tells the address that the account has by then`() async throws {
        try await TestServer.with(timeouts: .all(.seconds(3600))) { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: Self.new)
            try await site.service.deliver()
            let token = JSON.string(try site.service.mailbox.undoToken(for: Self.old))
            let (holder, observer) = (try DatabaseSession(), try DatabaseSession())
            try holder.run("BEGIN; SELECT FROM accounts FOR UPDATE")
            async let undo = kim.send(.post, "/email-change/undo", ["token": token])
            try await observer.waitUntilSomebodyIsBlocked()
            try holder.run(
                """
                UPDATE identifiers SET value = 'kim@example.org' WHERE value = '\(Self.new)';
                UPDATE accounts SET email = 'kim@example.org'; COMMIT
                """
            )
            let response = try await undo
            #expect(response.status == 204)
            try await site.service.deliver()
            let recipients = Set(site.service.mailbox.mails.suffix(2).map(\.to))
            #expect(recipients == [Self.old, "kim@example.org"])
        }
    }

    @Test func `the pages say why an address cannot change twice in a day`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let code = try await kim.post("/account/email", "email=kim%40example.net")
            #expect(code.path == "/email-change/code" && !code.has("If there&#39;s an account"))
            _ = try await kim.post("/email-change/code", "code=\(site.service.readCode(for: Self.new))")
            #expect(try await kim.post("/email-change/commit").path == "/account?address-changed")
            let forms = [("/account/email", "email=kim%40example.org"), ("/account/erase", "")]
            for (path, form) in forms {
                for (status, refused) in [(200, try await kim.open(path)), (429, try await kim.post(path, form))] {
                    #expect(refused.status == status && !refused.has("Too many attempts"))
                    #expect(
                        refused.has("or delete your account, 24 hours after the last change. Try again in ")
                            && refused.has("in 24 hours.")
                    )
                }
                let shown = try await kim.open(path)
                #expect(!shown.has("action=\"\(path)\"") && shown.has("<a class=\"button main\" href=\"/account\">"))
            }
        }
    }

    @Test func `a change needs a confirmed session`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            #expect(try await kim.send(.post, "/email-change", [:]).slug == "no-session")
            try await kim.signUp()
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '11 minutes'")
            #expect(try await kim.send(.post, "/email-change", [:]).slug == "confirmation-required")
            try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
            let start = try await kim.send(.post, "/email-change", [:])
            #expect(start.status == 201 && start.nextStep == "email" && start.headers[.location] == "/email-change")
        }
    }

    @Test func `the link in the mail restores the old address, and removes the thief's session, password and app`()
        async throws
    {
        try await TestServer.with { site in
            try await Browser(site).signUp()
            let thief = Browser(site)
            _ = try await thief.signIn()
            try await thief.moveAddress(to: Self.new)
            let enrolment = try await thief.send(.get, "/account/totp")
            let secret = enrolment.json["secret"]?.string?.base32Bytes ?? []
            let app = SignedUp(secret: secret)
            #expect(try await thief.send(.put, "/account/totp", ["code": .string(app.code)]).status == 200)
            try await site.service.deliver()
            let token = JSON.string(try site.service.mailbox.undoToken(for: Self.old))
            let kim = Browser(site)
            #expect(try await kim.send(.post, "/email-change/undo", ["token": token]).status == 204)
            #expect(try await thief.send(.get, "/session").slug == "no-session")
            for identifier in [Self.old, Self.new, "kim"] {
                let signIn = try await Browser(site).signIn(identifier)
                #expect(signIn.slug == "sign-in-failed", "the password is gone")
            }
            try await kim.recover(Self.old)
            let passwords: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
            #expect(try await kim.send(.put, "/recovery/password", passwords).nextStep == "review")
            #expect(try await kim.send(.post, "/recovery/commit").json["account"]?["email"] == .string(Self.old))
            #expect(
                try await kim.send(.post, "/email-change/undo", ["token": token]).refusals == ["token:code_expired"]
            )
            let lee = Browser(site)
            try await lee.signUp(Self.new, "lee")
            #expect(
                try await lee.send(.get, "/session").json["account"]?["email"] == .string(Self.new),
                "the address is free"
            )
        }
    }

    @Test func `restoring the address also removes an app that was added shortly before the change`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp()
            let thief = Browser(site)
            _ = try await thief.signIn()
            let secret = try await thief.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes ?? []
            try await thief.send(.put, "/account/totp", ["code": .string(SignedUp(secret: secret).code)])
            try await thief.moveAddress(to: Self.new)
            try await site.service.deliver()
            let token = JSON.string(try site.service.mailbox.undoToken(for: Self.old))
            let kim = Browser(site)
            try await kim.send(.post, "/email-change/undo", ["token": token])
            #expect(try await kim.recover(Self.old).nextStep == "password")
        }
    }

    @Test func `restoring the address keeps an older app and its recovery codes, and a recovery asks for it`()
        async throws
    {
        try await TestServer.with { site in
            let kim = Browser(site)
            let person = try await kim.signUp(hasAuthenticator: true)
            try DatabaseSession().run("UPDATE authenticators SET created_at = now() - interval '8 days'")
            try await kim.moveAddress(to: Self.new)
            try await site.service.deliver()
            let token = JSON.string(try site.service.mailbox.undoToken(for: Self.old))
            try await kim.send(.post, "/email-change/undo", ["token": token])
            let rows = try DatabaseSession().number(of: "recovery_codes")
            #expect(rows == 10)
            let recovery = try await kim.recover(Self.old)
            #expect(recovery.nextStep == "second-factor")
            try site.forgetUsedCodes()
            let given = try await kim.send(.put, "/recovery/second-factor", ["second_factor": .string(person.code)])
            #expect(given.nextStep == "password")
        }
    }

    @Test func `for a day after a change, the person can neither change the address again nor erase the account`()
        async throws
    {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: Self.new)
            let limits = site.service.signups.metrics.limits
            func refusals() -> Double? {
                limits.family.samples.first { $0.labels.map(\.value) == ["address_changes"] }?.value
            }
            for path in ["/account/email", "/account/erase"] {
                #expect(try await kim.send(.get, path).status == 200, "\(path)")
            }
            #expect(refusals() == 0, "a page that says how long to wait refuses nothing")
            let second = try await kim.send(.post, "/email-change", [:])
            #expect(second.slug == "rate-limited" && (Int(second.headers[.retryAfter] ?? "") ?? 0) > 86_000)
            #expect(try await kim.send(.delete, "/account").slug == "rate-limited")
            #expect(refusals() == 2)
            try DatabaseSession().run("UPDATE address_changes SET changed_at = changed_at - interval '25 hours'")
            #expect(try await kim.moveAddress(to: "kim@example.org").status == 200)
            try DatabaseSession().run("UPDATE address_changes SET changed_at = changed_at - interval '25 hours'")
            #expect(try await kim.send(.delete, "/account").status == 204)
        }
    }

    @Test func `after two changes both links work, and the link to the first address restores it for good`()
        async throws
    {
        try await TestServer.with { site in
            let thief = Browser(site)
            try await thief.signUp()
            try await thief.moveAddress(to: Self.new)
            try DatabaseSession().run("UPDATE address_changes SET changed_at = changed_at - interval '25 hours'")
            try await thief.moveAddress(to: "kim@example.org")
            try await site.service.deliver()
            let (first, second) = try (
                site.service.mailbox.undoToken(for: Self.old), site.service.mailbox.undoToken(for: Self.new)
            )
            let kim = Browser(site)
            #expect(try await kim.send(.post, "/email-change/undo", ["token": .string(second)]).status == 204)
            #expect(try await kim.send(.post, "/email-change/undo", ["token": .string(first)]).status == 204)
            let addresses = try DatabaseSession().number(
                of: "identifiers WHERE kind = 'email' AND value = '\(Self.old)'"
            )
            #expect(addresses == 1)
            let others = try DatabaseSession().number(of: "identifiers WHERE kind = 'email' AND value <> '\(Self.old)'")
            #expect(others == 0)
            #expect(try await kim.send(.post, "/email-change/undo", ["token": .string(second)]).status == 422)
        }
    }

    @Test func `an address of another account gets the same answer as a free one, and its owner gets a mail`()
        async throws
    {
        try await TestServer.with { site in
            try await site.readyAccount("lee@example.com", "lee")
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.post, "/email-change", [:])
            let taken = try await kim.send(.put, "/email-change/email", ["email": "lee@example.com"])
            let free = try await kim.send(.put, "/email-change/email", ["email": .string(Self.new)])
            #expect(taken.status == 200 && taken.nextStep == free.nextStep)
            try await site.service.deliver()
            let mails = site.service.mailbox.mails.filter { $0.to == "lee@example.com" }.map(\.subject)
            #expect(mails.last == "Your email address is already in use at Acme")
        }
    }

    @Test func `an account without an address has none to change`() async throws {
        try await TestServer.with { site in
            let (kim, lee) = (PageVisitor(site), Browser(site))
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            try await lee.signUp("lee@example.com", "lee")
            let session = try DatabaseSession()
            try session.run("DELETE FROM identifiers WHERE kind = 'email'; UPDATE accounts SET email = NULL")
            let refused = try await lee.send(.post, "/email-change", [:])
            #expect(refused.status == 404 && refused.slug == "not-found")
            #expect(try await kim.open("/account/email").status == 404)
            #expect(try await kim.post("/account/email", "email=kim%40example.net").status == 404)
            #expect(try session.number(of: "drafts WHERE account_id IS NULL") == 0)
        }
    }

    @Test func `a commit fails if another account has got the address meanwhile`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.proveAddress(Self.new)
            try await site.readyAccount(Self.new, "lee")
            let ended = try await kim.send(.post, "/email-change/commit")
            #expect(ended.slug == "draft-expired", "the sign-up has ended every draft that has proved its address")
            #expect(try await kim.send(.get, "/session").json["account"]?["email"] == .string(Self.old))
            try await kim.proveAddress("kim@example.org")
            try DatabaseSession().run(
                "INSERT INTO identifiers SELECT 'email', 'kim@example.org', id FROM accounts WHERE username = 'lee'"
            )
            let taken = try await kim.send(.post, "/email-change/commit")
            #expect(taken.slug == "identifier-taken" && taken.json["field"] == "email")
        }
    }

    @Test(
        arguments: [
            "DELETE FROM sessions", "UPDATE accounts SET disabled_at = now()",
            "UPDATE accounts SET credentials_version = 9", "DELETE FROM accounts",
        ]
    )
    func `a change ends when its session ends, or its account is disabled, changed or deleted`(change: String)
        async throws
    {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.proveAddress(Self.new)
            try DatabaseSession().run(change)
            let commit = try await kim.send(.post, "/email-change/commit")
            #expect(commit.slug == "draft-expired" && commit.json["reason"] == "superseded")
            let rows = try DatabaseSession().number(of: "identifiers WHERE value = '\(Self.new)'")
            #expect(rows == 0)
        }
    }

    @Test func `a change that an operator has extended keeps its draft until the session is confirmed again`()
        async throws
    {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.proveAddress(Self.new)
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '81 minutes'")
            let refused = try await kim.send(.post, "/email-change/commit")
            #expect(refused.status == 403 && refused.slug == "confirmation-required")
            #expect(refused.json["next"]?["href"] == "/session/confirm")
            try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
            let commit = try await kim.send(.post, "/email-change/commit")
            #expect(commit.status == 200 && commit.json["account"]?["email"] == .string(Self.new))
        }
    }

    @Test func `an extended change ends if an earlier session has begun it, which the person cannot confirm`()
        async throws
    {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.proveAddress(Self.new)
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '81 minutes'")
            // The browser was closed, and forgot the cookie of the session.
            kim["session"] = nil
            #expect(try await kim.signIn().status == 201)
            let refused = try await kim.send(.post, "/email-change/commit")
            #expect(refused.status == 410 && refused.slug == "draft-expired")
        }
    }

    @Test func `the page of an extended change asks for the password, and returns to the change`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            _ = try await kim.post("/account/email", "email=kim%40example.net")
            _ = try await kim.post("/email-change/code", "code=\(site.service.readCode(for: Self.new))")
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '81 minutes'")
            #expect(try await kim.post("/email-change/commit").path == "/account/confirm?email-change")
            let form = "password=a+pass+phrase+of+mine&next=email-change"
            #expect(try await kim.post("/account/confirm", form).path == "/email-change/review")
            #expect(try await kim.post("/email-change/commit").path == "/account?address-changed")
        }
    }

    @Test func `a former address is reserved, and is free after the reservation has ended`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.moveAddress(to: Self.new)
            let lee = Browser(site)
            try await lee.send(.post, "/signup", [:])
            try await lee.send(.put, "/signup/email", ["email": .string(Self.old)])
            try await site.service.deliver()
            let mail = site.service.mailbox.mails.last { $0.to == Self.old }
            #expect(mail?.subject == "You already have an account at Acme")
            try DatabaseSession().run(
                "UPDATE identifiers SET reserved_until = now() - interval '1 s' WHERE reserved_until IS NOT NULL"
            )
            try DatabaseSession().run("UPDATE address_changes SET expires_at = now() - interval '1 s'")
            let reaper = Reaper(signups: site.service.signups, logger: site.log.logger)
            _ = try await reaper.sweep()
            let rows = try DatabaseSession().number(of: "address_changes")
            #expect(rows == 0)
            let heir = Browser(site)
            try await heir.signUp(Self.old, "lee")
            #expect(try await heir.send(.get, "/session").json["account"]?["email"] == .string(Self.old))
        }
    }

    @Test(arguments: [
        ("", "token:required"), ("x", "token:bad_format"), (AddressToken(for: ID()).text, "token:code_expired"),
    ])
    func `a link that was never mailed restores nothing`(text: String, refusal: String) async throws {
        try await TestServer.with { site in
            let undo = try await Browser(site).send(.post, "/email-change/undo", ["token": .string(text)])
            #expect(undo.status == 422 && undo.refusals == [refusal])
        }
    }

    @Test func `a person without script changes the address and brings it back`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            #expect(try await kim.open("/account").has("href=\"/account/email\""))
            #expect(try await kim.open("/email-change").path == "/account/email")
            let first = try await kim.open("/account/email")
            #expect(first.has("action=\"/account/email\"") && first.has("name=\"email\" type=\"email\""))
            #expect(first.has("<li aria-current=\"step\"><span class=\"unseen\">New email address<"))
            #expect(first.has("<p class=\"place\">1 / 2</p>"))
            let refused = try await kim.post("/account/email", "\(first.hidden)&email=kim")
            #expect(refused.status == 422 && refused.has("value=\"kim\"") && refused.has("New email address"))
            #expect(refused.has("action=\"/email-change/email\""))
            for _ in 1...2 {
                let code = try await kim.post("/account/email", "\(first.hidden)&email=kim%40example.net")
                #expect(code.path == "/email-change/code", "a form that is sent twice starts one change")
            }
            let code = try await site.service.readCode(for: Self.new)
            let review = try await kim.post("/email-change/code", "code=\(code)")
            #expect(review.path == "/email-change/review" && review.has("Change email address"))
            let account = try await kim.post("/email-change/commit")
            #expect(account.path == "/account?address-changed" && account.has(Self.new))
            #expect(account.has("Your email address has been changed."))
            try await site.service.deliver()
            let token = try site.service.mailbox.undoToken(for: Self.old)
            let owner = PageVisitor(site)
            let mails = site.service.mailbox.mails(to: Self.old)
            #expect(!mails.contains { $0.text.contains("?token=") }, "a query would be in the logs of proxies")
            #expect(mails.contains { $0.text.hasSuffix("\n\n\(token)") }, "without script, the person types the token")
            let question = try await owner.open("/email-change/undo")
            #expect(question.status == 200 && question.has("action=\"/email-change/undo\""))
            #expect(question.has("name=\"token\"") && !question.html.contains(token))
            let typo = try await owner.post("/email-change/undo", "token=nonsense")
            #expect(typo.status == 422 && typo.has("Enter the whole code.") && typo.has("name=\"token\""))
            let empty = try await owner.post("/email-change/undo", "token=")
            #expect(empty.status == 422 && empty.has("Enter the code."))
            #expect(empty.has("If you changed the address yourself, close this page."))
            #expect(try await kim.open("/account").path == "/account", "the link alone changes nothing")
            let undone = try await owner.post("/email-change/undo", "token=\(token)")
            #expect(undone.has("Your email address is restored") && undone.has("action=\"/recovery\""))
            #expect(try await kim.open("/account").path == "/sign-in?ended")
            let over = try await owner.post("/email-change/undo", "token=\(token)")
            #expect(over.status == 422 && over.has("expired or has already been used") && over.has("href=\"/sign-in\""))
            #expect(over.has("class=\"button main\" href=\"/recovery\""), "the old password does not work any more")
        }
    }

    @Test func `the mail and the pages that undo a change ask for no new password if the flow has none`() async throws {
        let flow = """
            flow: f
            version: 1
            steps:
              - {name: email, title: E, fields: [{name: email, kind: email, identifier: true, label: E}]}
              - {name: code, title: C, fields: [{name: code, kind: code, proves: email, label: C}]}
            """
        try await TestServer.with(flow: flow) { site in
            let kim = Browser(site)
            try await kim.send(.post, "/signup", [:])
            try await kim.send(.put, "/signup/email", ["email": .string(Self.old)])
            let code = try await site.service.readCode(for: Self.old)
            try await kim.send(.put, "/signup/code", ["code": .string(code)])
            #expect(try await kim.send(.post, "/signup/commit").status == 201)
            #expect(try await kim.moveAddress(to: Self.new).status == 200)
            try await site.service.deliver()
            let token = try site.service.mailbox.undoToken(for: Self.old)
            let mail = try #require(site.service.mailbox.mails(to: Self.old).last)
            #expect(mail.text.contains(token) && !mail.text.contains("new password"))
            let owner = PageVisitor(site)
            let question = try await owner.open("/email-change/undo")
            #expect(question.has("All your devices will be signed out.") && !question.has("password"))
            let undone = try await owner.post("/email-change/undo", "token=\(token)")
            #expect(undone.has("All your devices have been signed out.") && undone.has("href=\"/sign-in\""))
            #expect(!undone.has("password"))
            let over = try await owner.post("/email-change/undo", "token=\(token)")
            #expect(over.has("This link has expired or has already been used.") && !over.has("password"))
        }
    }

    @Test func `mails about an undone change ask for no new password if people sign in only with codes`() async throws {
        try await TestServer.with(flow: standardFlow(with: "sign_in: [code]")) { site in
            let kim = Browser(site)
            try await kim.signUp()
            #expect(try await kim.moveAddress(to: Self.new).status == 200)
            try await site.service.deliver()
            let left = try #require(site.service.mailbox.mails(to: Self.old).last)
            let token = try site.service.mailbox.undoToken(for: Self.old)
            #expect(left.text.contains(token) && !left.text.contains("new password"))
            #expect(try await kim.send(.post, "/email-change/undo", ["token": .string(token)]).status == 204)
            try await site.service.deliver()
            let restored = try #require(site.service.mailbox.mails(to: Self.old).last)
            let expected = Language.english.messages.accountChanged(
                .addressRestored,
                serviceName: "Acme",
                link: "http://localhost:8080/account",
                hasPassword: false,
                contact: "https://acme.example/help"
            )
            #expect(restored.subject == expected.subject && restored.text == expected.text)
        }
    }

    @Test func `a person cancels a change, and reads on the page of the account that nothing has changed`() async throws
    {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let first = try await kim.open("/account/email")
            _ = try await kim.post("/account/email", "\(first.hidden)&email=kim%40example.net")
            let gone = try await kim.post("/email-change/cancel")
            #expect(gone.path == "/account?given-up" && gone.has("Canceled. Nothing has changed."))
        }
    }

    @Test func `the page of a change asks for the password if the last proof is too old`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '11 minutes'")
            let confirm = try await kim.open("/account/email")
            #expect(confirm.path == "/account/confirm?email")
            let form = "password=a+pass+phrase+of+mine&next=email"
            #expect(try await kim.post("/account/confirm", form).path == "/account/email")
        }
    }
}

extension Browser {
    /// Starts a change and proves the new address.
    func proveAddress(_ address: String) async throws {
        try await send(.post, "/email-change", [:])
        try await send(.put, "/email-change/email", ["email": .string(address)])
        let code = try await site.service.readCode(for: address)
        try await send(.put, "/email-change/code", ["code": .string(code)])
    }

    @discardableResult
    func moveAddress(to address: String) async throws -> Response {
        try await proveAddress(address)
        return try await send(.post, "/email-change/commit")
    }
}
