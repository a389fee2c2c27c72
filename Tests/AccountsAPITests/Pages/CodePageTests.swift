import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The page of the code", .freshDatabase)
struct CodePageTests {
    @Test func `the title of a code that was entered does not ask for it`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let asking = try await kim.fill(through: "email")
            #expect(asking.path == "/signup/code" && asking.has(">Check your email</h1>"))
            _ = try await kim.fill(through: "code")
            #expect(try await kim.open("/signup/code").has(">Email verification</h1>"))
        }
    }

    @Test func `a code that was entered with the last guess is not used up`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            try DatabaseSession().run("UPDATE proofs SET attempts = 4")
            _ = try await kim.fill(through: "code")
            let page = try await kim.open("/signup/code")
            #expect(
                page.has(">kim@example.com</bdi>: Confirmed") && !page.has("aria-invalid")
                    && !page.has("Send a new code")
            )
        }
    }

    @Test func `a form with the accepted code can be sent again, and one with another code is refused`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "code")
            let code = try await site.service.readCode(for: "kim@example.com")
            #expect(try await kim.post("/signup/code", "code=\(code)").path == "/signup/password")
            let wrong = code == "000000" ? "000001" : "000000"
            let refused = try await kim.post("/signup/code", "code=\(wrong)")
            #expect(refused.status == 422 && refused.path == "/signup/code")
            #expect(refused.has(">kim@example.com</bdi>: Confirmed") && refused.has(">That code isn&#39;t right.</p>"))
            #expect(try await kim.post("/signup/code", "code=").status == 422)
            #expect(try await kim.open("/signup").path == "/signup/password")
        }
    }

    @Test func `a new code can be requested from the page`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            let early = try await kim.post("/signup/code/resend")
            #expect(early.headers[.retryAfter] != nil)
            #expect(early.status == 429 && early.has("just sent an email") && early.has("name=\"code\""))
            try DatabaseSession().letPass("2 minutes")
            let sent = try await kim.post("/signup/code/resend")
            #expect(sent.path == "/signup/code?sent" && sent.has("class=\"news\" role=\"status\">We sent a new code.<"))
            #expect(try await !kim.open("/signup/code").has("We sent a new code."))
        }
    }

    @Test(arguments: [
        ("en", "This code has expired. Get a new code."), ("ko", "인증 코드가 만료되었습니다. 새 인증 코드를 받아 주세요."),
    ])
    func `the main button of an expired code asks for another one`(language: String, text: String) async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site, language: language)
            let asking = try await kim.fill(through: "email")
            #expect(asking.has("class=\"sent-to\"") && !asking.has("form=\"resend\""))
            try DatabaseSession().run("UPDATE proofs SET expires_at = now()")
            let page = try await kim.open("/signup/code")
            #expect(page.has(">\(text)</p>") && page.has(" disabled required aria-invalid=\"true\""))
            #expect(page.has("<button class=\"main\" form=\"resend\">") && !page.has("<button class=\"main\">"))
            #expect(!page.has("data-until=") && !page.has("class=\"sent-to\""))
            try DatabaseSession().letPass("2 minutes")
            let sent = try await kim.post("/signup/code/resend")
            #expect(sent.has("<button class=\"main\">") && sent.has("class=\"sent-to\"") && !sent.has("aria-invalid"))
        }
    }

    @Test func `a code for an address that was changed in another tab is no guess at the code of the new one`()
        async throws
    {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let first = try await kim.fill(through: "email", email: "kim@example.com")
            let field = #/name="address.mark" value="([\w-]{16})"/#
            let mark = try #require(first.html.firstMatch(of: field)).1
            let code = try await site.service.readCode(for: "kim@example.com")
            let second = try await kim.post("/signup/email", "email=lee%40example.com")
            let newMark = try #require(second.html.firstMatch(of: field)).1
            #expect(mark != newMark)

            let stale = try await kim.post("/signup/code", "address.mark=\(mark)&code=\(code)")
            #expect(stale.path == "/signup/code?other-address" && stale.has("<strong>lee@example.com</strong>"))
            #expect(stale.has("The email address was changed in another window"))
            let attempts = { try DatabaseSession().query("SELECT attempts FROM proofs").only.decode(Int.self) }
            #expect(try attempts() == 0)
            let wrong = try await site.service.readCode(for: "lee@example.com") == "000000" ? "000001" : "000000"
            let guess = try await kim.post("/signup/code", "address.mark=\(newMark)&code=\(wrong)")
            #expect(guess.status == 422 && guess.has("4 attempts left"))
            #expect(try attempts() == 1)
            let right = try await site.service.readCode(for: "lee@example.com")
            let page = try await kim.post("/signup/code", "address.mark=\(newMark)&code=\(right)")
            #expect(page.path == "/signup/password")
        }
    }

    @Test func `the script learns that the form is for another address`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": "kim@example.com"])
            let answer = try await kim.put("code", ["code": "000000", "address.mark": "AAAAAAAAAAAAAAAA"])
            #expect(answer.status == 412 && answer.slug == "stale-revision")
            #expect(try DatabaseSession().query("SELECT attempts FROM proofs").only.decode(Int.self) == 0)
        }
    }

    @Test(arguments: [
        ("en", "Too many incorrect codes. Get a new code."), ("ko", "인증 코드 입력 횟수를 초과했습니다. 새 인증 코드를 받아 주세요."),
    ])
    func `the last wrong code says what to do, also when the page is opened again`(language: String, text: String)
        async throws
    {
        try await TestServer.with { site in
            let kim = PageVisitor(site, language: language)
            var page = try await kim.fill(through: "email")
            #expect(page.has("data-until="))
            let right = try await site.service.readCode(for: "kim@example.com")
            for _ in 1...5 {
                page = try await kim.post("/signup/code", "code=\(right == "000000" ? "000001" : "000000")")
            }
            #expect(page.status == 422 && page.has(">\(text)</p>") && !page.has("data-until="))
            page = try await kim.open("/signup/code")
            #expect(page.status == 200 && page.has(">\(text)</p>") && !page.has("data-until="))
            #expect(page.has("action=\"/signup/code/resend\""))
        }
    }

    @Test func `going back to a former address too early says when it is possible, as JSON does`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email", email: "kim@example.com")
            _ = try await kim.post("/signup/email", "email=lee%40example.com")
            let page = try await kim.post("/signup/email", "email=kim%40example.com")
            let wait = try #require(page.headers[.retryAfter])
            #expect(page.status == 429 && page.has("You can get another one in \(wait) sec."))

            let program = site.visitor()
            try await program.start()
            try await program.put("email", ["email": "ann@example.com"])
            let early = try await program.send(.post, "/signup/code/resend")
            let seconds = try #require(early.headers[.retryAfter])
            #expect(early.json["message"]?.string?.hasSuffix("You can get another one in \(seconds) sec.") == true)
        }
    }

    @Test func `a page that can request no more codes mentions the link in the mail`() async throws {
        let limits = Limits(byName: [.mailsToAddressFromNetwork: Limit(1, per: .seconds(3600))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            let code = try await site.service.readCode(for: "kim@example.com")
            let wrong = code == "000000" ? "000001" : "000000"
            try DatabaseSession().letPass("2 minutes")
            let page = try await kim.post("/signup/code/resend")
            #expect(page.status == 429 && page.has("use its link to get a new one") && page.has("name=\"code\""))
            #expect(!page.has("action=\"/signup/code/resend\"") && !page.has(">Next</button>"), "only the link helps")
            for _ in 1...5 { _ = try await kim.post("/signup/code", "code=\(wrong)") }
            let usedUp = try await kim.post("/signup/code/resend")
            #expect(usedUp.status == 429 && !usedUp.has("form=\"resend\""), "no button without its form")
            let other = PageVisitor(site)
            let address = try await other.fill(through: "email")
            #expect(address.status == 429 && address.has(">Next</button>"), "another address can still be typed")
        }
    }
}
