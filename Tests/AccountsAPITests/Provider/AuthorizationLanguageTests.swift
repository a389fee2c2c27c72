import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The language that an application asks for", .freshDatabase)
struct AuthorizationLanguageTests {
    private func language(_ page: PageVisitor.Page) -> String? { page.headers[.contentLanguage] }

    @Test(
        arguments: [
            ("ko", "ko"), ("tlh ko-KR en", "ko"), ("KO", "ko"), ("en ko", "en"), ("tlh", "en"), ("-- ko", "ko"),
        ]
    )
    func `the first language of ui_locales that the flow has takes precedence over that of the browser`(
        locales: String,
        shown: String
    )
        async throws
    {
        try await RelyingParty.with { shop in
            let kim = PageVisitor(shop.site, language: "en")
            for prompt in ["login", "create"] {
                let page = try await kim.open(shop.url(["prompt": prompt, "ui_locales": locales]))
                #expect(page.status == 200 && language(page) == shown, "\(prompt)")
            }
        }
    }

    @Test func `all pages of the sign-in are in this language, also after a mistake`() async throws {
        try await RelyingParty.with { shop in
            try await Browser(shop.site).signUp()
            let kim = PageVisitor(shop.site, language: "en")
            let first = try await kim.open(shop.url(["ui_locales": "ko"]))
            let target = try #require(first.html.firstMatch(of: /name="return_to" value="([^"]+)"/)?.1)
            let carried = "return_to=\(String(target).formEncoded)"
            // Only a sign-in that waits for the mailed code has the last page.
            _ = try await kim.post("/sign-in/mail", "identifier=kim&\(carried)")
            for path in ["/sign-in", "/sign-in/mail", "/sign-in/code"] {
                let page = try await kim.open("\(path)?\(carried)")
                #expect(page.path.hasPrefix(path) && language(page) == "ko", "\(path)")
            }
            let wrong = try await kim.post("/sign-in", "identifier=kim&password=not+the+pass+phrase&\(carried)")
            #expect(wrong.status == 401 && language(wrong) == "ko")
            let right = "identifier=kim&password=a+pass+phrase+of+mine&\(carried)"
            #expect(try await kim.send(.post, "/sign-in", right).status == 303)
            try DatabaseSession().letPass("5 minutes")
            let choice = try await kim.open(shop.url(["ui_locales": "ko", "prompt": "select_account"]))
            #expect(language(choice) == "ko" && choice.has("다른 계정으로 로그인"))
            let confirm = try await kim.open(shop.url(["ui_locales": "ko", "prompt": "login"]))
            #expect(confirm.path.hasPrefix("/account/confirm") && language(confirm) == "ko")
            // The pages of the account are in the language of the browser.
            #expect(try await language(kim.open("/account")) == "en")
        }
    }

    @Test func `the metadata lists the languages of the flow`() async throws {
        try await RelyingParty.with { shop in
            let metadata = try await shop.site.send(.get, "/.well-known/openid-configuration")
            #expect(metadata.strings("ui_locales_supported") == ["en", "ko"])
        }
    }
}
