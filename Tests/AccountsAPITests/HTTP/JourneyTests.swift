import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The whole sign-up", .freshDatabase)
struct JourneyTests {
    @Test(arguments: TestServer.Mode.allCases, Visitor.Transport.allCases)
    func `a person signs up`(mode: TestServer.Mode, transport: Visitor.Transport) async throws {
        try await TestServer.with(mode) { site in
            let kim = site.visitor(transport)
            let started = try await kim.start()
            #expect(started.status == 201)
            #expect(started.headers[.location] == "/signup")
            #expect(started.headers[.eTag] == "\"1\"")
            #expect(started.json["state"] == "open")
            #expect(started.json["flow"] == "default@1")
            #expect(started.nextStep == "email")
            #expect(started.states == ["current", "locked", "locked", "locked", "locked", "locked", "locked"])
            #expect(
                started.missing == ["email", "code", "password", "confirmation", "username", "birth_date", "terms"]
            )
            #expect((started.json["token"] == nil) == (transport == .cookie))
            #expect((started.headers[.setCookie] == nil) == (transport == .bearer))

            let email = try await kim.put("email", ["email": "Kim@Example.com"])
            #expect(email.status == 200)
            #expect(email.json["values"] == ["email": "kim@example.com"])
            #expect(email.nextStep == "code")
            #expect(email.json["progress"] == ["done": 1, "total": 6])

            let code = try await site.service.readCode(for: "kim@example.com")
            let proved = try await kim.put("code", ["code": .string(code)])
            #expect(proved.json["values"]?["code"] == ["verified": true])

            let password: JSON = ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
            #expect(try await kim.put("password", password).json["values"]?["password"] == ["set": true])
            let profile = try await kim.put("profile", ["username": "Kim.1", "display_name": "킴"])
            #expect(profile.json["values"]?["username"] == "kim.1")
            let contact = try await kim.put("contact", ["birth_date": "2001-02-28"])
            #expect(contact.json["values"]?["birth_date"] == ["set": true])
            #expect(contact.json["state"] == "open")
            #expect(contact.nextStep == "totp")
            #expect(try await kim.put("totp", [:]).nextStep == "terms")
            let terms = try await kim.put("terms", ["terms": true])
            #expect(terms.json["state"] == "ready")
            #expect(terms.nextStep == "review")
            #expect(terms.missing.isEmpty)
            #expect(terms.headers[.eTag] == "\"8\"")

            let review = try await kim.send(.get, "/signup/review")
            #expect(review.json["values"]?["birth_date"] == "2001-02-28")
            #expect(review.json["values"]?["password"] == ["set": true])
            #expect(review.json["values"]?["terms"]?["accepted"] == true)

            let committed = try await kim.commit()
            #expect(committed.status == 201)
            let account = committed.json["account"]
            #expect(account?["email"] == "kim@example.com")
            #expect(account?["username"] == "kim.1")
            #expect(account?["display_name"] == "킴")

            let repeated = try await kim.commit()
            #expect(repeated.status == 200)
            #expect(repeated.body == committed.body)
            let after = try await kim.send(.get, "/signup")
            #expect(after.json["state"] == "committed")
            #expect(after.json["account"] == account)
            #expect(try await kim.put("terms", ["terms": true]).slug == "already-committed")
            #expect(try await kim.send(.delete, "/signup").slug == "already-committed")

            let row = try DatabaseSession().query("SELECT count(*) FROM accounts WHERE email = 'kim@example.com'")
            #expect(try row.only.decode(Int.self) == 1)

            let again = try await kim.start()
            #expect(again.status == 201)
            #expect(again.json["id"] != started.json["id"])
        }
    }

    @Test func `a start with the token of a live draft continues the draft`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            let started = try await kim.start()
            let resumed = try await kim.start()
            #expect(resumed.status == 200)
            #expect(resumed.json["id"] == started.json["id"])
            #expect(resumed.headers[.setCookie] == nil)
        }
    }

    @Test func `a change of the address clears its verification, which must be repeated`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill()
            let moved = try await kim.put("email", ["email": "kim@example.org"])
            #expect(moved.json["cleared"] == ["code"])
            #expect(moved.nextStep == "code")
            #expect(moved.missing == ["code"])
            #expect(moved.states == ["complete", "current", "locked", "locked", "locked", "locked", "locked"])
            #expect(try await kim.put("email", ["email": "kim@example.com"]).slug == "rate-limited")
            try DatabaseSession().letPass("1 minute")
            let back = try await kim.put("email", ["email": "kim@example.com"])
            #expect(back.nextStep == "code")
            #expect(try await kim.commit().slug == "incomplete")
            let code = try await site.service.readCode(for: "kim@example.com")
            #expect(try await kim.put("code", ["code": .string(code)]).json["state"] == "ready")
            #expect(try await kim.commit().status == 201)
        }
    }

    @Test func `a step describes its fields with their values and the wait for a new code`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start(locale: "ko")
            let email = try await kim.send(.get, "/signup/email")
            #expect(email.json["title"] == "이메일")
            #expect(email.json["state"] == "current")
            guard case .array(let fields)? = email.json["fields"] else {
                Issue.record("the step has no fields")
                return
            }
            #expect(fields.map { $0["kind"] } == ["email"])
            #expect(fields.map { $0["value"] } == [.null])
            try await kim.put("email", ["email": "kim@example.com"])
            let code = try await kim.send(.get, "/signup/code")
            guard case .integer(let wait)? = code.json["resend_after"] else {
                Issue.record("the step has no resend_after")
                return
            }
            #expect((1...60).contains(wait))
            #expect(code.json["code_expires_at"]?.string != nil)
        }
    }

    @Test func `a Korean sign-up gets messages and mails in Korean`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(headers: [.acceptLanguage: "de, ko;q=0.8, en;q=0.5"])
            try await kim.start()
            let refused = try await kim.put("email", ["email": "nobody"])
            guard case .array(let errors)? = refused.json["errors"], let message = errors[0]["message"]?.string else {
                Issue.record("the refusal has no message")
                return
            }
            #expect(message.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) })
            try await kim.put("email", ["email": "kim@example.com"])
            try await site.service.deliver()
            let mail = try #require(site.service.mailbox.mails.last)
            #expect(mail.subject.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) })
        }
    }

    @Test func `DELETE clears a step or cancels the sign-up`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "profile")
            let cleared = try await kim.send(.delete, "/signup/profile")
            #expect(cleared.status == 200)
            #expect(cleared.nextStep == "profile")
            #expect(cleared.json["values"]?["username"] == nil)
            let cancelled = try await kim.send(.delete, "/signup")
            #expect(cancelled.status == 204)
            #expect(cancelled.headers[.setCookie]?.contains("Max-Age=0") == true)
            let gone = try await kim.send(.get, "/signup")
            #expect(gone.status == 410)
            #expect(gone.json["reason"] == "cancelled")
            #expect(gone.json["restart"] == ["method": "POST", "href": "/signup"])
        }
    }

    @Test func `a code is sent again after a minute, and not before`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": "kim@example.com"])
            let early = try await kim.send(.post, "/signup/code/resend")
            #expect(early.status == 429)
            #expect(early.slug == "rate-limited")
            let wait: Int = try #require(Int(early.headers[.retryAfter] ?? ""))
            #expect((1...60).contains(wait))
            #expect(early.headers[.rateLimitPolicy] == "\"resend\";q=1;w=60")
            #expect(early.headers[.rateLimit] == "\"resend\";r=0;t=\(wait)")
            let first = try await site.service.readCode(for: "kim@example.com")
            try DatabaseSession().letPass("1 minute")
            let sent = try await kim.send(.post, "/signup/code/resend")
            #expect(sent.status == 202)
            #expect(sent.json == ["resend_after": 60])
            let second = try await site.service.readCode(for: "kim@example.com")
            if first != second { #expect(try await kim.put("code", ["code": .string(first)]).status == 422) }
            #expect(try await kim.put("code", ["code": .string(second)]).status == 200)
            #expect(try await kim.send(.post, "/signup/email/resend").status == 404)
        }
    }

    @Test func `the accepted code can be submitted again, and any other code is refused`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start(locale: "en")
            let proved = try await kim.fill(through: "code")
            let code = try await site.service.readCode(for: "kim@example.com")
            let refused = try await kim.put("code", ["code": .string(code == "000000" ? "000001" : "000000")])
            #expect(refused.status == 422 && refused.refusals == ["code:code_wrong"])
            guard case .array(let errors)? = refused.json["errors"] else {
                Issue.record("no errors: \(refused.body)")
                return
            }
            #expect(errors.map { $0["params"] } == [.object([])])
            #expect(errors.map { $0["message"] } == ["That code isn't right."])
            let again = try await kim.put("code", ["code": .string(code)])
            #expect(again.status == 200 && again.json["revision"] == proved.json["revision"])
        }
    }
}
