import Accounts
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import accounts_api

@Suite("What is refused, and how", .freshDatabase)
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
    func `a malformed body`(body: String, why: String) async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let answer = try await kim.put("email", body)
            #expect(answer.status == 400, "\(why)")
            #expect(answer.slug == "malformed-request")
            #expect(answer.headers[.contentType] == "application/problem+json")
            #expect(try await kim.send(.get, "/signup").headers[.eTag] == "\"1\"")
        }
    }

    @Test func `bytes that are not UTF-8, and UTF-16`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let bodies: [[UInt8]] = [
                Array(#"{"email":""#.utf8) + [0xFF, 0xC0, 0x80] + Array(#""}"#.utf8),
                [0xFF, 0xFE] + "{}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
            ]
            for body in bodies {
                let answer = try await site.client.execute(
                    uri: "/signup/email",
                    method: .put,
                    headers: [.authorization: "Bearer \(kim.tokenText!)", .contentType: "application/json"],
                    body: ByteBuffer(bytes: body)
                ) { Answer($0) }
                #expect(answer.status == 400)
                #expect(answer.slug == "malformed-request")
            }
        }
    }

    @Test(arguments: TestServer.Way.allCases)
    func `a body of more than 64 KiB, and one of just that`(way: TestServer.Way) async throws {
        try await TestServer.with(way) { site in
            let kim = site.visitor()
            try await kim.start()
            let frame = #"{"email":""}"#.utf8.count
            let fits = #"{"email":"\#(String(repeating: "a", count: 65_536 - frame))"}"#
            #expect(try await kim.put("email", fits).status == 422)
            let tooLong = #"{"email":"\#(String(repeating: "a", count: 65_537 - frame))"}"#
            let answer = try await kim.put("email", tooLong)
            #expect(answer.status == 413)
            #expect(answer.slug == "too-large")
        }
    }

    @Test(arguments: [
        ("text/plain", 415), ("application/x-www-form-urlencoded; charset=latin-1", 415),
        ("multipart/form-data; boundary=x", 415), ("application/json; charset=utf-16", 415),
        ("application/json; charset=UTF-8", 200), ("APPLICATION/JSON", 200), ("application/jsonp", 415),
        ("", 415), (";", 415), ("; charset=utf-8", 415),
    ])
    func `media types`(type: String, status: Int) async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            let answer = try await kim.put("email", ["email": "a@b.example"], headers: [.contentType: type])
            #expect(answer.status == status)
            if status == 415 { #expect(answer.slug == "unsupported-media-type") }
        }
    }

    @Test(arguments: [
        ("text/css", 406), ("application/json;q=0", 406), ("image/*, text/html", 303), ("*/*", 201),
        ("text/html, application/json;q=0.1", 303), ("application/*", 201), ("text/html, application/json", 201),
        ("text/html;q=0.5, */*;q=0.4", 303), ("text/*", 303), ("*/*, application/json;q=0.0", 303),
    ])
    func `representations`(accept: String, status: Int) async throws {
        try await TestServer.with { site in
            let answer = try await site.visitor().send(.post, "/signup", headers: [.accept: accept])
            #expect(answer.status == status)
            if status == 406 { #expect(answer.slug == "not-acceptable") }
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/nothing", 404, "not-found"), (.get, "/signup/nothing", 404, "unknown-step"),
        (.put, "/signup/nothing", 404, "unknown-step"), (.patch, "/signup", 405, "method-not-allowed"),
        (.put, "/signup/review", 405, "method-not-allowed"), (.get, "/signup/commit", 405, "method-not-allowed"),
        (.post, "/health/live", 405, "method-not-allowed"), (.trace, "/signup/email", 405, "method-not-allowed"),
    ])
    func `paths and methods`(method: HTTPRequest.Method, path: String, status: Int, slug: String) async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let answer = try await kim.send(method, path)
            #expect(answer.status == status)
            #expect(answer.slug == slug)
            #expect((answer.headers[.allow] != nil) == (status == 405))
        }
    }

    @Test func `a problem speaks the language of the draft, or else the one asked for`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(headers: [.acceptLanguage: "en"])
            #expect(try await kim.send(.get, "/signup").json["title"] == "There is no such sign-up")
            let nobody = try await site.visitor(headers: [.acceptLanguage: "ko"]).send(.get, "/signup")
            #expect(nobody.json["title"] == "진행 중인 가입이 없습니다")
            try await kim.start(locale: "ko")
            #expect(try await kim.send(.get, "/signup/terms").json["title"] == "앞 단계를 먼저 마쳐야 합니다")
        }
    }

    @Test func `a beginning full of unknown names is answered in proportion`() async throws {
        try await TestServer.with { site in
            let body = JSON.object((0..<900).map { JSON.Member("\($0)", 0) })
            let answer = try await site.visitor().send(.post, "/signup", body)
            #expect(answer.status == 422 && answer.refusals.count == 32)
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/signup"), (.delete, "/signup"), (.get, "/signup/review"), (.post, "/signup/commit"),
        (.get, "/signup/email"), (.delete, "/signup/email"), (.post, "/signup/code/resend"),
    ])
    func `nothing without a token that we issued`(method: HTTPRequest.Method, path: String) async throws {
        try await TestServer.with { site in
            let nobody = site.visitor()
            let foreign = Token(for: ID<Draft>()).text
            for token in [nil, "", "nonsense", foreign, String(foreign.dropLast())] {
                nobody.tokenText = token
                let answer = try await nobody.send(method, path)
                #expect(answer.status == 401)
                #expect(answer.slug == "no-draft")
                #expect(answer.json["restart"] == ["method": "POST", "href": "/signup"])
            }
            let rows = try Session().query("SELECT count(*) FROM drafts")
            #expect(try rows.only.decode(Int.self) == 0)
        }
    }

    @Test func `a step that an earlier one locks`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let requests: [(HTTPRequest.Method, JSON?)] = [(.get, nil), (.put, ["username": "kim"]), (.delete, nil)]
            for (method, body) in requests {
                let answer = try await kim.send(method, "/signup/profile", bytes: body?.bytes)
                #expect(answer.status == 409)
                #expect(answer.slug == "step-locked")
                #expect(answer.json["next"] == ["step": "email", "href": "/signup/email"])
            }
            let resend = try await kim.send(.post, "/signup/code/resend")
            #expect(resend.slug == "step-locked")
        }
    }

    @Test func `a commit that comes too early names what is missing`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "password")
            let answer = try await kim.commit()
            #expect(answer.status == 409)
            #expect(answer.slug == "incomplete")
            #expect(answer.missing == ["username", "birth_date", "terms"])
            #expect(answer.nextStep == "profile")
        }
    }

    @Test func `all that is wrong is told at once, and nothing changes`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "password")
            let before = try await kim.send(.get, "/signup").body
            let answer = try await kim.put(
                "profile",
                ["username": "1", "display_name": 7, "introduction": "a\u{7}b", "extra": 1]
            )
            #expect(answer.status == 422)
            #expect(answer.slug == "validation-failed")
            #expect(
                Set(answer.refusals) == [
                    "username:too_short", "display_name:wrong_type", "introduction:bad_characters",
                    "extra:unknown_field",
                ]
            )
            guard case .array(let errors)? = answer.json["errors"] else { return }
            #expect(errors.allSatisfy { $0["message"]?.string?.isEmpty == false })
            #expect(errors.first { $0["field"] == "username" }?["params"] == ["actual": 1, "min": 3])
            #expect(errors.first { $0["field"] == "username" }?["pointer"] == "#/username")
            #expect(try await kim.send(.get, "/signup").body.dropExpiry == before.dropExpiry)
        }
    }

    @Test func `a wrong and a short password are told in one answer`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "code")
            let answer = try await kim.put("password", ["password": "short", "confirmation": "other"])
            #expect(answer.refusals == ["password:too_short", "confirmation:mismatch"])
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

    @Test func `a name that somebody else holds`() async throws {
        try await TestServer.with { site in
            let (kim, lee) = (site.visitor(), site.visitor())
            try await kim.start()
            try await kim.fill(through: "profile")
            try await lee.start()
            try await lee.fill(through: "password", email: "lee@example.com")
            let answer = try await lee.put("profile", ["username": "KIM"])
            #expect(answer.refusals == ["username:taken"])
        }
    }

    @Test func `an account that was faster`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill()
            try Session().run(
                """
                INSERT INTO accounts (id, email, profile, locale, flow)
                VALUES ('00000000-0000-7000-8000-000000000001', 'kim@example.com', '{}', 'en', 'default@1');
                INSERT INTO identifiers VALUES ('email', 'kim@example.com', '00000000-0000-7000-8000-000000000001')
                """
            )
            let answer = try await kim.commit()
            #expect(answer.status == 409)
            #expect(answer.slug == "identifier-taken")
            #expect(answer.json["field"] == "email")
            #expect(try await kim.send(.get, "/signup").json["state"] == "ready")
        }
    }

    @Test(arguments: [
        ("\"1\"", 412), ("\"2\"", 200), ("*", 200), ("\"1\", \"2\"", 200), ("\"9\"", 412), ("2", 400), ("\"x\"", 412),
        ("W/\"2\"", 412),
        ("", 400),
    ])
    func `a revision that the client insists on`(ifMatch: String, status: Int) async throws {
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
                    let answer = try await kim.send(method, path, bytes: body?.bytes, headers: [.ifMatch: ifMatch])
                    #expect(answer.status == status, "\(method) \(path)")
                }
            }
            let answer = try await kim.put("email", ["email": "kim@example.com"], headers: [.ifMatch: ifMatch])
            #expect(answer.status == status)
            if status == 412 {
                #expect(answer.slug == "stale-revision")
                #expect(answer.json["draft"]?["revision"] == 2)
                #expect(answer.headers[.eTag] == "\"2\"")
            }
        }
    }

    @Test(arguments: ["expired", "superseded"])
    func `a sign-up that is over says why`(reason: String) async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            if reason == "expired" {
                try Session().run("UPDATE drafts SET updated_at = now() - interval '24 hours'")
            } else {
                try await kim.put("email", ["email": "kim@example.com"])
                let faster = site.visitor()
                try await faster.start()
                try await faster.fill()
                #expect(try await faster.commit().status == 201)
            }
            let answer = try await kim.put("email", ["email": "kim@example.com"])
            #expect(answer.status == 410)
            #expect(answer.slug == "draft-expired")
            #expect(answer.json["reason"] == .string(reason))
        }
    }

    @Test func `a sign-up whose key is gone is over, and says how to begin`() async throws {
        let token = try await TestSignups.with { try await $0.signups.start(in: .english).token.text }
        let other = "other:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await TestServer.with(keys: other) { site in
            let kim = site.visitor()
            kim.tokenText = token
            let answer = try await kim.send(.get, "/signup")
            #expect(answer.status == 410)
            #expect(answer.json["reason"] == "unreadable")
            #expect(answer.json["restart"] == ["method": "POST", "href": "/signup"])
            #expect(site.log.lines.contains { $0["level"] == "error" })
            #expect(try await kim.start().status == 201)
        }
    }

    @Test func `a body of unknown names is answered in proportion`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            let body = JSON.object((0..<900).map { JSON.Member("n\($0)", 1) })
            let answer = try await kim.put("email", body)
            #expect(answer.status == 422)
            #expect(answer.refusals.count { $0.hasSuffix(":unknown_field") } == 32)
            #expect(answer.refusals.contains("email:required"))
        }
    }

    @Test func `an error that nobody knows is a plain 500, and the log has its cause`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try Session().run("ALTER TABLE proofs DROP COLUMN failures")
            let answer = try await kim.send(.get, "/signup")
            #expect(answer.status == 500)
            #expect(answer.slug == "internal")
            #expect(!answer.body.contains("42703") && !answer.body.contains("failures"))
            let id = try #require(answer.headers[.requestID])
            #expect(answer.json["request_id"] == .string(id))
            let line = site.log.lines.first { $0["level"] == "error" && $0["request_id"] == .string(id) }
            #expect(line?["error"]?.string?.contains("42703") == true)
        }
    }

    @Test func `a database that is away is 503, and the service is back by itself`() async throws {
        try await Cluster.withRunning { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            try await TestServer.with(conninfo: cluster.conninfo) { site in
                let kim = site.visitor()
                try await kim.start()
                try await cluster.stop()
                let away = try await kim.send(.get, "/signup")
                #expect(away.status == 503)
                #expect(away.slug == "unavailable")
                #expect(away.headers[.retryAfter] != nil)
                let begun = try await kim.start()
                #expect(begun.status == 503)
                #expect(begun.headers[.setCookie] == nil, "no other sign-up hides the one that cannot be read now")
                #expect(try await kim.send(.get, "/health/ready").status == 503)
                #expect(try await kim.send(.get, "/health/live").status == 200)
                try await cluster.start()
                var answer = try await kim.send(.get, "/signup")
                for _ in 0..<100_000 where answer.status == 503 { answer = try await kim.send(.get, "/signup") }
                #expect(answer.status == 200)
                // What goes alone may come back later.
                var ready = try await kim.send(.get, "/health/ready")
                for _ in 0..<100_000 where ready.status == 503 { ready = try await kim.send(.get, "/health/ready") }
                #expect(ready.status == 200)
            }
        }
    }

    @Test func `every answer carries the headers of safety and its id`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            var answers = [
                try await kim.start(), try await kim.send(.get, "/nothing"), try await kim.send(.patch, "/signup"),
            ]
            answers.append(try await kim.put("email", "{"))
            answers.append(try await kim.send(.get, "/health/live"))
            answers.append(try await kim.send(.delete, "/signup"))
            for answer in answers {
                #expect(answer.headers[.cacheControl] == "no-store")
                #expect(answer.headers[.xContentTypeOptions] == "nosniff")
                #expect(answer.headers[.referrerPolicy] == "no-referrer")
                #expect(answer.headers[.requestID]?.isEmpty == false)
                #expect(answer.headers[.server] == nil)
            }
        }
    }

    @Test(arguments: [
        ("a-good-request-id", true), ("short", false), ("with space in it", false), ("a\u{1B}[31mred", false),
    ])
    func `a request id is taken over where it can do no harm`(id: String, isTaken: Bool) async throws {
        try await TestServer.with { site in
            let answer = try await site.visitor().send(.get, "/health/live", headers: [.requestID: id])
            #expect((answer.headers[.requestID] == id) == isTaken)
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
    func `the log has the trace that a request is part of`(parent: String, isTaken: Bool) async throws {
        try await TestServer.with { site in
            let headers: HTTPFields = [.traceParent: parent]
            let answer = try await site.visitor().send(.get, "/health/live", headers: headers)
            #expect(answer.status == 200)
            let line = site.log.lines.first { $0["message"] == "request" }
            #expect(line?["trace_id"] == (isTaken ? "0af7651916cd43dd8448eb211c80319c" : nil))
        }
    }
}

extension String {
    /// Without the seconds that are left, which go by.
    fileprivate var dropExpiry: Substring { self[..<(range(of: "\"expires_in\"")?.lowerBound ?? endIndex)] }
}
