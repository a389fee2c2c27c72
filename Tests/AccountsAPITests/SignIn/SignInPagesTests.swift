import Accounts
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import accounts_api

@Suite("The pages of sign-in and account", .freshDatabase)
struct SignInPagesTests {
    private static let right = "identifier=kim&password=a+pass+phrase+of+mine"
    private static let wrong = "identifier=kim&password=not+the+pass+phrase"

    @Test func `a person signs up, lands on the account, signs out and in again`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            #expect(try await kim.open("/signup").has("href=\"/sign-in\""))
            _ = try await kim.fill(through: "terms")
            let done = try await kim.post("/signup/commit")
            #expect(done.has("href=\"/account\""))
            let account = try await kim.open("/account")
            #expect(account.path == "/account" && account.has("kim@example.com") && account.has("this device"))
            let out = try await kim.post("/account/sign-out")
            #expect(out.path == "/sign-in?signed-out" && out.has("You&#39;re signed out."))
            #expect(try await kim.open("/account").path == "/sign-in")
            let failed = try await kim.post("/sign-in", Self.wrong)
            #expect(failed.status == 401 && failed.has("The email address, username or password is incorrect."))
            #expect(failed.has("value=\"kim\"") && !failed.has("not the pass phrase"))
            #expect(try await kim.post("/sign-in", Self.right + "&keep=true").path == "/account")
            #expect(try await kim.open("/sign-in").path == "/account", "already signed in")
        }
    }

    @Test(arguments: ["", "identifier=&password=", "identifier=kim&password=", "identifier=kim&password=x&other=y"])
    func `an incomplete form is shown again`(form: String) async throws {
        try await TestServer.with { site in
            let page = try await PageVisitor(site).post("/sign-in", form)
            #expect(page.status == 422 && page.has("<form method=\"post\" action=\"/sign-in\""))
        }
    }

    @Test(arguments: ["/sign-in/second-factor", "/sign-in/recovery-code", "/sign-in/code"])
    func `the form of a sign-in that the browser has not begun leads to its beginning`(path: String) async throws {
        try await TestServer.with { site in
            let page = try await PageVisitor(site).open(path)
            #expect(page.path == "/sign-in?over" && page.has("That sign-in has ended."))
        }
    }

    @Test(arguments: ["/sign-in/second-factor", "/sign-in/recovery-code", "/sign-in/code"])
    func `the form of a sign-in leads a signed-in person to the account`(path: String) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", Self.right)
            let response = try await kim.send(.get, path)
            #expect(response.status == 303 && response.headers[.location] == "/account")
        }
    }

    @Test func `a form is shown only while the sign-in waits for its answer`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp(hasAuthenticator: true)
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", Self.right)
            #expect(try await kim.open("/sign-in/code").path == "/sign-in/second-factor")
            try DatabaseSession().letPass("11 minutes")
            #expect(try await kim.open("/sign-in/second-factor").path == "/sign-in?over")
            _ = try await kim.post("/sign-in/mail", "identifier=kim")
            #expect(try await kim.open("/sign-in/second-factor").path == "/sign-in/code")
        }
    }

    @Test func `the second factor and the recovery code have pages`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = PageVisitor(site)
            let factor = try await kim.post("/sign-in", Self.right)
            #expect(factor.path == "/sign-in/second-factor" && factor.has("one-time-code"))
            let wrong = try await kim.post("/sign-in/second-factor", "code=12")
            #expect(wrong.status == 422 && wrong.has("aria-invalid=\"true\""))
            #expect(try await kim.post("/sign-in/second-factor", "code=\(person.code)").path == "/account")

            let other = PageVisitor(site)
            _ = try await other.post("/sign-in", Self.right)
            #expect(
                try await other.open("/sign-in/recovery-code").has(
                    ">Enter one of the recovery codes that you saved.</p>"
                )
            )
            let used = try await other.post("/sign-in/recovery-code", "code=\(person.recoveryCodes[0])")
            #expect(used.status == 200 && used.has("<code>") && !used.has(person.recoveryCodes[0]))
            #expect(try await other.open("/account").path == "/account")
            let late = try await PageVisitor(site).post("/sign-in/second-factor", "code=123456")
            #expect(late.path == "/sign-in", "no sign-in waits for a code")
        }
    }

    @Test func `after too many wrong codes, a person is led to a new sign-in`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = PageVisitor(site)
            var page = try await kim.post("/sign-in", Self.right)
            #expect(page.path == "/sign-in/second-factor")
            let wrong = person.code == "000000" ? "000001" : "000000"
            for _ in 1...5 { page = try await kim.post("/sign-in/second-factor", "code=\(wrong)") }
            #expect(try await kim.open("/sign-in/second-factor").path == "/sign-in?over")
            #expect(page.status == 422 && page.has("role=\"alert\">Too many incorrect codes. Please start over."))
            #expect(page.has("<a class=\"button main\" href=\"/sign-in\">Sign in again</a>"))
            #expect(!page.has("name=\"code\""))
            let late = try await kim.post("/sign-in/recovery-code", "code=\(person.recoveryCodes[0])")
            #expect(late.path == "/sign-in?over" && late.has("That sign-in has ended."))
        }
    }

    @Test func `a person is asked before the app or the recovery codes go`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", Self.right)
            _ = try await kim.post("/sign-in/second-factor", "code=\(person.code)")
            let page = try await kim.open("/account/authenticator")
            #expect(!page.has("action=\"/account/authenticator/remove\""))
            for (path, warning) in [("codes", "will stop working"), ("remove", "without a code from the app")] {
                #expect(page.has("href=\"/account/authenticator/\(path)\""))
                let question = try await kim.open("/account/authenticator/\(path)")
                #expect(question.has(warning) && question.has("action=\"/account/authenticator/\(path)\""))
                #expect(question.has("<a class=\"button\" href=\"/account/authenticator\">Cancel</a>"))
            }
            let removed = try await kim.post("/account/authenticator/remove")
            #expect(removed.path == "/account?authenticator-removed")
            #expect(removed.has("recovery codes have been removed."))
            #expect(try await kim.open("/account/authenticator/remove").path == "/account/authenticator")
        }
    }

    @Test func `a page that does not exist leads a person who is signed in to the account`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let unknown = try await kim.open("/nowhere")
            #expect(unknown.has("href=\"/signup\">Go to sign-up") && unknown.has("href=\"/sign-in\">Sign in"))
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let missing = try await kim.open("/nowhere")
            #expect(missing.status == 404 && missing.has("href=\"/account\">Your account"))
        }
    }

    @Test func `a person on a new device gets in with a mailed code, and with its link`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            for _ in 1...10 { _ = try await kim.post("/sign-in", Self.wrong) }
            let asked = try await kim.post("/sign-in", Self.right)
            #expect(asked.status == 401 && asked.has("action=\"/sign-in/mail\"") && asked.has("value=\"kim\""))
            #expect(asked.has("To protect your account, we need to make sure") && !asked.has("We need to check"))
            let entering = try await kim.post("/sign-in/mail", "identifier=kim")
            #expect(entering.path == "/sign-in/code" && entering.has("<a href=\"/sign-in/mail\">Get a new code</a>"))
            let early = try await kim.post("/sign-in/mail", "identifier=kim")
            #expect(early.status == 429 && early.has("<a href=\"/sign-in/code\">Enter the code you received</a>"))
            let again = try await kim.open("/sign-in/mail")
            #expect(again.has("<h1>Confirm it&#39;s you</h1>") && again.has("href=\"/sign-in\">Back</a>"))
            _ = try await site.service.readCode(for: "kim@example.com")
            let mails = site.service.mailbox.mails.count
            let ticket = try site.service.mailbox.signInTicket(for: "kim@example.com")
            let link = try await PageVisitor(site).open("/session/ticket?ticket=\(ticket)")
            #expect(link.status == 200 && link.has("value=\"\(ticket)\""))
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.count == mails, "opening the link changes nothing")
            #expect(try await kim.open("/session/ticket").status == 404)
            let cut = try await kim.open("/session/ticket?ticket=\(ticket.dropLast(5))")
            #expect(cut.status == 404 && cut.has("This link is incomplete. Open the full link from the email."))
            #expect(cut.has(">This link doesn&#39;t work</h1>"))
            #expect(try await kim.post("/session/ticket/redeem", "ticket=\(ticket)").path == "/sign-in/code")
            let used = try await kim.post("/session/ticket/redeem", "ticket=\(ticket)")
            #expect(used.status == 422 && used.has("has already been used") && !used.has("<form method"))
            #expect(used.has(">This link doesn&#39;t work</h1>"))
            let code = try await site.service.readCode(for: "kim@example.com")
            #expect(try await kim.post("/sign-in/code", "code=\(code)").path == "/sign-in?known")
            #expect(try await kim.post("/sign-in", Self.right).path == "/account")
        }
    }

    @Test func `after too many wrong mailed codes, the page names the link in the mail`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in/mail", "identifier=kim")
            let code = try await site.service.readCode(for: "kim@example.com")
            let wrong = code == "000000" ? "000001" : "000000"
            var page = try await kim.open("/sign-in/code")
            for _ in 1...5 { page = try await kim.post("/sign-in/code", "code=\(wrong)") }
            #expect(page.status == 422 && page.has("role=\"alert\" hidden"))
            #expect(page.has("open the link in the latest email we sent you") && !page.has("name=\"code\""))
            #expect(page.has("<a class=\"button main\" href=\"/sign-in/mail\">Get a new code</a>"))
        }
    }

    @Test func `the password is changed after a confirmation`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (kim, other) = (PageVisitor(site), PageVisitor(site))
            for visitor in [kim, other] { _ = try await visitor.post("/sign-in", Self.right) }
            try DatabaseSession().letPass("11 minutes")
            let asked = try await kim.open("/account/password")
            #expect(asked.path == "/account/confirm?password" && asked.has("value=\"password\""))
            let wrong = try await kim.post("/account/confirm", "next=password&password=not+it")
            #expect(wrong.status == 422 && wrong.has("That password isn&#39;t right."))
            let form = try await kim.post("/account/confirm", "next=password&password=a+pass+phrase+of+mine")
            #expect(form.path == "/account/password" && form.has("new-password"))
            let short = try await kim.post("/account/password", "password=short&confirmation=short")
            #expect(short.status == 422 && short.has("Use at least 15 characters."))
            let new = "password=another+phrase+of+mine&confirmation=another+phrase+of+mine"
            #expect(try await kim.post("/account/password", new).has("Your new password has been saved"))
            #expect(try await other.open("/account").path == "/sign-in?ended")
            let same = try await kim.post("/account/password", new)
            #expect(same.status == 422 && same.has("That&#39;s the password you have now."))
            let empty = try await kim.post("/account/password", "password=&confirmation=")
            #expect(empty.has("Enter a password.") && empty.has("Enter the password again."))
        }
    }

    @Test func `a password manager finds the page for a new password`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let response = try await site.send(.get, "/.well-known/change-password")
            #expect(response.status == 303 && response.headers[.location] == "/account/password")
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", Self.right)
            #expect(try await kim.open("/.well-known/change-password").path == "/account/password")
            let path = try await site.send(.get, "/openapi.json").json["paths"]?["/.well-known/change-password"]
            let described = path?["get"]?["responses"]
            #expect(described?["303"] != nil && described?["200"] == nil, "it has no page of its own")
        }
    }

    @Test(arguments: [
        "resource-that-should-not-exist-whose-status-code-should-not-be-200", "passkey-endpoints", "webauthn",
    ])
    func `a well-known resource that does not exist is not found`(name: String) async throws {
        try await TestServer.with { site in
            for method in [HTTPRequest.Method.get, .head, .post] {
                let response = try await site.client.execute(uri: "/.well-known/\(name)", method: method) {
                    Response($0)
                }
                #expect(response.status == 404)
            }
        }
    }

    @Test func `the sign-up leads people with an account to the sign-in`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            #expect(try await kim.open("/signup").has("href=\"/sign-in\""))
            let code = try await kim.fill(through: "email")
            #expect(code.has("href=\"/sign-in\""))
        }
    }

    /// Otherwise a link could send people anywhere after they have typed their password.
    @Test(arguments: ["https://evil.example", "//evil.example", "/signup", "erase/../x", ""])
    func `a confirmation leads only to pages of the account`(next: String) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", Self.right)
            #expect(try await kim.open("/account/confirm?\(next)").has("name=\"next\" value=\"\""))
            let response = try await kim.send(
                .post,
                "/account/confirm",
                "next=\(next)&password=a+pass+phrase+of+mine"
            )
            #expect(response.status == 303 && response.headers[.location] == "/account")
        }
    }

    @Test func `an idle session is confirmed or signed out`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            for leaves in [false, true] {
                try site.forgetUsedCodes()
                let kim = PageVisitor(site)
                _ = try await kim.post("/sign-in", Self.right)
                _ = try await kim.post("/sign-in/second-factor", "code=\(person.code)")
                try DatabaseSession().letPass("61 minutes")
                let idle = try await kim.open("/account")
                #expect(
                    idle.path == "/account/confirm" && idle.has("/account/sign-out") && !idle.has("href=\"/account\"")
                )
                if leaves {
                    #expect(try await kim.post("/account/sign-out").path == "/sign-in?signed-out")
                    #expect(try await kim.open("/account").path == "/sign-in")
                } else {
                    let form = "next=&password=a+pass+phrase+of+mine"
                    #expect(try await kim.post("/account/confirm", form).path == "/account")
                }
            }
        }
    }

    /// Somebody who knows the password has guessed codes of the app.
    @Test func `after such guesses, a person on a new device signs in with a mailed code and the second factor`()
        async throws
    {
        let flow = try standardFlow(with: "sign_in: [password, code]")
        try await TestServer.with(flow: flow) { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let wrong = person.code == "000000" ? "000001" : "000000"
            for number in 0..<11 {
                _ = try await Stranger(site, at: "198.51.100.\(number)").guessSecondFactor(wrong)
            }
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", Self.right)
            let refused = try await kim.post("/sign-in/second-factor", "code=\(person.code)")
            #expect(
                refused.status == 401 && refused.has("action=\"/sign-in/mail\"") && refused.has("name=\"identifier\"")
            )
            #expect(refused.has("class=\"news\" role=\"status\">We need to check it&#39;s you"))
            _ = try await kim.post("/sign-in/mail", "identifier=kim")
            let code = try await site.service.readCode(for: "kim@example.com")
            #expect(try await kim.post("/sign-in/code", "code=\(code)").path == "/sign-in/second-factor")
            #expect(try await kim.post("/sign-in/second-factor", "code=\(person.code)").path == "/account")
        }
    }

    @Test(arguments: ["sign_in: [password, code]", "sign_in: [code]"])
    func `a mailed code signs in where the flow allows it`(rule: String) async throws {
        try await TestServer.with(flow: standardFlow(with: rule)) { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            let page = try await kim.open("/sign-in")
            let path = rule.contains("password") ? "/sign-in" : "/sign-in/mail"
            #expect(page.path == path && page.has("Sign in with an emailed code"))
            #expect(try await kim.post("/sign-in/mail", "identifier=kim").path == "/sign-in/code")
            let code = try await site.service.readCode(for: "kim@example.com")
            #expect(try await kim.post("/sign-in/code", "code=\(code)").path == "/account")
        }
    }

    /// An account lacks a password if the flow lets people leave it out.
    @Test(arguments: [("", "/recovery"), ("sign_in: [password, code]", "/sign-in/mail")])
    func `a person without a password confirms with a mailed code, or sets a first password`(
        rule: String,
        path: String
    ) async throws {
        try await TestServer.with(flow: standardFlow(with: rule)) { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", Self.right)
            try DatabaseSession().run("DELETE FROM credentials")
            #expect(try await kim.send(.get, "/account/confirm?email").headers[.location] == path)
            #expect(try await kim.open(path).status == 200)
        }
    }

    @Test(arguments: ["", "/profile", "/password", "/email", "/authenticator", "/confirm", "/erase"])
    func `a person signs out on every page of the account`(page: String) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site)
            _ = try await kim.post("/sign-in", Self.right)
            let shown = try await kim.open("/account\(page)")
            #expect(shown.path == "/account\(page)" && shown.has("<form method=\"post\" action=\"/account/sign-out\">"))
        }
    }

    @Test func `a person signs out other devices`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let (kim, phone, tablet) = (PageVisitor(site), PageVisitor(site), PageVisitor(site))
            for visitor in [kim, phone, tablet] { _ = try await visitor.post("/sign-in", Self.right) }
            let page = try await kim.open("/account")
            let id = try #require(page.html.firstMatch(of: /name="session" value="([0-9a-f-]{36})"/)?.1)
            let one = try await kim.post("/account/sign-out", "session=\(id)")
            #expect(one.path == "/account?signed-out-there" && one.has("That device has been signed out."))
            #expect(try DatabaseSession().query("SELECT FROM sessions").count == 2)
            let rest = try await kim.post("/account/sign-out", "session=others")
            #expect(rest.path == "/account?signed-out-others")
            #expect(rest.has("All your other devices have been signed out."))
            for visitor in [phone, tablet] {
                let ended = try await visitor.open("/account")
                #expect(ended.path == "/sign-in?ended" && ended.has("You&#39;ve been signed out."))
            }
            #expect(try DatabaseSession().query("SELECT FROM sessions").count == 1)
            #expect(try await kim.post("/account/sign-out", "session=x").path == "/account")
        }
    }

    @Test(arguments: [
        ("en", "This can&#39;t be undone.", "Your account has been deleted"), ("ko", "되돌릴 수 없습니다.", "계정이 삭제되었습니다"),
    ])
    func `a person deletes the account, and reads that it is gone`(
        language: String,
        warning: String,
        end: String
    ) async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site, language: language)
            _ = try await kim.post("/sign-in", Self.right)
            #expect(try await kim.open("/account/erase").has(warning))
            let last = try await kim.post("/account/erase")
            #expect(last.status == 200 && last.has("<h1>\(end)</h1>") && last.has("href=\"/signup\""))
            #expect(last.headers[.clearSiteData] != nil)
            #expect(!last.has("class=\"languages\""), "the page cannot be shown again")
            #expect(try DatabaseSession().query("SELECT FROM accounts").isEmpty)
            #expect(try await kim.open("/account").path == "/sign-in")
        }
    }

    @Test func `another site cannot send the forms`() async throws {
        try await TestServer.with { site in
            let headers: HTTPFields = [
                .accept: "text/html", .contentType: "application/x-www-form-urlencoded", .secFetchSite: "cross-site",
            ]
            for path in [
                "/sign-in", "/sign-in/mail", "/account/sign-out", "/account/password", "/account/erase",
                "/account/confirm", "/session/ticket/redeem",
            ] {
                let response = try await site.send(.post, path, bytes: [], headers)
                #expect(response.status == 403, "\(path)")
            }
        }
    }

    @Test func `the pages are in the language of the person`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount()
            let kim = PageVisitor(site, language: "ko")
            #expect(try await kim.open("/sign-in").has("로그인 상태 유지"))
            #expect(try await kim.post("/sign-in", Self.wrong).has("비밀번호가 올바르지 않습니다"))
            #expect(try await kim.post("/sign-in", Self.right).has("내 계정"))
        }
    }
}
