import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The pages of the consents and of the review", .freshDatabase)
struct ReviewPageTests {
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
        ("en", ["Read more: Terms of use", "Read more: News and offers by email"]),
        ("ko", ["이용약관 자세히 보기", "마케팅 정보 이메일 수신 자세히 보기"]),
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
            #expect(review.has("<dt>Authenticator app</dt><dd>Off</dd>"))
            for text in ["010-1234-5678", "February 28, 2001", "Agreed", "No", "Not provided"] {
                #expect(review.has("<dd>\(text)</dd>"), "\(text)")
            }
        }
    }

    @Test(arguments: [("en", "Required", "Fill in", "Not provided"), ("ko", "필수", "입력하기", "없음")])
    func `the review tells what is required from what may stay empty, and leads to it`(
        language: String,
        required: String,
        fillIn: String,
        empty: String
    ) async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site, language: language)
            _ = try await kim.fill(through: "code")
            let review = try await kim.open("/signup/review")
            let missing = review.html.matches(of: /<div class="missing"><dt>[^<]*<\/dt><dd>([^<]*)<\/dd><\/div>/)
            #expect(missing.map { String($0.1) } == Array(repeating: required, count: 4))
            #expect(review.has("<dd>\(empty)</dd>"), "the display name")
            #expect(review.has("href=\"/signup/password?review\">\(fillIn)<span class=\"unseen\">"))
            #expect(review.has("href=\"/signup/email?review\" aria-label="))
        }
    }

    @Test(arguments: [("en", "Email verification", "Confirmed"), ("ko", "이메일 인증", "인증 완료")])
    func `the review marks the address that a code has confirmed`(language: String, code: String, confirmed: String)
        async throws
    {
        try await TestServer.with { site in
            let lee = PageVisitor(site, language: language)
            _ = try await lee.fill(through: "email", email: "lee@example.com")
            let open = try await lee.open("/signup/review")
            #expect(open.has("<dd>lee@example.com</dd>") && open.has("<h2>\(code)</h2>"), "the code is missing")
            let review = try await PageVisitor(site, language: language).fill(through: "terms")
            #expect(review.has("<dd>kim@example.com <span class=\"confirmed\">\(confirmed)</span></dd>"))
            #expect(review.html.matches(of: /class="confirmed"/).count == 1)
            #expect(review.has("href=\"/signup/email?review\" aria-label="))
            // The person cannot change a confirmed code.
            #expect(!review.has("<h2>\(code)</h2>") && !review.has("/signup/code"))
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
}
