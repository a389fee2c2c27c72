import Accounts
import Foundation
import HTTPTypes
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
            #expect(try DatabaseSession().number(of: "accounts") == 1)
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
            #expect(try await kim.open("/signup/code").has(">kim@example.com</bdi>: Confirmed"))
            let password = try await kim.open("/signup/password")
            #expect(password.has("Keep current password") && !password.has("pass phrase"))
            #expect(try await kim.open("/signup/contact").has("value=\"010-1234-5678\""))
            #expect(try await kim.open("/signup/terms").has("name=\"terms\" type=\"checkbox\" checked"))
            // After a change the person is back at the review.
            let changed = try await kim.post("/signup/profile", "username=kim&display_name=K&introduction=")
            #expect(changed.path == "/signup/review" && changed.has("<dd>K</dd>"))
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
            #expect(try DatabaseSession().number(of: "drafts") == 0)
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

    @Test func `a page that tells news is not an error`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            let cancelled = try await kim.post("/signup/cancel")
            #expect(cancelled.has("class=\"news\" role=\"status\">Sign-up canceled."))
            let missing = try await kim.open("/signup/email")
            #expect(missing.has("class=\"notice\" role=\"alert\">We couldn&#39;t find a sign-up in progress"))
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
}
