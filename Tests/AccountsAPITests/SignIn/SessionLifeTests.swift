import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The life of a session", .freshDatabase)
struct SessionLifeTests {
    @Test(arguments: [
        (false, [("23 hours", 200), ("59 minutes", 200), ("2 minutes", 401)]),
        (true, [("13 days 23 hours", 200), ("14 days 1 minute", 401)]),
        (true, [("13 days", 200), ("13 days", 200), ("3 days 23 hours", 200), ("2 hours", 401)]),
    ])
    func `a session of one factor ends after a day; if it is kept, after 14 idle days or 30 days`(
        keep: Bool,
        visits: [(pause: String, status: Int)]
    ) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            _ = try await kim.signIn(keep: keep)
            for (pause, status) in visits {
                try DatabaseSession().letPass(pause)
                let response = try await kim.send(.get, "/session")
                #expect(response.status == status, "after \(pause)")
                if status == 401 { #expect(response.json["reason"] == "unknown") }
            }
        }
    }

    @Test func `a session of two factors is idle after an hour, and the password revives it within the day`()
        async throws
    {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            let session = try DatabaseSession()
            try session.letPass("61 minutes")
            let idle = try await kim.send(.get, "/session")
            #expect(idle.status == 401 && idle.json["reason"] == "idle")
            #expect(idle.json["next"] == ["step": "confirm", "href": "/session/confirm"])
            let code = try await kim.send(.put, "/session/confirm", ["code": "123456"])
            #expect(code.json["reason"] == "idle", "only the password revives it")
            let revived = try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
            #expect(revived.status == 200 && revived.json["session"]?["assurance"] == "aal2")
            #expect(try await kim.send(.get, "/session").status == 200)
            for _ in 1...22 {
                try session.letPass("1 hour - 1 minute")
                _ = try await kim.send(.get, "/session")
            }
            try session.letPass("2 hours")
            let over = try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
            #expect(over.slug == "no-session" && over.json["reason"] == "unknown")
        }
    }

    @Test func `the time of the last visit is written at most once a minute`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (kim, session) = (Browser(site), try DatabaseSession())
            _ = try await kim.signIn()
            func version() throws -> String {
                try session.query("SELECT xmin::text || last_seen_at FROM sessions").only.decode(String.self)
            }
            let first = try version()
            for _ in 1...3 { try await kim.send(.get, "/session") }
            #expect(try version() == first)
            try session.letPass("61 seconds")
            let later = try version()
            try await kim.send(.get, "/session")
            #expect(try version() != later)
        }
    }

    @Test func `a visit within a minute of the last one is one statement, which only reads`() async throws {
        let metrics = Metrics()
        // The visit that waits for the lock goes on where it is: another attempt would be another exchange.
        try await TestServer.with(timeouts: .all(.seconds(3600)), metrics: metrics) { site in
            try await site.readyAccount()
            let kim = Browser(site)
            _ = try await kim.signIn()
            let (holder, observer) = (try DatabaseSession(), try DatabaseSession())
            try holder.lockTables()
            let (trips, statements) = (metrics.exchanges.total("_count"), metrics.groups.total("_sum"))
            for _ in 1...3 { #expect(try await kim.send(.get, "/session").status == 200) }
            #expect(metrics.exchanges.total("_count") == trips + 3)
            #expect(metrics.groups.total("_sum") == statements + 3)
            try holder.run("COMMIT")

            try holder.letPass("61 seconds")
            try holder.lockTables()
            async let later = kim.send(.get, "/session")
            try await observer.waitUntilSomebodyIsBlocked()
            try holder.run("COMMIT")
            let status = try await later.status
            #expect(status == 200)
            #expect(metrics.exchanges.total("_count") == trips + 5, "a later visit also writes its time")
        }
    }

    @Test func `a confirmation renews the proof and the token`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            let before = try await kim.signIn()
            let token = kim["session"]
            try DatabaseSession().letPass("20 hours")
            let wrong = try await kim.send(.put, "/session/confirm", ["password": "not the pass phrase"])
            #expect(wrong.status == 422 && wrong.refusals == ["password:password_wrong"])
            let response = try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
            #expect(response.status == 200)
            #expect(response.json["session"]?["id"] == before.json["session"]?["id"])
            #expect(kim["session"] != token)
            try DatabaseSession().letPass("20 hours")
            #expect(try await kim.send(.get, "/session").status == 200, "the confirmation starts a new day")
            kim["session"] = token
            #expect(try await kim.send(.get, "/session").slug == "no-session")
        }
    }

    @Test func `a second factor makes a session of one factor one of two factors`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            let person = try await kim.signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            try DatabaseSession().run(
                "UPDATE sessions SET assurance = 1, methods = 'pwd', is_kept = true, ends_at = now() + interval '30 days'"
            )
            let wrong: JSON = ["code": person.code == "000000" ? "000001" : "000000"]
            #expect(try await kim.send(.put, "/session/confirm", wrong).refusals == ["code:code_wrong"])
            let raised = try await kim.send(.put, "/session/confirm", ["code": .string(person.code)])
            #expect(raised.json["session"]?["assurance"] == "aal2")
            #expect(raised.json["session"]?["amr"] == ["pwd", "otp", "mfa"])
            try DatabaseSession().letPass("24 hours")
            #expect(try await kim.send(.get, "/session").status == 401)
        }
    }

    @Test func `a recovery code confirms, too`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            let person = try await kim.signUp(hasAuthenticator: true)
            for (code, status) in [(person.recoveryCodes[0], 200), (person.recoveryCodes[0], 422)] {
                let response = try await kim.send(.put, "/session/confirm", ["recovery_code": .string(code)])
                #expect(response.status == status)
                #expect((response.json["recovery_code"] != nil) == (status == 200))
                #expect(response.refusals == (status == 200 ? [] : ["recovery_code:code_wrong"]))
            }
            let cut = try await kim.send(.put, "/session/confirm", ["recovery_code": "abc"])
            #expect(cut.refusals == ["recovery_code:bad_format"])
        }
    }

    @Test func `ten wrong confirmations end the session, and other sign-ins still succeed`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            _ = try await kim.signIn()
            let wrong: JSON = ["password": "not the pass phrase"]
            for _ in 1...10 { #expect(try await kim.send(.put, "/session/confirm", wrong).status == 422) }
            let right: JSON = ["password": "a pass phrase of mine"]
            #expect(try await kim.send(.put, "/session/confirm", right).slug == "no-session")
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            #expect(try await Browser(site).signIn().status == 201)
        }
    }

    @Test func `a confirmation that this server cannot evaluate does not count as a wrong one`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            let person = try await kim.signUp(hasAuthenticator: true)
            try DatabaseSession().run("UPDATE sessions SET failures = 9")
            try DatabaseSession().run("UPDATE authenticators SET sealed = ''")
            let code: JSON = ["code": .string(person.code)]
            for _ in 1...2 { #expect(try await kim.send(.put, "/session/confirm", code).status == 503) }
            #expect(try await kim.send(.get, "/session").status == 200)
            #expect(try DatabaseSession().number(of: "sessions WHERE failures = 9") == 1)
        }
    }

    @Test func `a confirmation that a rate limit refuses does not end the session`() async throws {
        let limit = Limit(2, per: .seconds(3600))
        try await TestServer.with(limits: Limits(byName: [.passwordHashesFromNetwork: limit], revisions: 600)) { site in
            let kim = Browser(site)
            // The password of the sign-up counts against the limit, too.
            try await kim.signUp()
            let wrong: JSON = ["password": "not the pass phrase"]
            #expect(try await kim.send(.put, "/session/confirm", wrong).status == 422)
            try DatabaseSession().run("UPDATE sessions SET failures = 10")
            #expect(try await kim.send(.put, "/session/confirm", wrong).slug == "rate-limited")
            #expect(try await kim.send(.get, "/session").status == 200)
        }
    }

    @Test func `a right confirmation resets the count of wrong ones`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            _ = try await kim.signIn()
            for number in 1...25 {
                let password: JSON =
                    number.isMultiple(of: 6)
                    ? ["password": "a pass phrase of mine"] : ["password": "not the pass phrase"]
                #expect(try await kim.send(.put, "/session/confirm", password).status != 401)
            }
        }
    }

    // MARK: Ending

    @Test func `signing out ends the session and clears the browser`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            _ = try await kim.signIn()
            let token = kim["session"]
            let response = try await kim.send(.delete, "/session")
            #expect(response.status == 204 && kim["session"] == nil && kim["device"] != nil)
            #expect(response.headers[.clearSiteData] == "\"cache\", \"storage\"")
            kim["session"] = token
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            #expect(try await kim.send(.delete, "/session").slug == "no-session")
        }
    }

    @Test func `a person sees and ends only sessions of the own account`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.readyAccount("lee@example.com", "lee")
            let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
            let (laptop, phone) = (Browser(site, userAgent: firefox), Browser(site, userAgent: "curl/8.5.0"))
            let (other, lee) = (Browser(site), Browser(site))
            for kim in [laptop, phone, other] { _ = try await kim.signIn() }
            _ = try await lee.signIn("lee")
            let foreign = try #require(await lee.send(.get, "/session").json["session"]?["id"]?.string)
            #expect(try await laptop.send(.delete, "/account/sessions/\(foreign)").slug == "not-found")
            #expect(try await laptop.send(.delete, "/account/sessions/x").slug == "not-found")

            guard case .array(let listed)? = try await laptop.send(.get, "/account/sessions").json["sessions"] else {
                throw Missing()
            }
            #expect(listed.count == 3)
            #expect(Set(listed.compactMap { $0["browser"]?.string }) == ["Firefox (Linux)", "curl"])
            #expect(
                listed.filter { $0["current"] == true }.compactMap { $0["browser"]?.string } == ["Firefox (Linux)"]
            )
            let id = try #require(listed.first { $0["browser"] == "curl" }?["id"]?.string)
            #expect(try await laptop.send(.delete, "/account/sessions/\(id)").status == 204)
            #expect(try await phone.send(.get, "/session").status == 401)
            #expect(try await laptop.send(.delete, "/account/sessions").status == 204)
            #expect(try await other.send(.get, "/session").status == 401)
            #expect(try await laptop.send(.get, "/session").status == 200)
            #expect(try await lee.send(.get, "/session").status == 200)
            let own = try #require(await laptop.send(.get, "/session").json["session"]?["id"]?.string)
            #expect(
                try await laptop.send(.delete, "/account/sessions/\(own)").status == 204 && laptop["session"] == nil
            )
        }
    }

    @Test func `the sessions of a disabled or erased account are refused at once`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (kim, session) = (Browser(site), try DatabaseSession())
            _ = try await kim.signIn()
            try session.run("UPDATE accounts SET disabled_at = now()")
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            let password: JSON = ["password": "a pass phrase of mine"]
            #expect(try await kim.send(.put, "/session/confirm", password).slug == "no-session")
            try session.run("UPDATE accounts SET disabled_at = NULL")
            #expect(try await kim.send(.get, "/session").status == 200)
            try session.run("DELETE FROM accounts")
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            #expect(try session.query("SELECT FROM sessions").isEmpty && session.query("SELECT FROM devices").isEmpty)
        }
    }

    @Test func `an account keeps the hundred sessions that were used last`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (kim, session) = (Browser(site), try DatabaseSession())
            _ = try await kim.signIn()
            try session.run(
                """
                INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
                SELECT gen_random_uuid(), account, token_hash, 1, 'pwd', false, '1 day', now() + interval '1 day', sealed
                  FROM sessions, generate_series(1, 105)
                """
            )
            #expect(try await Browser(site).signIn().status == 201)
            #expect(try session.query("SELECT count(*) FROM sessions").only.decode(Int.self) == 100)
        }
    }

    @Test func `an account remembers the hundred devices that have signed in last`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (kim, session) = (Browser(site), try DatabaseSession())
            _ = try await kim.signIn()
            try session.run(
                """
                INSERT INTO devices (account, digest, last_used_at)
                SELECT account, int4send(number), now() - interval '1 day'
                  FROM (SELECT account FROM devices LIMIT 1) AS one, generate_series(1, 105) AS number
                """
            )
            let new = Browser(site)
            #expect(try await new.signIn().status == 201)
            #expect(try session.number(of: "devices") == 100)
            #expect(try session.number(of: "devices WHERE last_used_at > now() - interval '1 hour'") >= 2)
        }
    }

    @Test func `the database holds neither a token nor where a person signed in from`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site, userAgent: "Rarely Used Browser 1.0")
            _ = try await kim.signIn()
            let stored = try DatabaseSession().query(
                "SELECT string_agg(s::text, '') || (SELECT string_agg(d::text, '') FROM devices AS d) FROM sessions AS s"
            ).only.decode(String.self)
            let bytes = Array("Rarely Used".utf8).map { String($0, radix: 16) }.joined()
            for secret in [try #require(kim["session"]), try #require(kim["device"]), "Rarely Used", bytes] {
                #expect(!stored.contains(secret))
            }
        }
    }
}

extension Histogram {
    /// The sum of the samples with this suffix over all labels.
    fileprivate func total(_ suffix: String) -> Double {
        family.samples.filter { $0.suffix == suffix }.reduce(0) { $0 + $1.value }
    }
}

extension DatabaseSession {
    /// Begins a transaction that lets other sessions read all tables, but neither write nor lock a row.
    fileprivate func lockTables() throws {
        let tables = try query(
            """
            SELECT string_agg(oid::regclass::text, ', ') FROM pg_class
             WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = (
                SELECT relnamespace FROM pg_class WHERE oid = 'accounts'::regclass)
            """
        ).only.decode(String.self)
        try run("BEGIN; LOCK TABLE \(tables) IN EXCLUSIVE MODE")
    }
}
