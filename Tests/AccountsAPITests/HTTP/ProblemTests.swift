import Accounts
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import accounts_api

@Suite("Refused requests", .freshDatabase)
struct ProblemTests {
    @Test(arguments: [
        ("", "empty"), ("{", "cut off"), ("null", "no object"), ("[]", "no object"),
        (#"{"email":"a@b.example",}"#, "comma"),
        (#"{"email":"a@b.example","email":"c@d.example"}"#, "duplicate name"),
        (#"{"email":"a@b.example\u0000"}"#, "NUL"), (#"{"email":"\ud800"}"#, "lone surrogate"),
        (#"{"email":\#(String(repeating: "[", count: 33))\#(String(repeating: "]", count: 33))}"#, "depth"),
        ("\u{FEFF}{}", "byte order mark"), ("{} {}", "unexpected bytes after the value"),
        (#"{"email":[\#(String(repeating: "1,", count: 1000))1]}"#, "too many values"),
    ])
    func `a malformed body is refused and changes nothing`(body: String, why: String) async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let response = try await kim.put("email", body)
            #expect(response.status == 400, "\(why)")
            #expect(response.slug == "malformed-request")
            #expect(response.headers[.contentType] == "application/problem+json")
            #expect(try await kim.send(.get, "/signup").headers[.eTag] == "\"1\"")
        }
    }

    @Test func `a body that is not UTF-8 is refused`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let bodies: [[UInt8]] = [
                Array(#"{"email":""#.utf8) + [0xFF, 0xC0, 0x80] + Array(#""}"#.utf8),
                [0xFF, 0xFE] + "{}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
            ]
            for body in bodies {
                let response = try await site.client.execute(
                    uri: "/signup/email",
                    method: .put,
                    headers: [.authorization: "Bearer \(kim.tokenText!)", .contentType: "application/json"],
                    body: ByteBuffer(bytes: body)
                ) { Response($0) }
                #expect(response.status == 400)
                #expect(response.slug == "malformed-request")
            }
        }
    }

    @Test(arguments: TestServer.Mode.allCases)
    func `a body of 64 KiB is read, and a longer one is refused`(mode: TestServer.Mode) async throws {
        try await TestServer.with(mode) { site in
            let kim = site.visitor()
            try await kim.start()
            let frame = #"{"email":""}"#.utf8.count
            let fits = #"{"email":"\#(String(repeating: "a", count: 65_536 - frame))"}"#
            #expect(try await kim.put("email", fits).status == 422)
            let tooLong = #"{"email":"\#(String(repeating: "a", count: 65_537 - frame))"}"#
            let response = try await kim.put("email", tooLong)
            #expect(response.status == 413)
            #expect(response.slug == "too-large")
        }
    }

    @Test(arguments: [
        ("text/plain", 415), ("application/x-www-form-urlencoded; charset=latin-1", 415),
        ("multipart/form-data; boundary=x", 415), ("application/json; charset=utf-16", 415),
        ("application/json; charset=UTF-8", 200), ("APPLICATION/JSON", 200), ("application/jsonp", 415),
        ("", 415), (";", 415), ("; charset=utf-8", 415),
    ])
    func `a body with an unsupported media type or charset is refused`(type: String, status: Int) async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let response = try await kim.put("email", ["email": "a@b.example"], headers: [.contentType: type])
            #expect(response.status == status)
            if status == 415 { #expect(response.slug == "unsupported-media-type") }
        }
    }

    @Test(arguments: [
        ("gzip", 415), ("GZIP", 415), ("br", 415), ("identity, gzip", 415), ("identity", 200), ("Identity", 200),
        ("", 200),
    ])
    func `a body with a content coding is refused before it is read`(coding: String, status: Int) async throws {
        try await TestServer.with(.socket) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let form = "application/x-www-form-urlencoded"
            for (type, body) in [("application/json", #"{"email":"a@b.example"}"#), (form, "email=a%40b.example")] {
                let headers: HTTPFields = [.contentType: type, .contentEncoding: coding]
                let response = try await kim.send(.post, "/signup/email", body, headers: headers)
                #expect(response.status == status)
                #expect(response.headers[.acceptEncoding] == (status == 415 ? "identity" : nil))
                if status == 415 { #expect(response.slug == "unsupported-media-type") }
            }
            let isStored = try await kim.send(.get, "/signup").json["values"]?["email"] != nil
            #expect(isStored == (status == 200))
            let start = try await site.visitor().send(.post, "/signup", "{}", headers: [.contentEncoding: coding])
            #expect(start.status == (status == 415 ? 415 : 201))
        }
    }

    @Test func `a body with a content coding is refused without waiting for it`() async throws {
        try await TestServer.with(.socket) { site in
            let port = try #require(site.client.port)
            let response = try await onThread {
                let client = try RawClient(port: port)
                try client.send(
                    """
                    POST /signup HTTP/1.1\r
                    Host: x\r
                    Content-Type: application/json\r
                    Content-Encoding: gzip\r
                    Content-Length: 100\r
                    \r

                    """
                )
                return client.readResponse()
            }
            #expect(response.hasPrefix("HTTP/1.1 415 ") && response.contains("/problems/unsupported-media-type"))
            #expect(response.lowercased().contains("\r\naccept-encoding: identity\r\n"))
        }
    }

    @Test(arguments: [
        ("text/css", 406), ("application/json;q=0", 406), ("image/*, text/html", 303), ("*/*", 201),
        ("text/html, application/json;q=0.1", 303), ("application/*", 201), ("text/html, application/json", 201),
        ("text/html;q=0.5, */*;q=0.4", 303), ("text/*", 303), ("*/*, application/json;q=0.0", 303),
    ])
    func `the Accept header selects the representation of the response`(accept: String, status: Int) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.post, "/signup", headers: [.accept: accept])
            #expect(response.status == status)
            if status == 406 { #expect(response.slug == "not-acceptable") }
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/nothing", 404, "not-found"), (.get, "/signup/nothing", 404, "unknown-step"),
        (.put, "/signup/nothing", 404, "unknown-step"), (.patch, "/signup", 405, "method-not-allowed"),
        (.put, "/signup/review", 405, "method-not-allowed"), (.get, "/signup/commit", 405, "method-not-allowed"),
        (.post, "/health/live", 405, "method-not-allowed"), (.trace, "/signup/email", 405, "method-not-allowed"),
    ])
    func `an unknown path or method is refused`(method: HTTPRequest.Method, path: String, status: Int, slug: String)
        async throws
    {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let response = try await kim.send(method, path)
            #expect(response.status == status)
            #expect(response.slug == slug)
            #expect((response.headers[.allow] != nil) == (status == 405))
        }
    }

    @Test func `a problem is in the language of the draft, or in the requested one without a draft`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(headers: [.acceptLanguage: "en"])
            #expect(try await kim.send(.get, "/signup").json["title"] == "No sign-up in progress")
            let korean = try await site.visitor(headers: [.acceptLanguage: "ko"]).send(.get, "/signup")
            #expect(korean.json["title"] == "진행 중인 가입이 없습니다")
            try await kim.start(locale: "ko")
            #expect(try await kim.send(.get, "/signup/terms").json["title"] == "이전 단계를 먼저 완료해 주세요")
        }
    }

    @Test func `a start with many unknown members gets at most 32 errors`() async throws {
        try await TestServer.with { site in
            let body = JSON.object((0..<900).map { JSON.Member("\($0)", 0) })
            let response = try await site.visitor().send(.post, "/signup", body)
            #expect(response.status == 422 && response.refusals.count == 32)
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/signup"), (.delete, "/signup"), (.get, "/signup/review"), (.post, "/signup/commit"),
        (.get, "/signup/email"), (.delete, "/signup/email"), (.post, "/signup/code/resend"),
    ])
    func `a request without an issued token is refused and creates no draft`(method: HTTPRequest.Method, path: String)
        async throws
    {
        try await TestServer.with { site in
            let visitor = site.visitor()
            let foreign = Token(for: ID<Draft>()).text
            for token in [nil, "", "nonsense", foreign, String(foreign.dropLast())] {
                visitor.tokenText = token
                let response = try await visitor.send(method, path)
                #expect(response.status == 401)
                #expect(response.slug == "no-draft")
                #expect(response.json["restart"] == ["method": "POST", "href": "/signup"])
            }
            let rows = try DatabaseSession().query("SELECT count(*) FROM drafts")
            #expect(try rows.only.decode(Int.self) == 0)
        }
    }

    @Test func `a locked step refuses requests and names the next step`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let requests: [(HTTPRequest.Method, JSON?)] = [(.get, nil), (.put, ["username": "kim"]), (.delete, nil)]
            for (method, body) in requests {
                let response = try await kim.send(method, "/signup/profile", bytes: body?.bytes)
                #expect(response.status == 409)
                #expect(response.slug == "step-locked")
                #expect(response.json["next"] == ["step": "email", "href": "/signup/email"])
            }
            let resend = try await kim.send(.post, "/signup/code/resend")
            #expect(resend.slug == "step-locked")
        }
    }

    @Test func `an early commit is refused and names the missing fields`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "password")
            let response = try await kim.commit()
            #expect(response.status == 409)
            #expect(response.slug == "incomplete")
            #expect(response.missing == ["username", "birth_date", "terms"])
            #expect(response.nextStep == "profile")

            // The next step may be an optional one.
            let lee = site.visitor()
            try await lee.start()
            try await lee.fill(through: "contact", email: "lee@example.com", username: "lee")
            let later = try await lee.commit()
            #expect(later.slug == "incomplete" && later.missing == ["terms"] && later.nextStep == "totp")
            #expect(later.json["detail"]?.string?.contains("required step is incomplete") == true)
        }
    }

    @Test func `all errors of a submission are returned together, and nothing changes`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "password")
            let before = try await kim.send(.get, "/signup").body
            let response = try await kim.put(
                "profile",
                ["username": "1", "display_name": 7, "introduction": "a\u{7}b", "extra": 1]
            )
            #expect(response.status == 422)
            #expect(response.slug == "validation-failed")
            #expect(
                Set(response.refusals) == [
                    "username:too_short", "display_name:wrong_type", "introduction:bad_characters",
                    "extra:unknown_field",
                ]
            )
            guard case .array(let errors)? = response.json["errors"] else { return }
            #expect(errors.allSatisfy { $0["message"]?.string?.isEmpty == false })
            #expect(errors.first { $0["field"] == "username" }?["params"] == ["actual": 1, "min": 3])
            #expect(errors.first { $0["field"] == "username" }?["pointer"] == "#/username")
            #expect(try await kim.send(.get, "/signup").body.dropExpiry == before.dropExpiry)
        }
    }

    @Test func `a password and its confirmation are refused in one response`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "code")
            let response = try await kim.put("password", ["password": "short", "confirmation": "other"])
            #expect(response.refusals == ["password:too_short", "confirmation:mismatch"])
            let mismatch = try await kim.put(
                "password",
                ["password": "a pass phrase of mine", "confirmation": "a pass phrase of yours"]
            )
            #expect(mismatch.refusals == ["confirmation:mismatch"])
            let common = try await kim.put(
                "password",
                ["password": "aaaaaaaaaaaaaaaaaaaa", "confirmation": "aaaaaaaaaaaaaaaaaaaa"]
            )
            #expect(common.refusals == ["password:common"])
        }
    }

    @Test func `a username that another draft holds is refused`() async throws {
        try await TestServer.with { site in
            let (kim, lee) = (site.visitor(), site.visitor())
            try await kim.start()
            try await kim.fill(through: "profile")
            try await lee.start()
            try await lee.fill(through: "password", email: "lee@example.com")
            let response = try await lee.put("profile", ["username": "KIM"])
            #expect(response.refusals == ["username:taken"])
        }
    }

    @Test func `a commit is refused if another account got the address first`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill()
            try DatabaseSession().run(
                """
                INSERT INTO accounts (id, email, profile, locale, flow)
                VALUES ('00000000-0000-7000-8000-000000000001', 'kim@example.com', '{}', 'en', 'default@1');
                INSERT INTO identifiers VALUES ('email', 'kim@example.com', '00000000-0000-7000-8000-000000000001')
                """
            )
            let response = try await kim.commit()
            #expect(response.status == 409)
            #expect(response.slug == "identifier-taken")
            #expect(response.json["field"] == "email")
            #expect(try await kim.send(.get, "/signup").json["state"] == "ready")
        }
    }

    @Test(arguments: [
        ("\"1\"", 412), ("\"2\"", 200), ("*", 200), ("\"1\", \"2\"", 200), ("\"9\"", 412), ("2", 400), ("\"x\"", 412),
        ("W/\"2\"", 412),
        ("", 400),
    ])
    func `a write with If-Match needs the current revision`(ifMatch: String, status: Int) async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": "kim@example.com"])
            let writes: [(HTTPRequest.Method, String, JSON?)] = [
                (.put, "/signup/email", ["email": "kim@example.com"]), (.delete, "/signup/email", nil),
                (.post, "/signup/code/resend", nil), (.post, "/signup/commit", nil), (.delete, "/signup", nil),
            ]
            if status != 200 {
                for (method, path, body) in writes {
                    let response = try await kim.send(method, path, bytes: body?.bytes, headers: [.ifMatch: ifMatch])
                    #expect(response.status == status, "\(method) \(path)")
                }
            }
            let response = try await kim.put("email", ["email": "kim@example.com"], headers: [.ifMatch: ifMatch])
            #expect(response.status == status)
            if status == 412 {
                #expect(response.slug == "stale-revision")
                #expect(response.json["draft"]?["revision"] == 2)
                #expect(response.headers[.eTag] == "\"2\"")
            }
        }
    }

    @Test(arguments: ["expired", "superseded"])
    func `an ended sign-up returns the reason`(reason: String) async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            if reason == "expired" {
                try DatabaseSession().run("UPDATE drafts SET updated_at = now() - interval '24 hours'")
            } else {
                try await kim.fill(through: "code")
                let other = site.visitor()
                try await other.start()
                try await other.fill()
                #expect(try await other.commit().status == 201)
            }
            let response = try await kim.put("email", ["email": "kim@example.com"])
            #expect(response.status == 410)
            #expect(response.slug == "draft-expired")
            #expect(response.json["reason"] == .string(reason))
        }
    }

    @Test func `a sign-up whose account was deleted has ended, and another one can begin`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill()
            #expect(try await kim.commit().status == 201)
            try DatabaseSession().run("DELETE FROM accounts")
            let responses = [
                try await kim.send(.get, "/signup"), try await kim.send(.get, "/signup/email"),
                try await kim.put("email", ["email": "kim@example.com"]), try await kim.commit(),
                try await kim.send(.post, "/signup/handoff"), try await kim.send(.delete, "/signup"),
            ]
            for response in responses {
                #expect(response.status == 410 && response.slug == "draft-expired")
                #expect(response.json["reason"] == "account-erased")
            }
            let token = try #require(kim.tokenText)
            let page = try await site.send(.get, "/signup", [.accept: "text/html", .cookie: "signup=\(token)"])
            #expect(
                page.status == 410
                    && page.body.contains("The account that you created in this browser has been deleted.")
            )
            #expect(!site.log.lines.contains { $0["level"] == "error" })
            #expect(try await kim.start().status == 201)
            #expect(try await kim.put("email", ["email": "kim@example.com"]).status == 200)
        }
    }

    @Test func `a server without the key of a draft answers 503 and sets no cookie`() async throws {
        let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await TestServer.with(keys: "\(new),\(TestSignups.keys)") { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": "kim@example.com"])
            let token = try #require(kim.tokenText)
            try await TestServer.with { other in
                let visitor = other.visitor()
                visitor.tokenText = token
                var responses = [
                    try await visitor.start(), try await visitor.send(.get, "/signup"),
                    try await visitor.put("email", ["email": "lee@example.com"]),
                    try await visitor.send(.delete, "/signup"),
                ]
                #expect(responses.allSatisfy { $0.slug == "unavailable" && $0.headers[.retryAfter] != nil })
                let browser: HTTPFields = [
                    .accept: "text/html", .secFetchSite: "same-origin", .cookie: "signup=\(token)",
                    .contentType: "application/x-www-form-urlencoded",
                ]
                let pages = [
                    try await other.send(.get, "/signup", browser),
                    try await other.send(.post, "/signup", bytes: Array("locale=en".utf8), browser),
                ]
                #expect(pages.allSatisfy { $0.isPage })
                responses += pages
                #expect(responses.allSatisfy { $0.status == 503 && $0.headers[.setCookie] == nil })
                let errors = other.log.lines.filter { $0["level"] == "error" }
                #expect(errors.count == responses.count)
                #expect(errors.allSatisfy { $0["message"] == "no key in the key ring decrypts a draft" })
            }
            let draft = try await kim.send(.get, "/signup").json
            #expect(draft["values"]?["email"] == "kim@example.com" && draft["revision"] == 2)
        }
    }

    @Test func `a server without the pepper of a stored password answers 503, and keeps the password`() async throws {
        let old = "old:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await TestServer.with(keys: old) { site in
            let kim = site.visitor()
            try await kim.start()
            _ = try await kim.fill(through: "password")
            let token = try #require(kim.tokenText)
            try await TestSignups.with(keys: "\(TestSignups.keys),\(old)") { service in
                _ = try await Operator(service.signups, name: "mina").rotateKeys()
            }
            try await TestServer.with { other in
                let visitor = other.visitor()
                visitor.tokenText = token
                let before = try await visitor.send(.get, "/signup").json
                // The address is long enough to be the password, so the server has to compare it.
                let response = try await visitor.put("email", ["email": "first.second.third@example.com"])
                #expect(response.status == 503 && response.slug == "unavailable")
                #expect(response.headers[.retryAfter] != nil && response.headers[.setCookie] == nil)
                let after = try await visitor.send(.get, "/signup").json
                #expect(after["revision"] == before["revision"] && after["values"] == before["values"])
                #expect(other.log.lines.contains { $0["level"] == "error" })
            }
        }
    }

    @Test func `a server whose keys do not fit the database is not ready and refuses sign-ups`() async throws {
        try await TestServer.with(keyMismatch: .missing("k2")) { site in
            let kim = site.visitor()
            let ready = try await kim.send(.get, "/health/ready")
            #expect(ready.status == 503)
            let detail = try #require(ready.json["detail"]?.string)
            #expect(detail.contains("ACCOUNTS_KEYS lacks the key \"k2\""))
            for response in [try await kim.start(), try await kim.put("email", ["email": "kim@example.com"])] {
                #expect(response.status == 503 && response.slug == "unavailable")
                #expect(response.headers[.setCookie] == nil && response.headers[.retryAfter] != nil)
            }
            #expect(try await kim.send(.get, "/health/live").status == 200)
            #expect(try await kim.send(.get, "/signup/schema").status == 200)
            #expect(try DatabaseSession().query("SELECT count(*) FROM drafts").only.decode(Int.self) == 0)
        }
    }

    @Test func `a submission with many unknown members gets at most 32 errors for them`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let body = JSON.object((0..<900).map { JSON.Member("n\($0)", 1) })
            let response = try await kim.put("email", body)
            #expect(response.status == 422)
            #expect(response.refusals.count { $0.hasSuffix(":unknown_field") } == 32)
            #expect(response.refusals.contains("email:required"))
        }
    }

    @Test func `an unexpected error is a plain 500, and the log contains its cause`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try DatabaseSession().run("ALTER TABLE proofs DROP COLUMN failures")
            let response = try await kim.send(.get, "/signup")
            #expect(response.status == 500)
            #expect(response.slug == "internal")
            #expect(!response.body.contains("42703") && !response.body.contains("failures"))
            let id = try #require(response.headers[.requestID])
            #expect(response.json["request_id"] == .string(id))
            let line = site.log.lines.first { $0["level"] == "error" && $0["request_id"] == .string(id) }
            #expect(line?["error"]?.string?.contains("42703") == true)
        }
    }

    @Test(arguments: ["53100", "53200", "58030"])
    func `a database that lacks space, memory or a working disk is 503, and the log has the reason`(state: String)
        async throws
    {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try DatabaseSession().run(
                """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql
                    AS $$ BEGIN RAISE EXCEPTION 'simulated' USING ERRCODE = '\(state)'; END $$;
                CREATE TRIGGER fail BEFORE UPDATE ON drafts FOR EACH ROW EXECUTE FUNCTION fail()
                """
            )
            let response = try await kim.put("email", #"{"email":"kim@example.com"}"#)
            #expect(response.status == 503 && response.slug == "unavailable")
            #expect(response.headers[.retryAfter] == "2")
            let line = site.log.lines.first { $0["message"] == "database overloaded" }
            #expect(line?["reason"]?.string?.contains("database refused: \(state)") == true)
            try DatabaseSession().run("DROP TRIGGER fail ON drafts")
            #expect(try await kim.put("email", #"{"email":"kim@example.com"}"#).status == 200)
        }
    }

    @Test func `an unavailable database is 503, and the service recovers by itself`() async throws {
        try await Cluster.withRunning { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            try await TestServer.with(conninfo: cluster.conninfo) { site in
                let kim = site.visitor()
                try await kim.start()
                try await cluster.stop()
                let unavailable = try await kim.send(.get, "/signup")
                #expect(unavailable.status == 503)
                #expect(unavailable.slug == "unavailable")
                #expect(unavailable.headers[.retryAfter] != nil)
                let started = try await kim.start()
                #expect(started.status == 503)
                #expect(
                    started.headers[.setCookie] == nil,
                    "a new cookie would replace the sign-up that cannot be read now"
                )
                #expect(try await kim.send(.get, "/health/ready").status == 503)
                #expect(try await kim.send(.get, "/health/live").status == 200)
                try await cluster.start()
                var response = try await kim.send(.get, "/signup")
                for _ in 0..<100_000 where response.status == 503 { response = try await kim.send(.get, "/signup") }
                #expect(response.status == 200)
                // The other connections of the server to the database may recover later.
                var ready = try await kim.send(.get, "/health/ready")
                for _ in 0..<100_000 where ready.status == 503 { ready = try await kim.send(.get, "/health/ready") }
                #expect(ready.status == 200)
            }
        }
    }

    @Test func `every response has the security headers and a request id`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            var responses = [
                try await kim.start(), try await kim.send(.get, "/nothing"), try await kim.send(.patch, "/signup"),
            ]
            responses.append(try await kim.put("email", "{"))
            responses.append(try await kim.send(.get, "/health/live"))
            responses.append(try await kim.send(.delete, "/signup"))
            for response in responses {
                #expect(response.headers[.cacheControl] == "no-store")
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                #expect(response.headers[.referrerPolicy] == "no-referrer")
                #expect(response.headers[.requestID]?.isEmpty == false)
                #expect(response.headers[.server] == nil)
            }
            // A browser sends the origin of a form only if its page may send a referrer to the same origin.
            let page = try await site.send(.get, "/signup", [.accept: "text/html"])
            #expect(page.headers[.referrerPolicy] == "same-origin" && !page.body.contains("name=\"referrer\""))
        }
    }

    @Test(arguments: [
        ("a-good-request-id", true), ("short", false), ("with space in it", false), ("a\u{1B}[31mred", false),
    ])
    func `the request id of the client is used only if it is safe`(id: String, isUsed: Bool) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.get, "/health/live", headers: [.requestID: id])
            #expect((response.headers[.requestID] == id) == isUsed)
        }
    }

    @Test(arguments: [
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
        ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes", true),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
        ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
        ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
        ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false), ("kim@example.com", false), ("", false),
    ])
    func `the log contains the trace id of a valid traceparent header`(parent: String, isUsed: Bool) async throws {
        try await TestServer.with { site in
            let headers: HTTPFields = [.traceParent: parent]
            let response = try await site.visitor().send(.get, "/health/live", headers: headers)
            #expect(response.status == 200)
            let line = site.log.lines.first { $0["message"] == "request" }
            #expect(line?["trace_id"] == (isUsed ? "0af7651916cd43dd8448eb211c80319c" : nil))
        }
    }
}

extension String {
    /// The text before the remaining seconds, which change between two requests.
    fileprivate var dropExpiry: Substring { self[..<(range(of: "\"expires_in\"")?.lowerBound ?? endIndex)] }
}
