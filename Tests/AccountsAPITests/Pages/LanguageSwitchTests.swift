import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The language of the pages", .freshDatabase)
struct LanguageSwitchTests {
    private static let path = "/sign-in/language"

    private func language(_ page: PageVisitor.Page) -> String? { page.headers[.contentLanguage] }

    /// What the switch of the page sends for that language.
    private func form(_ page: PageVisitor.Page, _ tag: String) throws -> String {
        let address = try #require(page.html.firstMatch(of: /name="page" value="([^"]+)"/)?.1)
        return "page=\(String(address).replacing("&amp;", with: "&").formEncoded)&locale=\(tag)"
    }

    @Test(arguments: [
        "/signup", "/sign-in", "/sign-in/mail", "/recovery", "/nowhere", "/signup/email", "/signup/resume",
    ])
    func `every page has the switch, which returns to it`(path: String) async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let page = try await kim.open(path)
            #expect(page.has("<button class=\"plain\" name=\"locale\" value=\"ko\" lang=\"ko\">한국어</button>"))
            #expect(page.has("value=\"en\" lang=\"en\" aria-current=\"true\">English</button>"))
            let korean = try await kim.post(Self.path, form(page, "ko"))
            #expect(korean.path == path && language(korean) == "ko")
            #expect(korean.headers[.vary]?.contains("Cookie") == true && korean.headers[.cacheControl] == "no-store")
            #expect(try await language(kim.open("/sign-in")) == "ko", "it holds for the other pages")
            #expect(try await language(kim.post(Self.path, form(korean, "en"))) == "en")
        }
    }

    @Test func `the choice changes the draft, but neither its answers nor its revision`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let code = try await kim.fill(through: "email")
            let before = try DatabaseSession().query("SELECT revision FROM drafts").only.decode(Int.self)
            let korean = try await kim.post(Self.path, form(code, "ko"))
            #expect(korean.path == "/signup/code" && language(korean) == "ko" && korean.has("kim@example.com"))
            let row = try DatabaseSession().query("SELECT locale, revision FROM drafts").only
            #expect(try row.decode(String.self, Int.self) == ("ko", before))
            #expect(try await language(kim.open("/signup/email")) == "ko")
            let end = try await kim.post(
                "/signup/code",
                "code=\(try await site.service.readCode(for: "kim@example.com"))"
            )
            #expect(end.path == "/signup/password" && language(end) == "ko")
        }
    }

    @Test func `after a refusal it returns to the page with the form`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email")
            let refused = try await kim.post("/signup/code", "code=000", referer: "http://localhost:8080/signup/code")
            #expect(refused.status == 422)
            let korean = try await kim.post(Self.path, form(refused, "ko"))
            #expect(korean.path == "/signup/code" && korean.status == 200 && language(korean) == "ko")
        }
    }

    @Test(
        arguments: [
            "//evil.example", "https://evil.example/", "/\\evil.example", "\\\\evil.example", "/%09/evil",
            "javascript:x",
            "/a b", "",
        ]
    )
    func `it leads to no other site`(page: String) async throws {
        try await TestServer.with { site in
            let response = try await PageVisitor(site).send(
                .post,
                Self.path,
                "page=\(page.formEncoded)&locale=ko".replacing("%2509", with: "%09")
            )
            #expect(response.status == 303 && response.headers[.location] == "/signup")
        }
    }

    @Test func `another site cannot choose the language by a form`() async throws {
        try await TestServer.with { site in
            let response = try await site.send(
                .post,
                Self.path,
                bytes: Array("page=/sign-in&locale=ko".utf8),
                [
                    .accept: "text/html", .contentType: "application/x-www-form-urlencoded",
                    .secFetchSite: "cross-site",
                ]
            )
            #expect(response.status == 403 && response.headers[.setCookie] == nil)
        }
    }

    @Test(arguments: [("http://localhost:8080", "locale"), ("https://id.example", "__Host-locale")])
    func `the cookie holds a tag, and only for the time of the browser`(url: String, name: String) async throws {
        try await TestServer.with(publicURL: url) { site in
            let response = try await PageVisitor(site).send(.post, Self.path, "page=/sign-in&locale=ko")
            let secure = url.hasPrefix("https") ? " Secure;" : ""
            #expect(response.headers[.setCookie] == "\(name)=ko; Path=/;\(secure) HttpOnly; SameSite=Lax")
            let unknown = try await PageVisitor(site).send(.post, Self.path, "page=/sign-in&locale=tlh")
            #expect(unknown.status == 303 && unknown.headers[.setCookie] == nil)
        }
    }

    @Test func `programs and unknown tags do not notice the cookie`() async throws {
        try await TestServer.with { site in
            let json = try await site.send(.get, "/signup", [.cookie: "locale=ko", .accept: "application/json"])
            #expect(json.status == 401 && json.json["title"]?.string?.utf8.allSatisfy { $0 < 0x80 } == true)
            for tag in ["tlh", "", "%00", "ko ko"] {
                let page = try await site.send(.get, "/sign-in", [.cookie: "locale=\(tag)", .accept: "text/html"])
                #expect(page.status == 200 && page.headers[.contentLanguage] == "en", "\(tag)")
            }
        }
    }

    @Test(
        arguments: [
            ("locale=ko", "ko"), ("ui_locales=ko+en", "ko"), ("ui_locales=tlh%20ko-KR", "ko"),
            ("ui_locales=en ko", "en"),
            ("locale=tlh", "en"), ("locale=", "en"), ("locale", "en"),
        ]
    )
    func `a link chooses the language`(query: String, shown: String) async throws {
        try await TestServer.with { site in
            for path in ["/signup", "/sign-in", "/recovery"] {
                let kim = PageVisitor(site)
                let page = try await kim.open("\(path)?\(query.replacing(" ", with: "%20"))")
                #expect(page.status == 200 && language(page) == shown, "\(path)")
                // So do the pages after it, unless the person chooses another one.
                #expect(try await language(kim.open("/sign-in/code")) == shown)
                let english = try await kim.post(Self.path, form(page, "en"))
                #expect(english.path == path && language(english) == "en")
            }
        }
    }

    @Test func `a sign-up has the language of its first page`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup?locale=ko&email=kim%40example.com")
            let code = try await kim.post("/signup", "\(first.hidden)&email=kim%40example.com")
            #expect(code.path == "/signup/code" && language(code) == "ko")
        }
    }

    @Test func `the choice of the person counts more than that of an application`() async throws {
        try await RelyingParty.with { shop in
            let kim = PageVisitor(shop.site)
            let page = try await kim.open(shop.url(["prompt": "login", "ui_locales": "ko"]))
            #expect(language(page) == "ko")
            let english = try await kim.post(Self.path, form(page, "en"))
            #expect(english.path == page.path && language(english) == "en")
            let target = try #require(english.html.firstMatch(of: /name="return_to" value="([^"]+)"/)?.1)
            let wrong = try await kim.post(
                "/sign-in",
                "identifier=kim&password=not+the+pass+phrase&return_to=\(String(target).formEncoded)"
            )
            #expect(wrong.status == 401 && language(wrong) == "en")
            // After a refusal, too, the switch keeps the way back to the application.
            let korean = try await kim.post(Self.path, form(wrong, "ko"))
            #expect(language(korean) == "ko" && korean.has("name=\"return_to\" value=\"\(target)\""))
        }
    }
}
