import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Sign-in", .freshDatabase)
struct SignInTests {
    @Test(arguments: ["kim@example.com", "Kim@EXAMPLE.com", "kim", "KIM"])
    func `an address or a username and the password sign in`(identifier: String) async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp()
            let kim = Browser(site)
            let response = try await kim.signIn(identifier)
            #expect(response.status == 201)
            #expect(response.json["session"]?["state"] == "active")
            #expect(response.json["session"]?["assurance"] == "aal1")
            #expect(response.json["session"]?["amr"] == ["pwd"])
            #expect(response.json["account"]?["email"] == "kim@example.com")
            #expect(response.json["next"] == .null && response.json["token"] == nil)
            let shown = try await kim.send(.get, "/session")
            #expect(shown.status == 200)
            #expect(shown.json["session"]?["id"] == response.json["session"]?["id"])
            #expect(shown.json["account"]?["username"] == "kim")
        }
    }

    @Test(arguments: [
        ("http://localhost:8080", "", ""), ("https://accounts.example", "__Host-", "Secure; "),
    ])
    func `the cookies have the strictest attributes that the public URL allows`(
        url: String,
        prefix: String,
        secure: String
    ) async throws {
        try await TestServer.with(publicURL: url) { site in
            try await site.readyAccount()
            let kim = Browser(site)
            let cookies = try await kim.signIn().headers[values: .setCookie]
            try #require(cookies.count == 2)
            #expect(cookies[0].hasPrefix("\(prefix)session="))
            #expect(cookies[0].hasSuffix("; Path=/; \(secure)HttpOnly; SameSite=Lax"))
            #expect(cookies[1].hasPrefix("\(prefix)device="))
            #expect(cookies[1].hasSuffix("; Path=/; Max-Age=34560000; \(secure)HttpOnly; SameSite=Lax"))
            let kept = try await kim.signIn(keep: true).headers[values: .setCookie]
            #expect(kept[0].contains("; Path=/; Max-Age=2592000; "))
        }
    }

    @Test func `a bearer token is in no cookie`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let body: JSON = ["identifier": "kim", "password": "a pass phrase of mine", "transport": "bearer"]
            let response = try await Browser(site).send(.post, "/session", body)
            #expect(response.headers[.setCookie] == nil)
            let token = try #require(response.json["token"]?.string)
            #expect(response.json["device"]?.string?.count == 44)
            let headers: HTTPFields = [.authorization: "Bearer \(token)"]
            #expect(try await site.send(.get, "/session", headers).json["account"]?["username"] == "kim")
        }
    }

    @Test func `a sign-in ends the session whose token was sent with the request`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            _ = try await kim.signIn()
            let first = try #require(kim["session"])
            _ = try await kim.signIn()
            #expect(kim["session"] != first)
            kim["session"] = first
            #expect(try await kim.send(.get, "/session").slug == "no-session")
        }
    }

    @Test(arguments: ["password", "second factor", "mailed code", "commit"])
    func `every way to sign in ends the session that the browser had`(way: String) async throws {
        try await TestServer.with(flow: standardFlow(with: "sign_in: [password, code]")) { site in
            try await site.readyAccount("lee@example.com", "lee")
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let browser = Browser(site)
            _ = try await browser.signIn("lee", keep: true)
            let old = try #require(browser["session"])
            switch way {
            case "password": _ = try await browser.signIn("lee")
            case "second factor":
                _ = try await browser.signIn("kim")
                try await browser.send(.put, "/session/totp", ["code": .string(person.code)])
            case "mailed code": try await browser.send(.post, "/session/code", ["identifier": "lee"])
            default: try await browser.signUp("sam@example.com", "sam")
            }
            #expect(browser["session"] != old)
            browser["session"] = old
            #expect(try await browser.send(.get, "/session").slug == "no-session")
        }
    }

    @Test func `the password is compared in its canonical form`() async throws {
        try await TestServer.with { site in
            let password = "un mot de passe cafe\u{301} cre\u{300}me"
            try await site.readyAccount(password: password.precomposedStringWithCanonicalMapping)
            #expect(try await Browser(site).signIn("kim", password).status == 201)
        }
    }

    // MARK: Refusals

    @Test func `every failure looks the same, whether or not there is an account`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.readyAccount("lee@example.com", "lee")
            try DatabaseSession().run("UPDATE accounts SET disabled_at = now() WHERE username = 'lee'")
            let attempts = [
                ("kim@example.com", "not the pass phrase"), ("kim", "not the pass phrase"),
                ("nobody@example.com", "a pass phrase of mine"), ("nobody", "a pass phrase of mine"),
                ("lee@example.com", "a pass phrase of mine"), ("lee", "not the pass phrase"),
                ("not an identifier", "a pass phrase of mine"), ("k\u{200B}im", "a pass phrase of mine"),
            ]
            var responses: [Response] = []
            for (identifier, password) in attempts {
                responses.append(try await Browser(site).signIn(identifier, password))
            }
            #expect(responses.allSatisfy { $0.status == 401 && $0.slug == "sign-in-failed" })
            #expect(Set(responses.map(\.withoutRequestID)).count == 1)
        }
    }

    @Test(
        arguments: [
            ([:], ["identifier:required", "password:required"]),
            (["identifier": "", "password": ""], ["identifier:required", "password:required"]),
            (["identifier": 1, "password": 2], ["identifier:wrong_type", "password:wrong_type"]),
            (["identifier": "kim", "password": "x", "keep": 1], ["keep:wrong_type"]),
            (["identifier": "kim", "password": "x", "token": "y"], ["token:unknown_field"]),
            (["identifier": "kim", "password": "x", "transport": "mail"], ["transport:not_allowed"]),
            (["identifier": "kim", "password": "a\u{7}b"], ["password:bad_characters"]),
            (["identifier": .string(String(repeating: "k", count: 1025)), "password": "x"], ["identifier:too_long"]),
        ] as [(JSON, [String])]
    )
    func `a malformed body is refused`(body: JSON, refusals: [String]) async throws {
        try await TestServer.with { site in
            let response = try await Browser(site).send(.post, "/session", body)
            #expect(response.status == 422 && Set(response.refusals) == Set(refusals))
        }
    }

    @Test func `a missing, malformed, unknown or foreign token opens nothing`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let draft = try #require(kim["signup"])
            for token in [nil, "x", String(repeating: "A", count: 64), draft] {
                let stranger = Browser(site)
                stranger["session"] = token
                for (method, path) in [
                    (.get, "/session"), (.delete, "/session"), (.get, "/account/sessions"),
                    (.delete, "/account/sessions"),
                ] as [(HTTPRequest.Method, String)] {
                    let response = try await stranger.send(method, path)
                    #expect(response.status == 401 && response.slug == "no-session", "\(method) \(path)")
                    #expect(response.headers[.wwwAuthenticate] == "Bearer")
                }
                let code: JSON = ["code": "123456"]
                for path in ["/session/totp", "/session/code"] {
                    #expect(try await stranger.send(.put, path, code).slug == "no-session")
                }
                let confirmed = try await stranger.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
                #expect(confirmed.slug == "no-session")
            }
        }
    }

    @Test func `another site cannot sign a person in`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let headers: HTTPFields = [
                .contentType: "application/x-www-form-urlencoded", .secFetchSite: "cross-site",
            ]
            let body = Array("identifier=kim&password=a+pass+phrase+of+mine".utf8)
            #expect(try await site.send(.post, "/session", bytes: body, headers).slug == "forbidden-origin")
        }
    }

    // MARK: Hashes

    @Test func `a hash with a lower cost than that of the service is replaced`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            try await site.weakenPassword()
            let database = try DatabaseSession()
            let old = try database.query("SELECT secret FROM credentials").only.decode(String.self)
            #expect(try await Browser(site).signIn("kim", "another pass phrase").status == 401)
            #expect(try database.query("SELECT secret FROM credentials").only.decode(String.self) == old)
            #expect(try await Browser(site).signIn().status == 201)
            let new = try database.query("SELECT secret FROM credentials").only.decode(String.self)
            #expect(new.contains("m=7168,t=5,p=1"))
            #expect(try await Browser(site).signIn().status == 201)
        }
    }

    @Test(arguments: [false, true])
    func `a hash without the pepper of the first key is replaced by one with it`(hasOtherPepper: Bool) async throws {
        let (first, second) = (
            "k1:v2:" + Data(repeating: 1, count: 32).base64EncodedString(),
            "k2:v2:" + Data(repeating: 2, count: 32).base64EncodedString()
        )
        try await TestServer.with(keys: "\(first),\(second)") { site in
            try await site.readyAccount()
            try await site.storePassword(pepper: hasOtherPepper ? KeyRing(second).pepper : nil)
            #expect(try await Browser(site).signIn().status == 201)
            let stored = try DatabaseSession().query("SELECT secret FROM credentials").only.decode(String.self)
            #expect(try PHCString(stored).keyID == KeyRing(first).pepper?.id)
            #expect(try await Browser(site).signIn().status == 201)
        }
    }

    @Test(arguments: ["$argon2id$v=19$m=65536,t=3,p=1", "$argon2id$v=19$m=7168,t=5,p=1,keyid=AAAAAAAAAAA"])
    func `a hash that the server cannot check fails like a wrong password`(head: String) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let hash = "\(head)$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            try DatabaseSession().query("UPDATE credentials SET secret = \(hash)")
            #expect(try await Browser(site).signIn().slug == "sign-in-failed")
        }
    }

    @Test func `a confirmation that the server cannot check is 503, and no wrong one`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            #expect(try await kim.signIn().status == 201)
            let database = try DatabaseSession()
            let secret = try database.query("SELECT secret FROM credentials").only.decode(String.self)
            let hash =
                "$argon2id$v=19$m=7168,t=5,p=1,keyid=AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA$\(String(repeating: "A", count: 43))"
            try database.query("UPDATE credentials SET secret = \(hash)")
            let password: JSON = ["password": "a pass phrase of mine"]
            for _ in 1...12 { #expect(try await kim.send(.put, "/session/confirm", password).status == 503) }
            try database.query("UPDATE credentials SET secret = \(secret)")
            #expect(try await kim.send(.put, "/session/confirm", password).status == 200)
        }
    }

    @Test func `a password whose hash needs too much memory confirms nothing`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            #expect(try await kim.signIn().status == 201)
            let costly = site.service.signups.hashing.parameters.memoryKiB + 1
            try DatabaseSession().query(
                "UPDATE credentials SET secret = regexp_replace(secret, 'm=[0-9]+', \("m=\(costly)"))"
            )
            let response = try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
            #expect(response.status == 422 && response.refusals == ["password:password_wrong"])
        }
    }

    @Test func `a confirmation that the deadline of its request cuts off is no wrong one`() async throws {
        let (beginnings, beginning) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let parameters = Argon2Parameters(memoryKiB: 7168, iterations: 5)
        let pool = try HashingPool(parameters: parameters, workers: 1, queue: 8) {
            password,
            pepper,
            arena throws(Argon2Error) in
            beginning.yield()
            gate.wait()
            return try Argon2.hash(password.secret, with: parameters, pepper: pepper, in: arena)
        }
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            #expect(try await kim.signIn().status == 201)
            let token = kim["session"]
            try await TestServer.with(hashing: pool, patience: Patience(request: .milliseconds(500))) { busy in
                let held = Task { try await pool.hash(SharedSecret(Secret(normalising: "held"))) }
                for await _ in beginnings { break }
                let other = Browser(busy)
                other["session"] = token
                let confirmed = try await other.send(
                    .put,
                    "/session/confirm",
                    ["password": "a pass phrase of mine"]
                )
                #expect(confirmed.status == 503)
                #expect(try DatabaseSession().number(of: "sessions WHERE failures = 0") == 1)
                gate.signal()
                _ = try await held.value
            }
        }
    }

    @Test func `a password that changes during its check does not sign in`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let database = try DatabaseSession()
            try database.run("BEGIN; SELECT 1 FROM credentials FOR UPDATE")
            async let response = Browser(site).signIn()
            let observer = try DatabaseSession()
            try await observer.waitUntilSomebodyIsBlocked()
            try database.run("UPDATE credentials SET secret = secret || 'x'; COMMIT")
            #expect(try await response.slug == "sign-in-failed")
            #expect(try observer.query("SELECT count(*) FROM sessions").only.decode(Int.self) == 0)
        }
    }

    @Test(arguments: ["session", "none"])
    func `the first sign-in to an account is counted once`(afterCommit: String) async throws {
        try await TestServer.with(flow: standardFlow(with: "after_commit: \(afterCommit)")) { site in
            try await Browser(site).signUp()
            let signedUp = try await site.firstSignIns()
            #expect(
                signedUp == (afterCommit == "none" ? [] : ["default@1 completed 1"]) + ["default@1 entered 1"]
            )
            for _ in 1...2 { _ = try await Browser(site).signIn() }
            _ = try await Browser(site).signIn("kim", "not the pass phrase")
            #expect(try await site.firstSignIns() == ["default@1 completed 1", "default@1 entered 1"])
        }
    }

    @Test func `a recovery can be the first sign-in`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = Browser(site)
            try await kim.recover()
            let new: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
            try await kim.send(.put, "/recovery/password", new)
            try await kim.send(.post, "/recovery/commit")
            #expect(try await site.firstSignIns() == ["default@1 completed 1", "default@1 entered 1"])
        }
    }
}

extension Response {
    /// The status, the header and the body without the request id and the date, which differ in each response.
    var withoutRequestID: String {
        guard case .object(let members) = json else { return "\(status) \(body)" }
        let body = JSON.object(members.filter { $0.name != "request_id" })
        let fields = headers.filter { $0.name != .requestID && $0.name != .date }.map { "\($0.name): \($0.value)" }
        return "\(status)\n\(fields.sorted().joined(separator: "\n"))\n\(body.text)"
    }
}

extension TestServer {
    /// Creates an account with the standard flow. No browser gets a cookie of it.
    func readyAccount(
        _ email: String = "kim@example.com",
        _ username: String = "kim",
        password: String = "a pass phrase of mine"
    ) async throws {
        var draft = try await service.fill(service.start(), through: "code", email: email, username: username)
        var answers = TestSignups.answers(email: email, username: username)
        answers["password"] = ["password": .password(password), "confirmation": .password(password)]
        for step in ["password", "profile", "contact", "totp", "terms"] as [StepName] {
            draft = try await service.submit(answers[step]!, to: step, of: draft)
        }
        _ = try await service.signups.commit(draft, signingIn: nil)
    }
}

extension TestServer {
    /// The counts of the step `sign-in` in the funnel, such as `default@1 entered 1`.
    fileprivate func firstSignIns() async throws -> [String] {
        try await service.signups.funnel.flush(to: service.database)
        let rows = try DatabaseSession().query(
            """
            SELECT format('%s %s %s', flow, outcome, sum(count)) FROM funnel_daily WHERE step = 'sign-in'
             GROUP BY flow, outcome ORDER BY 1
            """
        )
        return try rows.map { try $0.decode(String.self) }
    }
}
