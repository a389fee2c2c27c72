import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Refused requests", .freshDatabase)
struct ProblemTests {
    @Test(arguments: [
        ("text/css", 406), ("application/json;q=0", 406), ("image/*, text/html", 303), ("*/*", 201),
        ("text/html, application/json;q=0.1", 303), ("application/*", 201), ("text/html, application/json", 201),
        ("text/html;q=0.5, */*;q=0.4", 303), ("text/*", 303), ("*/*, application/json;q=0.0", 303),
    ])
    func `the Accept header selects the representation of the response`(accept: String, status: Int) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.post, "/signup", headers: [.accept: accept])
            #expect(response.status == status)
            if status == 406 {
                #expect(response.slug == "not-acceptable")
                let detail = "No representation of this resource matches Accept. Use application/json or text/html."
                #expect(response.json["detail"] == .string(detail))
            }
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
                let detail = response.json["detail"]?.string
                #expect(detail?.hasSuffix("The member \"draft\" contains the current state.") == true)
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
}

extension String {
    /// The text before the remaining seconds, which change between two requests.
    fileprivate var dropExpiry: Substring { self[..<(range(of: "\"expires_in\"")?.lowerBound ?? endIndex)] }
}
