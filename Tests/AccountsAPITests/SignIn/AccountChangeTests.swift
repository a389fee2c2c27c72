import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Changing an account", .freshDatabase)
struct AccountChangeTests {
    private static let new = "another phrase of mine"

    private static func password(_ text: String = new, confirmation: String? = nil) -> JSON {
        ["password": .string(text), "confirmation": .string(confirmation ?? text)]
    }

    @Test func `a person sees the account, its factors and its consents`() async throws {
        try await TestServer.with { site in
            let (kim, lee) = (Browser(site), Browser(site))
            try await kim.signUp()
            try await lee.signUp("lee@example.com", "lee", hasAuthenticator: true)
            let shown = try await kim.send(.get, "/account")
            #expect(shown.json["account"]?["email"] == "kim@example.com")
            #expect(shown.json["factors"] == ["password": true, "totp": false, "recovery_codes_left": 0])
            guard case .array(let consents)? = shown.json["consents"] else { throw Missing() }
            #expect(consents.contains { $0["field"] == "terms" && $0["accepted"] == true })
            let factors = try await lee.send(.get, "/account").json["factors"]
            #expect(factors == ["password": true, "totp": true, "recovery_codes_left": 10])
        }
    }

    @Test func `changes of credentials need a confirmation of the last ten minutes`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let changes: [(HTTPRequest.Method, String, JSON?)] = [
                (.put, "/account/password", Self.password()), (.get, "/account/totp", nil),
                (.put, "/account/totp", ["code": "123456"]), (.delete, "/account/totp", nil),
                (.post, "/account/recovery-codes", nil), (.delete, "/account", nil),
            ]
            try DatabaseSession().letPass("11 minutes")
            for (method, path, body) in changes {
                let response = try await kim.send(method, path, body)
                #expect(response.status == 403 && response.slug == "confirmation-required", "\(method) \(path)")
                #expect(response.json["next"]?["href"] == "/session/confirm")
                let detail = response.json["detail"]?.string
                #expect(detail?.contains("a recent sign-in or confirmation") == true)
            }
            try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
            #expect(try await kim.send(.put, "/account/password", Self.password()).status == 200)
        }
    }

    // MARK: The password

    @Test func `a new password ends the other sessions and causes a mail`() async throws {
        try await TestServer.with { site in
            let (kim, other, pending) = (Browser(site), Browser(site), Browser(site))
            let person = try await kim.signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            _ = try await other.signIn()
            try await other.send(.put, "/session/totp", ["code": .string(person.code)])
            _ = try await pending.signIn()
            let token = kim["session"]
            #expect(try await kim.send(.put, "/account/password", Self.password()).status == 200)
            #expect(kim["session"] != token)
            #expect(try await kim.send(.get, "/session").status == 200)
            let thief = Browser(site)
            thief["session"] = token
            #expect(
                try await thief.send(.get, "/session").slug == "no-session",
                "a copy of the old token does not work"
            )
            #expect(try DatabaseSession().query("SELECT FROM devices").count == 1)
            #expect(try await other.send(.get, "/session").slug == "no-session")
            let code: JSON = ["code": .string(person.recoveryCodes[0])]
            #expect(try await pending.send(.put, "/session/recovery-code", code).slug == "no-session")
            #expect(try await Browser(site).signIn().slug == "sign-in-failed")
            #expect(try await Browser(site).signIn("kim", Self.new).status == 201)
            try await site.service.deliver()
            let mail = try #require(site.service.mailbox.mails.last)
            #expect(mail.to == "kim@example.com" && mail.subject == "Your Acme password was changed")
            #expect(mail.text.contains("http://localhost:8080/recovery"))
        }
    }

    @Test func `a client without cookies gets a known device with its new password`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let body: JSON = ["identifier": "kim", "password": "a pass phrase of mine", "transport": "bearer"]
            let token = try #require(try await Browser(site).send(.post, "/session", body).json["token"]?.string)
            let headers: HTTPFields = [.authorization: "Bearer \(token)", .contentType: "application/json"]
            let changed = try await site.send(.put, "/account/password", bytes: Self.password().bytes, headers)
            #expect(changed.status == 200 && changed.headers[.setCookie] == nil)
            let device = try #require(changed.json["device"]?.string)
            let digest: SQL = "sha256(decode(translate(\(device), '-_', '+/'), 'base64'))"
            #expect(try DatabaseSession().query("SELECT FROM devices WHERE digest = \(digest)").count == 1)
            #expect(try DatabaseSession().number(of: "devices") == 1)
        }
    }

    @Test(
        arguments: [
            ("/account/password", password()), ("/session/confirm", ["password": "a pass phrase of mine"]),
        ] as [(String, JSON)]
    )
    func `a client that sends its token as a cookie as well gets a new cookie`(path: String, body: JSON) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            _ = try await kim.signIn()
            let token = try #require(kim["session"])
            let headers: HTTPFields = [
                .authorization: "Bearer \(token)", .cookie: "session=\(token)", .contentType: "application/json",
            ]
            let changed = try await site.send(.put, path, bytes: body.bytes, headers)
            #expect(changed.status == 200 && changed.json["session"] != nil && changed.json["token"] == nil)
            #expect(changed.headers[values: .setCookie].contains { $0.hasPrefix("session=") })
        }
    }

    @Test(
        arguments: [
            (["password": "short", "confirmation": "short"], ["password:too_short"]),
            (password("kim@example.com"), ["password:contains_identifier"]),
            (password("passwordpassword"), ["password:common"]),
            (password(confirmation: "something else of mine"), ["confirmation:mismatch"]),
            (["password": .string(new)], ["confirmation:required"]),
            ([:], ["password:required", "confirmation:required"]),
            (["password": 1, "confirmation": 1], ["password:wrong_type", "confirmation:wrong_type"]),
            (
                ["password": .string(new), "confirmation": .string(new), "old": "x"], ["old:unknown_field"]
            ),
        ] as [(JSON, [String])]
    )
    func `a new password follows the rules of the sign-up`(body: JSON, refusals: [String]) async throws {
        try await TestServer.with { site in
            let (kim, other) = (Browser(site), Browser(site))
            try await kim.signUp()
            _ = try await other.signIn()
            let response = try await kim.send(.put, "/account/password", body)
            #expect(response.status == 422 && Set(response.refusals) == Set(refusals))
            #expect(try await other.send(.get, "/session").status == 200, "nothing has changed")
        }
    }

    /// A password, and its line in a list of breached passwords: its SHA-1 and the number of breaches.
    private static let leaked = ("an unusual but leaked pass phrase", "D92A2C6461684A5BA27BF1137C1237B0748D78D2:2\n")

    @Test(arguments: ["/account/password", "/recovery/password"])
    func `a breached password is refused, and another long one is accepted`(path: String) async throws {
        try await withFile(Self.leaked.1, named: "list.txt") { file in
            let breached = BreachedPasswords(try BreachedList(file), logger: .silent)
            defer { breached.shutdown() }
            try await TestServer.with(breached: breached) { site in
                let kim = Browser(site)
                try await kim.signUp()
                if path.hasPrefix("/recovery") { try await kim.recover() }
                let refused = try await kim.send(.put, path, Self.password(Self.leaked.0))
                #expect(refused.refusals == ["password:common"])
                let long = "a long phrase that I made up on a train to Busan in the rain of 1998, for no reason at all"
                #expect(try await kim.send(.put, path, Self.password(long)).status == 200)
            }
        }
    }

    @Test func `a flow without a password has none to change`() async throws {
        let flow = "flow: f\nversion: 1\nsteps:\n  - {name: a, title: A, fields: [{name: name, kind: text, label: N}]}"
        try await TestServer.with(flow: flow) { site in
            let kim = Browser(site)
            try await kim.send(.post, "/signup", [:])
            try await kim.send(.put, "/signup/a", ["name": "Kim"])
            let commit = try await kim.send(.post, "/signup/commit")
            #expect(commit.json["session"]?["amr"] == [], "the person has proved nothing")
            #expect(try await kim.send(.get, "/session").status == 200)
            #expect(try await kim.send(.put, "/account/password", [:]).slug == "not-found", "the flow has no password")
        }
    }

    // MARK: The authenticator

    @Test func `an authenticator is added with its own code, and asked for at the next sign-in`() async throws {
        try await TestServer.with { site in
            let (kim, other) = (Browser(site), Browser(site))
            try await kim.signUp()
            _ = try await other.signIn()
            let shown = try await kim.send(.get, "/account/totp")
            let foreign = try await other.send(.get, "/account/totp")
            #expect(shown.json["secret"] != foreign.json["secret"], "no other session sees the secret")
            #expect(shown.json["otpauth_uri"]?.string?.hasPrefix("otpauth://totp/Acme:kim%40example.com?") == true)
            var person = SignedUp()
            person.secret = try #require(shown.json["secret"]?.string?.base32Bytes)
            let wrong: JSON = ["code": person.code == "000000" ? "000001" : "000000"]
            #expect(try await kim.send(.put, "/account/totp", wrong).refusals == ["code:code_wrong"])
            #expect(try await kim.send(.get, "/account/totp").json["secret"] == shown.json["secret"])
            let added = try await kim.send(.put, "/account/totp", ["code": .string(person.code)])
            #expect(added.status == 200 && added.strings("recovery_codes").count == 10)
            #expect(try await other.send(.get, "/session").slug == "no-session")
            let session = try await kim.send(.get, "/session").json["session"]
            #expect(session?["assurance"] == "aal2" && session?["amr"] == ["pwd", "otp", "mfa"])
            #expect(try await kim.send(.get, "/account/totp").json["secret"] != shown.json["secret"])
            #expect(try await Browser(site).signIn().json["session"] == ["state": "second-factor"])
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.last?.subject == "An authenticator app was added to your Acme account")
        }
    }

    @Test func `another authenticator replaces the first one and its recovery codes`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            let old = try await kim.signUp(hasAuthenticator: true)
            var new = SignedUp()
            new.secret = try #require(await kim.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes)
            #expect(try await kim.send(.put, "/account/totp", ["code": .string(new.code)]).status == 200)
            try site.forgetUsedCodes()
            for (code, status) in [(old.recoveryCodes[0], 422)] {
                let browser = Browser(site)
                _ = try await browser.signIn()
                let response = try await browser.send(.put, "/session/recovery-code", ["code": .string(code)])
                #expect(response.status == status)
            }
            let browser = Browser(site)
            _ = try await browser.signIn()
            if old.code != new.code {
                #expect(try await browser.send(.put, "/session/totp", ["code": .string(old.code)]).status == 422)
            }
            #expect(try await browser.send(.put, "/session/totp", ["code": .string(new.code)]).status == 200)
        }
    }

    @Test func `the authenticator is removed with its recovery codes`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            #expect(try await kim.send(.delete, "/account/totp").status == 200)
            #expect(try await kim.send(.delete, "/account/totp").slug == "not-found")
            let factors = try await kim.send(.get, "/account").json["factors"]
            #expect(factors == ["password": true, "totp": false, "recovery_codes_left": 0])
            #expect(try await Browser(site).signIn().json["session"]?["assurance"] == "aal1")
        }
    }

    @Test func `new recovery codes replace the old ones`() async throws {
        try await TestServer.with { site in
            let (kim, lee) = (Browser(site), Browser(site))
            let old = try await kim.signUp(hasAuthenticator: true).recoveryCodes
            let new = try await kim.send(.post, "/account/recovery-codes").strings("recovery_codes")
            #expect(Set(new).count == 10 && Set(new).isDisjoint(with: old))
            for (code, status) in [(old[0], 422), (new[0], 200)] {
                let browser = Browser(site)
                _ = try await browser.signIn()
                let response = try await browser.send(.put, "/session/recovery-code", ["code": .string(code)])
                #expect(response.status == status)
            }
            try await lee.signUp("lee@example.com", "lee")
            #expect(try await lee.send(.post, "/account/recovery-codes").slug == "not-found")
        }
    }

    @Test func `a change during which the session is signed out holds, and its answer has no session`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            try DatabaseSession().run(
                """
                CREATE FUNCTION sign_out() RETURNS trigger LANGUAGE plpgsql
                    AS $$ BEGIN DELETE FROM sessions WHERE id = NEW.id; RETURN NULL; END $$;
                CREATE TRIGGER sign_out AFTER UPDATE OF token_hash ON sessions FOR EACH ROW EXECUTE FUNCTION sign_out()
                """
            )
            let changed = try await kim.send(.post, "/account/recovery-codes")
            #expect(changed.status == 200 && changed.json["session"] == nil)
            #expect(changed.strings("recovery_codes").count == 10)
            #expect(try await kim.send(.get, "/session").slug == "no-session")
        }
    }

    /// NIST SP 800-63B-4 §4.1.2.1. No sign-in starts such a session, but the rule must not depend on that.
    @Test func `a session of one factor changes nothing about the authenticator of the account`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            let database = try DatabaseSession()
            try database.run("UPDATE sessions SET assurance = 1, methods = 'pwd'")
            func stored() throws -> String {
                try database.query(
                    """
                    SELECT (SELECT string_agg(a::text, '') FROM authenticators AS a)
                        || (SELECT string_agg(r::text, '' ORDER BY digest) FROM recovery_codes AS r)
                    """
                ).only.decode(String.self)
            }
            let before = try stored()
            let secret = try #require(await kim.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes)
            let sessions = Sessions(signups: site.service.signups, failureTime: .zero)
            let token = try #require(kim["session"].flatMap { Token<AccountSession>($0) })
            let session = try await sessions.find(token)
            let error = await #expect(throws: SignInError.self) {
                try await sessions.addAuthenticator(SignedUp(secret: secret).code, to: session, in: .english)
            }
            guard case .noSuchFactor? = error else { throw Missing() }
            let removal = try await kim.send(.delete, "/account/totp")
            let detail = """
                The factor cannot be changed: the account or the flow has no such factor, this session has only one \
                factor, or another request has changed the factor.
                """
            #expect(removal.slug == "not-found" && removal.json["detail"] == .string(detail))
            #expect(try await kim.send(.post, "/account/recovery-codes").slug == "not-found")
            let after = try stored()
            #expect(after == before)
        }
    }

    /// Otherwise a sign-in that began before the change would leave a session of one factor.
    @Test func `no session of one factor begins while an authenticator is added`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (holder, observer) = (try DatabaseSession(), try DatabaseSession())
            try holder.run("BEGIN; SELECT 1 FROM accounts FOR UPDATE")
            async let response = Browser(site).signIn()
            try await observer.waitUntilSomebodyIsBlocked()
            try holder.run(
                "INSERT INTO authenticators (account, sealed, last_step) SELECT id, '', 0 FROM accounts; COMMIT"
            )
            #expect(try await response.slug == "sign-in-failed")
            #expect(try observer.query("SELECT FROM sessions").isEmpty)
        }
    }

    // MARK: Erasing

    @Test func `erasing leaves nothing of the account, and the address can sign up again`() async throws {
        try await TestServer.with { site in
            let (kim, other) = (Browser(site), Browser(site))
            try await kim.signUp(hasAuthenticator: true)
            let (session, draft) = (kim["session"], kim["signup"])
            _ = try await other.signIn()
            let response = try await kim.send(.delete, "/account")
            #expect(response.status == 204 && kim["session"] == nil && kim["device"] == nil)
            #expect(response.headers[.clearSiteData] == "\"cache\", \"storage\"")
            kim["session"] = session
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            #expect(try await kim.send(.delete, "/account").slug == "no-session")
            kim["signup"] = draft
            #expect(try await kim.send(.get, "/signup").json["reason"] == "account-erased")
            let database = try DatabaseSession()
            let tables = try database.query(
                "SELECT conrelid::regclass::text FROM pg_constraint WHERE confrelid = 'accounts'::regclass"
            ).map { try $0.decode(String.self) }
            #expect(tables.count >= 8)
            for table in tables + ["accounts", "tickets"] {
                #expect(try database.query("SELECT FROM \(SQL(stringLiteral: table))").isEmpty, "\(table)")
            }
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.last?.subject == "Your Acme account was deleted")
            #expect(try await Browser(site).signUp().commit.status == 201)
        }
    }
}
