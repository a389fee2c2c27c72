import Accounts
import Foundation
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import accounts_api

@Suite("The pages", .freshDatabase)
struct PageTests {
    @Test(arguments: TestServer.Mode.allCases)
    func `a person without script signs up`(mode: TestServer.Mode) async throws {
        try await TestServer.with(mode) { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            #expect(first.status == 200 && first.has("Sign up for Acme") && first.headers[.setCookie] == nil)
            #expect(first.has("name=\"email\"") && first.has("type=\"email\"") && first.has("1 / 7"))
            var page = try await kim.post("/signup", first.hidden + "&email=kim%40example.com")
            #expect(page.path == "/signup/code" && page.has("<strong>kim@example.com</strong>"))
            page = try await kim.post("/signup/code", "code=\(try await site.service.readCode(for: "kim@example.com"))")
            #expect(page.path == "/signup/password")
            page = try await kim.post(
                "/signup/password",
                "password=a+pass+phrase+of+mine&confirmation=a+pass+phrase+of+mine"
            )
            #expect(page.path == "/signup/profile")
            page = try await kim.post("/signup/profile", "username=kim&display_name=&introduction=a%0D%0Ab")
            #expect(page.path == "/signup/contact")
            page = try await kim.post("/signup/contact", "phone=&birth_date=2001-02-28")
            #expect(page.path == "/signup/totp" && page.has("<svg") && page.has("otpauth://"))
            page = try await kim.post("/signup/totp")
            #expect(page.path == "/signup/terms")
            page = try await kim.post("/signup/terms", "terms=on")
            #expect(page.path == "/signup/review" && page.has("February 28, 2001") && page.has("Create account"))
            page = try await kim.post("/signup/commit")
            #expect(page.path == "/signup" && page.has("Your account is ready") && page.has("kim@example.com"))
            #expect(try await kim.open("/signup/profile").path == "/signup")
            #expect(try await kim.post("/signup/commit").has("Your account is ready"))
            #expect(try count("accounts") == 1)
        }
    }

    @Test func `a refused value is shown again with its error, but a refused password is not`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "code")
            let page = try await kim.post("/signup/password", "password=short+one&confirmation=another+one")
            #expect(page.status == 422 && page.path == "/signup/password")
            #expect(page.has("<p class=\"refusal\" id=\"field-password-refusal\">Use at least 15 characters.</p>"))
            #expect(page.has("The passwords don&#39;t match.") && page.has("aria-invalid=\"true\""))
            #expect(!page.has("short") && !page.has("another one"))
            _ = try await kim.post(
                "/signup/password",
                "password=a+pass+phrase+of+mine&confirmation=a+pass+phrase+of+mine"
            )
            let profile = try await kim.post("/signup/profile", "username=9&display_name=%3Cb%3E%22Kim%27")
            #expect(profile.status == 422 && profile.has("value=\"9\""))
            #expect(profile.has("value=\"&lt;b&gt;&quot;Kim&#39;\""))
        }
    }

    @Test func `the fields show the saved values, and a change leads back to the review`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            #expect(try await kim.open("/signup/email").has("value=\"kim@example.com\""))
            #expect(try await kim.open("/signup/code").has("Verification code: Confirmed"))
            let password = try await kim.open("/signup/password")
            #expect(password.has("Keep current password") && !password.has("pass phrase"))
            #expect(try await kim.open("/signup/contact").has("value=\"010-1234-5678\""))
            #expect(try await kim.open("/signup/terms").has("name=\"terms\" type=\"checkbox\" checked"))
            // After a change the person is back at the review.
            let changed = try await kim.post("/signup/profile", "username=kim&display_name=K&introduction=")
            #expect(changed.path == "/signup/review" && changed.has("<dd>K</dd>"))
        }
    }

    @Test func `a required consent that is not ticked gets the same message with and without script`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "totp")
            // A browser omits a box that is not ticked; the script sends `false`.
            for form in ["", "terms=false"] {
                let page = try await kim.post("/signup/terms", form)
                #expect(page.status == 422 && page.has(">Check this box to continue.</p>"))
            }
        }
    }

    @Test(arguments: [
        ("en", ["Read the details: Terms of use", "Read the details: News and offers by email"]),
        ("ko", ["이용약관 내용 보기", "마케팅 정보 이메일 수신 내용 보기"]),
    ])
    func `what opens the document of a consent names the consent`(language: String, texts: [String]) async throws {
        try await TestServer.with { site in
            let terms = try await PageVisitor(site, language: language).fill(through: "totp")
            let links = terms.html.matches(of: /<summary>(.*)<\/summary>\n<p class="document">/).map { String($0.1) }
            #expect(links == texts)
        }
    }

    @Test func `the review shows what can be checked, and says what was not accepted or not provided`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let review = try await kim.fill(through: "terms")
            #expect(review.path == "/signup/review")
            // Nothing can be changed at a code that was confirmed.
            #expect(
                review.has("href=\"/signup/email?review\" aria-label=\"Change")
                    && !review.has("href=\"/signup/code?review\"")
            )
            #expect(review.has("<h2>Email verification</h2>") && review.has("<dt>Authenticator app</dt><dd>Off</dd>"))
            for text in ["010-1234-5678", "February 28, 2001", "Agreed", "Not agreed", "Not provided"] {
                #expect(review.has("<dd>\(text)</dd>"), "\(text)")
            }
        }
    }

    @Test func `a step that is opened from the review leads back to it`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            #expect(try await kim.open("/signup/profile?review").has("href=\"/signup/review\" data-back"))
            #expect(try await kim.open("/signup/profile").has("href=\"/signup/password\" data-back"))
        }
    }

    @Test func `the title of a code that was entered does not ask for it`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let asking = try await kim.fill(through: "email")
            #expect(asking.path == "/signup/code" && asking.has(">Check your email</h1>"))
            _ = try await kim.fill(through: "code")
            #expect(try await kim.open("/signup/code").has(">Email verification</h1>"))
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
            #expect(refused.has("Verification code: Confirmed") && refused.has(">That code isn&#39;t right.</p>"))
            #expect(try await kim.post("/signup/code", "code=").status == 422)
            #expect(try await kim.open("/signup").path == "/signup/password")
        }
    }

    @Test func `the page of a locked step redirects to the current step`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.post("/signup", "locale=en")
            for path in ["/signup", "/signup/terms", "/signup/password"] {
                #expect(try await kim.open(path).path == "/signup/email")
            }
            #expect(try await kim.post("/signup/commit").path == "/signup/email")
            #expect(try await kim.open("/signup/review").has("Some answers are still missing."))
        }
    }

    @Test func `a page without a sign-up says so and offers to start one`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            for page in [
                try await kim.open("/signup/email"), try await kim.post("/signup/email", "email=a%40b.example"),
            ] {
                #expect(page.status == 401 && page.has("allow cookies") && page.has("action=\"/signup\""))
            }
            #expect(try await kim.open("/signup/nothing").status == 404)
            #expect(try await kim.open("/nowhere").has("Page not found"))
            for path in ["/", "/signup/"] {
                let first = try await kim.open(path)
                #expect(
                    first.status == 200 && first.has("action=\"/signup\"") && !first.has("allow cookies"),
                    "\(path)"
                )
            }
        }
    }

    @Test func `a sign-up is cancelled after a confirmation`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            let question = try await kim.open("/signup/cancel")
            #expect(question.has("Cancel sign-up?") && question.has("action=\"/signup/cancel\""))
            #expect(try await kim.open("/signup").path == "/signup/code", "the question changes nothing")
            let end = try await kim.post("/signup/cancel")
            #expect(end.path == "/signup?given-up" && end.status == 200 && end.has("Sign-up canceled"))
            #expect(try count("drafts") == 0)
            #expect(try await kim.post("/signup", "locale=en").path == "/signup/email")
        }
    }

    @Test func `the page of an expired sign-up says that it has expired`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            try DatabaseSession().letPass("25 hours")
            let page = try await kim.open("/signup/code")
            #expect(page.status == 410 && page.has("Your sign-up has expired") && page.has("action=\"/signup\""))
        }
    }

    @Test(
        arguments: [
            ("\u{600}<b>", "\u{600}&lt;b&gt;"), ("\u{D4E}<b>", "\u{D4E}&lt;b&gt;"), ("x\"\u{301}", "x&quot;\u{301}"),
            ("x>\u{301}", "x&gt;\u{301}"), ("x'\u{301}", "x&#39;\u{301}"),
        ]
    )
    func `typed text is escaped, also next to combining marks`(text: String, escaped: String) async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "password")
            let typed = text.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            _ = try await kim.post("/signup/profile", "username=kim&display_name=\(typed)&introduction=\(typed)")
            for path in ["/signup/profile", "/signup/review"] {
                let html = try await kim.open(path).html
                // The test searches bytes, because a search by characters would not find a sign next to a mark.
                #expect(Data(html.utf8).range(of: Data(text.utf8)) == nil)
                #expect(Data(html.utf8).range(of: Data(escaped.utf8)) != nil)
            }
        }
    }

    @Test func `a skipped authenticator can be set up later`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            let page = try await kim.open("/signup/totp")
            #expect(page.has("<button class=\"main\">Next</button>") && page.has("Skip for now"))
        }
    }

    @Test func `the page of the authenticator explains it before the picture, and says that it is optional`()
        async throws
    {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let page = try await kim.fill(through: "contact")
            #expect(page.has("This is optional: you can also set it up later."))
            #expect(page.has("<div class=\"qr\" role=\"img\" aria-label=\"QR code for your authenticator app\">"))
            #expect(
                page.html.firstMatch(of: /id="field-totp-help".*<svg.*id="field-totp-key"/.dotMatchesNewlines()) != nil
            )
        }
    }

    @Test func `the title of a refused step says so`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            #expect(try await kim.post("/signup", "locale=en").has("<title>What&#39;s your email address?"))
            let refused = try await kim.post("/signup/email", "email=kim")
            #expect(refused.status == 422 && refused.has("<title>Error: What&#39;s your email address?"))
        }
    }

    @Test func `fields tell phones what to capitalize and what the Enter key does`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let page = try await kim.fill(through: "password")
            for (name, traits) in [
                ("username", "autocapitalize=\"none\" spellcheck=\"false\""),
                ("display_name", "autocapitalize=\"words\" spellcheck=\"false\""),
            ] {
                let control = try #require(page.html.split(separator: "\n").first { $0.contains("name=\"\(name)\"") })
                #expect(control.contains(traits) && control.contains("enterkeyhint=\"done\""), "\(name)")
            }
            #expect(page.has("rows=\"4\" autocapitalize=\"sentences\""))
        }
    }

    @Test func `recovery codes are shown until the person has saved them`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let page = try await kim.fill(through: "contact")
            let secret = try #require(page.html.firstMatch(of: /secret=([A-Z2-7]+)/)).1
            let time = try Date(#require(page.html.firstMatch(of: /data-now="([^"]+)"/)).1, strategy: .iso8601)
            let code = TOTP.code(String(secret).base32Bytes, step: TOTP.timeStep(at: time))
            let codes = try await kim.post("/signup/totp", "totp=\(code)")
            #expect(codes.path == "/signup/totp" && codes.has("<h1>Recovery codes</h1>"))
            #expect(codes.has("class=\"languages\""), "the codes are still there after a switch")
            #expect(codes.has("action=\"/signup/totp/saved\"") && codes.has("data-account=\"kim@example.com\""))
            let shown = codes.html.matches(of: /<li><code>([^<]+)/).map { $0.1 }
            #expect(shown.count == 10)
            let repeated = try await kim.post("/signup/totp", "totp=\(code)")
            let pages = [
                repeated, try await kim.open("/signup/totp"), try await kim.open("/signup"),
                try await kim.open("/signup/review"), try await kim.post("/signup/commit"),
            ]
            for page in pages {
                #expect(page.path == "/signup/totp")
                #expect(page.html.matches(of: /<li><code>([^<]+)/).map { $0.1 } == shown)
            }
            #expect(try await kim.post("/signup/totp/saved").path == "/signup/terms")
            #expect(try await kim.post("/signup/totp/saved").path == "/signup/terms", "the form can be sent again")
            let done = try await kim.open("/signup/totp")
            #expect(done.has("Authenticator app is on") && !done.has("Skip for now"))
            #expect(!done.has(String(shown[0])))
        }
    }

    @Test func `a program gets the recovery codes only once, also while a page shows them`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "contact")
            let code = kim.code(of: try await kim.send(.get, "/signup/totp"))
            let enrolled = try await kim.put("totp", ["totp": .string(code)])
            let codes = enrolled.strings("recovery_codes")
            #expect(codes.count == 10)
            for path in ["/signup", "/signup/totp", "/signup/review"] {
                let body = try await kim.send(.get, path).body
                #expect(!codes.contains { body.contains($0) }, "\(path)")
            }
        }
    }

    @Test func `a finished authenticator is set up again or removed`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            var page = try await kim.fill(through: "contact")
            for (form, next) in [("", "/signup/totp"), ("skip=yes", "/signup/terms")] {
                let secret = try #require(page.html.firstMatch(of: /secret=([A-Z2-7]+)/)).1
                let time = try Date(#require(page.html.firstMatch(of: /data-now="([^"]+)"/)).1, strategy: .iso8601)
                let code = TOTP.code(String(secret).base32Bytes, step: TOTP.timeStep(at: time))
                _ = try await kim.post("/signup/totp", "totp=\(code)")
                _ = try await kim.post("/signup/totp/saved")
                let done = try await kim.open("/signup/totp")
                #expect(done.has("its recovery codes will stop working") && done.has("action=\"/signup/totp/remove\""))
                page = try await kim.post("/signup/totp/remove", form)
                #expect(page.path == next)
            }
            #expect(try await kim.open("/signup/totp").has("<svg"))
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
        ("en", "Too many wrong codes. Get a new one."), ("ko", "인증 코드 입력 횟수를 초과했습니다. 새 인증 코드를 받아 주세요."),
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

    @Test(arguments: [
        ("/signup/code/resend", "/signup/code"), ("/signup/handoff", "/signup"), ("/signup/commit", "/signup"),
        ("/signup/totp/saved", "/signup/totp"), ("/signup/code/check", "/signup/code"),
        ("/recovery/code/resend", "/recovery/code"), ("/recovery/commit", "/recovery"),
        ("/email-change/code/resend", "/email-change/code"), ("/account/sign-out", "/account"),
        ("/session/ticket/redeem", "/session/ticket"),
    ])
    func `a browser that opens the path of a form is led to its page, and a program learns the methods`(
        path: String,
        page: String
    ) async throws {
        try await TestServer.with { site in
            let opened = try await PageVisitor(site).send(.get, path)
            #expect(opened.status == 303 && opened.headers[.location] == page)
            let program = try await site.visitor().send(.get, path)
            #expect(program.status == 405 && program.headers[.allow] == "POST")
        }
    }

    @Test func `going back to a former address too early says when it is possible, as JSON does`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email", email: "kim@example.com")
            _ = try await kim.post("/signup/email", "email=lee%40example.com")
            let page = try await kim.post("/signup/email", "email=kim%40example.com")
            let wait = try #require(page.headers[.retryAfter])
            #expect(page.status == 429 && page.has("You can get another one in \(wait) s."))

            let program = site.visitor()
            try await program.start()
            try await program.put("email", ["email": "ann@example.com"])
            let early = try await program.send(.post, "/signup/code/resend")
            let seconds = try #require(early.headers[.retryAfter])
            #expect(early.json["message"]?.string?.hasSuffix("You can get another one in \(seconds) s.") == true)
        }
    }

    @Test func `the last page shows the account only to its session`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            #expect(try await kim.post("/signup/commit").has("kim@example.com"))
            _ = try await kim.post("/account/sign-out")
            let page = try await kim.open("/signup")
            #expect(page.has("What&#39;s your email address?") && !page.has("kim@example.com"))
        }
    }

    @Test func `search engines list the first page only, whose title names the service once`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            #expect(first.has("? · Acme</title>") && first.has("<p>Sign up for Acme</p>") && !first.has("noindex"))
            #expect(first.has("<meta name=\"description\" content=\"Create your account in a few steps.\">"))
            let step = try await kim.post("/signup", "locale=en")
            #expect(step.has(" · Acme</title>") && step.has("<meta name=\"robots\" content=\"noindex\">"))
            #expect(try await kim.open("/nowhere").has("noindex"))
            #expect(try await !kim.open("/sign-in").has("noindex"))
        }
    }

    @Test func `a program that accepts anything, such as a link preview, gets JSON`() async throws {
        try await TestServer.with { site in
            let preview = try await site.send(.get, "/signup", bytes: nil, [.accept: "*/*"])
            #expect(preview.status == 401 && preview.headers[.contentType] == "application/problem+json")
        }
    }

    @Test func `a page that tells news is not an error`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            let cancelled = try await kim.post("/signup/cancel")
            #expect(cancelled.has("class=\"news\" role=\"status\">Sign-up canceled."))
            let missing = try await kim.open("/signup/email")
            #expect(missing.has("class=\"notice\" role=\"alert\">You have no sign-up in progress"))
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
            #expect(page.status == 429 && page.has("its link sends you a new one") && page.has("name=\"code\""))
            #expect(!page.has("action=\"/signup/code/resend\"") && !page.has(">Next</button>"), "only the link helps")
            for _ in 1...5 { _ = try await kim.post("/signup/code", "code=\(wrong)") }
            let usedUp = try await kim.post("/signup/code/resend")
            #expect(usedUp.status == 429 && !usedUp.has("form=\"resend\""), "no button without its form")
            let other = PageVisitor(site)
            let address = try await other.fill(through: "email")
            #expect(address.status == 429 && address.has(">Next</button>"), "another address can still be typed")
        }
    }

    @Test func `a person without script continues the sign-up on another device`() async throws {
        try await TestServer.with { site in
            let desk = PageVisitor(site)
            _ = try await desk.fill(through: "code")
            #expect(try await desk.post("/signup/handoff").has("Check your email"))
            let phone = PageVisitor(site, language: "ko")
            let link = try await site.link()
            let code = site.code(in: link)
            #expect(try await phone.open("/signup/resume").has("이메일로 받은 코드"))
            let page = try await phone.post("/signup/resume", "code=\(code)")
            #expect(page.status == 200 && page.has("k•••@example.com") && page.has("여기에서 계속하기"))
            #expect(!page.has("완료하지 않은 다른 가입"))
            #expect(try await desk.open("/signup").status == 200, "the question changes nothing")
            let short = try await phone.post("/signup/resume", "code=short")
            #expect(short.status == 422 && short.has("name=\"code\"") && short.has("코드를 빠짐없이 입력해 주세요."))
            let attempt = try #require(page.html.firstMatch(of: /name="confirmed" value="([\w-]{24})"/)).1
            for _ in 1...2 {
                let moved = try await phone.post("/signup/resume", "code=\(code)&confirmed=\(attempt)")
                #expect(moved.path == "/signup/password", "the form can be sent again if its answer is lost")
            }
            let used = try await phone.post("/signup/resume", "code=\(code)&confirmed=yes")
            #expect(used.status == 422 && used.has("만료되었거나 이미 사용한"))
            let here = try await phone.post("/signup/resume", "code=\(code)")
            #expect(here.path == "/signup/password", "the sign-up goes on in this browser")
            let typo = try await PageVisitor(site).post("/signup/resume", "code=\(code)")
            #expect(typo.status == 422 && typo.has("name=\"code\"") && typo.has("href=\"/sign-in\""))
            let old = try await desk.open("/signup")
            #expect(
                old.status == 410
                    && old.has("signing up with this email address in another browser or on another device")
            )
            #expect(old.has("class=\"news\" role=\"status\""))
        }
    }

    @Test func `a link of another sign-up replaces the one of this browser only after a warning`() async throws {
        try await TestServer.with { site in
            let stranger = PageVisitor(site)
            _ = try await stranger.fill(through: "password", email: "stranger@example.org")
            _ = try await stranger.post("/signup/handoff")
            let code = try await site.linkCode()
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "code")
            let page = try await kim.post("/signup/resume", "code=\(code)")
            #expect(page.has("s•••@example.org") && page.has("You have another unfinished sign-up in this browser"))
            #expect(try await kim.open("/signup").path == "/signup/password", "nothing has changed")
            // The move has removed the stranger's password, so the next step is the password and not the profile.
            let moved = try await kim.post("/signup/resume", "code=\(code)&confirmed=yes")
            #expect(moved.path == "/signup/password")
        }
    }

    @Test func `the commit reports an address that was taken meanwhile`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            try DatabaseSession().run(
                """
                INSERT INTO accounts (id, email, profile, locale, flow) VALUES (gen_random_uuid(), 'x', '{}', 'en', 'x@1');
                INSERT INTO identifiers SELECT 'email', 'kim@example.com', id FROM accounts
                """
            )
            let page = try await kim.post("/signup/commit")
            #expect(
                page.status == 409 && page.has("Another account already uses this")
                    && page.has("href=\"/signup/email?review\"")
            )
        }
    }

    @Test func `the pages are in the language of the sign-up`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site, language: "ko")
            #expect(try await kim.open("/signup").has("Acme 회원가입"))
            let page = try await kim.post("/signup", "locale=ko")
            #expect(page.has("<html lang=\"ko\"") && page.has("이메일 주소") && page.headers[.contentLanguage] == "ko")
            #expect(try await kim.post("/signup/email", "email=kim").has("이메일 주소 형식이 올바르지 않습니다. (예: name@example.com)"))
        }
    }

    @Test func `every page contains and allows only the script and style of the service`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            var pages = [try await kim.open("/signup")]
            for step in ["email", "code", "password", "profile", "contact", "totp", "terms"] {
                pages.append(try await kim.fill(through: step, email: "\(step)@example.com"))
                _ = try await kim.post("/signup/cancel")
            }
            var nonces: Set<Substring> = []
            for page in pages {
                let policy = try #require(page.headers[.contentSecurityPolicy])
                let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([A-Za-z0-9+\/]{24})'/)).1
                #expect(nonces.insert(nonce).inserted)
                #expect(policy.hasPrefix("default-src 'none'; ") && policy.hasSuffix("; frame-ancestors 'none'"))
                #expect(
                    page.html.matches(of: /<script/).count == 1 && page.has("<script nonce=\"\(nonce)\" src=\"/assets/")
                )
                #expect(
                    page.html.firstMatch(of: /<style|\sstyle=|\son[a-z]+=|javascript:|https?:\/\/(?!www\.w3\.org)/)
                        == nil
                )
                #expect(page.headers[.cacheControl] == "no-store")
            }
        }
    }

    @Test func `browsers may cache style and script until they change`() async throws {
        try await TestServer.with { site in
            let page = try await PageVisitor(site).open("/signup")
            for (kind, pattern) in [
                ("css", /href="(\/assets\/[0-9a-f]{16}\/signup\.css)"/),
                ("javascript", /src="(\/assets\/[0-9a-f]{16}\/signup\.js)"/),
            ] {
                let path = try #require(page.html.firstMatch(of: pattern)).1
                let response = try await site.client.execute(uri: String(path), method: .get) { Response($0) }
                #expect(response.status == 200 && response.headers[.contentType] == "text/\(kind); charset=utf-8")
                #expect(response.headers[.cacheControl] == "public, max-age=31536000, immutable")
            }
        }
    }

    @Test func `style and script are compressed for a client that takes gzip`() async throws {
        try await TestServer.with { site in
            for asset in [Assets.builtIn.styles, Assets.builtIn.script] {
                func get(_ encodings: String?) async throws -> Response {
                    let headers: HTTPFields = encodings.map { [.acceptEncoding: $0] } ?? [:]
                    return try await site.client.execute(uri: asset.path, method: .get, headers: headers) {
                        Response($0)
                    }
                }
                let plain = try await get(nil)
                for encodings in ["gzip", "br;q=1.0, gzip;q=0.8", "GZIP", "*", "x-gzip"] {
                    let compressed = try await get(encodings)
                    #expect(compressed.headers[.contentEncoding] == "gzip")
                    #expect(compressed.headers[.contentLength] == "\(compressed.bytes.count)")
                    #expect(try gunzip(compressed.bytes) == plain.bytes)
                    #expect(compressed.bytes.count < plain.bytes.count / 2)
                    #expect(try #require(compressed.headers[.vary]).contains("Accept-Encoding"))
                }
                for encodings in ["", "identity", "gzip;q=0", "br", "*;q=0", "gzip;q=0, *"] {
                    let response = try await get(encodings)
                    #expect(response.headers[.contentEncoding] == nil && response.bytes == plain.bytes)
                    #expect(try #require(response.headers[.vary]).contains("Accept-Encoding"))
                }
            }
        }
    }

    @Test func `a client that does not prefer HTML gets JSON`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            for accept in ["application/json", "*/*", "text/html;q=0.9, application/json", "text/html, */*"] {
                let response = try await kim.send(.get, "/signup/schema", headers: [.accept: accept])
                #expect(response.json["flow"] == "default@1")
            }
            #expect(try await kim.send(.post, "/signup", headers: [.accept: "*/*"]).status == 201)
        }
    }
}

/// Decompresses with the program gzip.
private func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).gz")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/gzip")
    process.arguments = ["--decompress", "--stdout", file.path]
    process.standardOutput = output
    try process.run()
    let decompressed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return Array(decompressed)
}

private func count(_ table: String) throws -> Int {
    try DatabaseSession().query("SELECT count(*) FROM \(SQL(stringLiteral: table))").only.decode(Int.self)
}
