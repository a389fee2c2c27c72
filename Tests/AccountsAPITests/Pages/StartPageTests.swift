import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The first page", .freshDatabase)
struct StartPageTests {
    private static let email = "email=kim%40example.com"

    private func drafts() throws -> Int {
        try DatabaseSession().query("SELECT count(*) FROM drafts").only.decode(Int.self)
    }

    private func value(_ name: String, _ page: PageVisitor.Page) -> String? {
        let control = page.html.split(separator: "\n").first {
            $0.contains("name=\"\(name)\"") && !$0.contains("hidden")
        }
        return control?.firstMatch(of: /value="([^"]*)"/).map { String($0.1) }
    }

    @Test(arguments: ["/signup", "/recovery"])
    func `it asks the first question, and writes nothing`(path: String) async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            for _ in 1...2 {
                let page = try await kim.open(path)
                #expect(page.status == 200 && page.has("<form id=\"answers\" method=\"post\" action=\"\(path)\""))
                #expect(page.has("name=\"email\" type=\"email\"") && page.has("<p class=\"place\">1 / "))
                #expect(page.has("<a href=\"/sign-in\">Sign in</a>") && !page.has("data-draft"))
                #expect(page.headers[.setCookie] == nil && page.headers[.cacheControl] == "no-store")
            }
            #expect(try drafts() == 0)
            #expect(try DatabaseSession().query("SELECT count(*) FROM limits").only.decode(Int.self) == 0)
        }
    }

    @Test func `the form starts the sign-up and submits the step`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            let sent = try await kim.send(.post, "/signup", "\(first.hidden)&\(Self.email)")
            #expect(sent.status == 303 && sent.headers[.location] == "/signup/code")
            #expect(
                sent.headers[values: .setCookie].count == 1 && sent.headers[.setCookie]?.hasPrefix("signup=") == true
            )
            #expect(try await kim.open("/signup").path == "/signup/code")
            #expect(try drafts() == 1)
        }
    }

    @Test func `a refused answer is shown again, and the sign-up has begun`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            let refused = try await kim.post("/signup", "\(first.hidden)&email=kim")
            #expect(refused.status == 422 && value("email", refused) == "kim")
            #expect(refused.has("Enter an email address like name@example.com."))
            #expect(
                refused.has("<title>Error: ") && refused.has("action=\"/signup/email\"") && refused.has("data-draft")
            )
            #expect(try await kim.post("/signup/email", Self.email).path == "/signup/code")
            #expect(try drafts() == 1)
        }
    }

    @Test func `a form that is sent twice starts one sign-up and mails one code`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let form = "\(try await kim.open("/signup").hidden)&\(Self.email)"
            // The second request leaves before the cookie of the first has come.
            let tabs = [PageVisitor(site), PageVisitor(site), PageVisitor(site)]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for tab in tabs {
                    group.addTask {
                        let page = try await tab.post("/signup", form)
                        #expect(page.path == "/signup/code" && page.status == 200)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try drafts() == 1)
            #expect(try DatabaseSession().query("SELECT count(*) FROM outbox").only.decode(Int.self) == 1)
        }
    }

    @Test func `the form of a sign-up that is over starts another one`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let form = "\(try await kim.open("/signup").hidden)&\(Self.email)"
            #expect(try await kim.post("/signup", form).path == "/signup/code")
            let before = try DatabaseSession().query("SELECT id FROM drafts").only.decode(ID<Draft>.self)
            _ = try await kim.post("/signup/cancel")
            #expect(try await kim.post("/signup", form).path == "/signup/code")
            let after = try DatabaseSession().query("SELECT id FROM drafts").only.decode(ID<Draft>.self)
            #expect(before != after)
        }
    }

    @Test func `the id of a draft does not make the form that started it`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let form = "\(try await kim.open("/signup").hidden)&\(Self.email)"
            _ = try await kim.post("/signup", form)
            let id = try DatabaseSession().query("SELECT id FROM drafts").only.decode(ID<Draft>.self)
            // A token of 48 bytes begins with the id; the rest is secret.
            let guess = Data(id.bytes + [UInt8](repeating: 1, count: 32)).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_")
            let stranger = try await PageVisitor(site).send(
                .post,
                "/signup",
                "start.form=\(guess)&locale=en&email=x%40example.com"
            )
            #expect(stranger.status == 303)
            #expect(try drafts() == 2)
        }
    }

    @Test func `the limit of starts holds for the form, which keeps what was typed`() async throws {
        let limits = Limits(byName: [.starts: Limit(1, per: .seconds(600))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            _ = try await PageVisitor(site).post("/signup", "locale=en")
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            #expect(first.status == 200, "reading is not limited")
            let refused = try await kim.post("/signup", "\(first.hidden)&\(Self.email)")
            #expect(refused.status == 429 && refused.headers[.retryAfter] != nil)
            #expect(value("email", refused) == "kim@example.com" && refused.has("action=\"/signup\""))
            #expect(try drafts() == 1)
        }
    }

    @Test func `another site cannot send the form`() async throws {
        try await TestServer.with { site in
            let form = "\(try await PageVisitor(site).open("/signup").hidden)&\(Self.email)"
            let response = try await site.send(
                .post,
                "/signup",
                bytes: Array(form.utf8),
                [
                    .accept: "text/html", .contentType: "application/x-www-form-urlencoded",
                    .secFetchSite: "cross-site",
                ]
            )
            #expect(response.status == 403)
            #expect(try drafts() == 0)
        }
    }

    @Test func `a browser without cookies is told so`() async throws {
        try await TestServer.with { site in
            let first = try await PageVisitor(site).open("/signup")
            _ = try await PageVisitor(site).send(.post, "/signup", "\(first.hidden)&\(Self.email)")
            let page = try await PageVisitor(site).open("/signup/code")
            #expect(page.status == 401 && page.has("allow cookies") && page.has("name=\"email\""))
        }
    }

    @Test func `it begins with any step, also with a password, an app and a picture`() async throws {
        let flow = """
            flow: mixed
            version: 1
            languages: [en]
            steps:
              - name: first
                title: First
                fields:
                  - {name: name, kind: text, label: Name, required: false}
                  - {name: password, kind: password, label: Password}
                  - {name: again, kind: confirmation, confirms: password, label: Again}
                  - name: agreed
                    kind: choice
                    choose: several
                    label: Which
                    options: [{value: a, label: A}, {value: b, label: B}]
                  - {name: photo, kind: image, label: Photo, required: false}
              - name: address
                title: Address
                fields:
                  - {name: email, kind: email, identifier: true, label: Email}
              - name: code
                title: Code
                fields:
                  - {name: code, kind: code, proves: email, label: Code}
            """
        try await TestServer.with(flow: flow) { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            #expect(first.has("enctype=\"multipart/form-data\"") && first.has("type=\"password\""))
            #expect(!first.has("class=\"languages\""), "a flow with one language needs no switch")
            let refused = try await kim.post(
                "/signup",
                "\(first.hidden)&name=Kim&password=a+pass+phrase+of+mine&again=another&agreed=a&agreed=b"
            )
            #expect(refused.status == 422 && value("name", refused) == "Kim" && !refused.has("pass phrase"))
            #expect(refused.html.matches(of: /checked/).count == 2)
            let other = PageVisitor(site)
            let form = try await other.open("/signup")
            let start = try #require(form.html.firstMatch(of: /name="start.form" value="([^"]+)"/)?.1)
            let password = "a pass phrase of mine"
            let body = Multipart(
                [
                    "start.form": String(start), "locale": "en", "name": "Lee", "password": password, "again": password,
                    "agreed": "a",
                ],
                photo: try image("baseline.jpg")
            )
            #expect(try await other.post("/signup", body).path == "/signup/address")
        }
    }

    @Test func `a step with a name that the form needs comes after a page with a button`() async throws {
        let flow = """
            flow: named
            version: 1
            languages: [en]
            steps:
              - name: first
                title: First
                fields:
                  - {name: locale, kind: text, label: Place}
              - name: address
                title: Address
                fields:
                  - {name: email, kind: email, identifier: true, label: Email}
              - name: code
                title: Code
                fields:
                  - {name: code, kind: code, proves: email, label: Code}
            """
        try await TestServer.with(flow: flow) { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            #expect(first.has("Get started") && !first.has("Place"))
            #expect(try await kim.post("/signup", first.hidden).path == "/signup/first")
            #expect(try await kim.post("/signup/first", "locale=Seoul").path == "/signup/address")
        }
    }

    @Test(arguments: ["email", "login_hint"])
    func `a link fills in the address`(name: String) async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let page = try await kim.open("/signup?\(name)=kim%2Bnightingale%40example.com")
            #expect(value("email", page) == "kim+nightingale@example.com")
            let signIn = try await kim.open("/sign-in?\(name)=kim%2Bnightingale%40example.com")
            #expect(value("identifier", signIn) == "kim+nightingale@example.com")
            #expect(try drafts() == 0)
            #expect(!site.log.text.contains("nightingale"), "the log has no query")
        }
    }

    @Test(
        arguments: [
            "kim", "%22%3E%3Cscript%3E", "a%0Ab%40example.com", String(repeating: "a", count: 250) + "%40b.example",
        ]
    )
    func `a hint that is no address fills in nothing`(hint: String) async throws {
        try await TestServer.with { site in
            let page = try await PageVisitor(site).open("/signup?email=\(hint)")
            #expect(page.status == 200 && value("email", page) == "" && !page.has("<script>"))
        }
    }

    @Test func `a hint for the sign-in is escaped, and not longer than an address`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let page = try await kim.open("/sign-in?login_hint=%22%3E%3Cb%3E")
            #expect(page.has("value=\"&quot;&gt;&lt;b&gt;\"") && !page.has("<b>"))
            let long = try await kim.open("/sign-in?login_hint=\(String(repeating: "a", count: 255))")
            #expect(long.status == 200 && value("identifier", long) == "")
        }
    }

    @Test func `the hint of an application fills in the sign-up, too`() async throws {
        try await RelyingParty.with { shop in
            let kim = PageVisitor(shop.site)
            let page = try await kim.open(shop.url(["prompt": "create", "login_hint": "kim@example.com"]))
            #expect(page.path.hasPrefix("/signup?request=") && value("email", page) == "kim@example.com")
            let code = try await kim.post("/signup", "\(page.hidden)&\(Self.email)")
            #expect(code.path == "/signup/code")
            let sealed = try DatabaseSession().query("SELECT count(*) FROM drafts").only.decode(Int.self)
            #expect(sealed == 1)
        }
    }

    @Test func `the first form keeps the request of an application`() async throws {
        try await RelyingParty.with { shop in
            let kim = PageVisitor(shop.site)
            let first = try await kim.open(shop.url(["prompt": "create"]))
            #expect(try await kim.post("/signup", "\(first.hidden)&\(Self.email)").path == "/signup/code")
            for step in ["code", "password", "profile", "contact", "totp", "terms"] {
                let form =
                    switch step {
                    case "code": "code=\(try await shop.site.service.readCode(for: "kim@example.com"))"
                    case "password": "password=a+pass+phrase+of+mine&confirmation=a+pass+phrase+of+mine"
                    case "profile": "username=kim&display_name=Kim&introduction="
                    case "contact": "phone=&birth_date=2001-02-28"
                    case "totp": ""
                    default: "terms=on"
                    }
                _ = try await kim.post("/signup/\(step)", form)
            }
            #expect(try await kim.post("/signup/commit").has("Continue to Example Shop"))
        }
    }

    @Test func `an image that is too large does not lose the request of an application`() async throws {
        let flow = """
            flow: pictures
            version: 1
            languages: [en]
            steps:
              - name: first
                title: First
                fields:
                  - {name: photo, kind: image, label: Photo}
              - name: address
                title: Address
                fields:
                  - {name: email, kind: email, identifier: true, label: Email}
              - name: code
                title: Code
                fields:
                  - {name: code, kind: code, proves: email, label: Code}
            """
        try await TestServer.with(flow: flow) { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup?request=a%2Fb")
            let action = try #require(first.html.firstMatch(of: /action="(\/signup[^"]*)"/)?.1)
            let bytes = [UInt8](repeating: 0, count: ImageField.maximumBytes + BodyReader.maximumBytes)
            let refused = try await kim.post(String(action), Multipart(photo: bytes))
            #expect(refused.status == 422 && refused.has("enctype=\"multipart/form-data\""))
            #expect(refused.has("name=\"request\" value=\"a/b\"") && refused.has("action=\"\(action)\""))
        }
    }

    @Test func `programs start as before`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            #expect(try await kim.send(.post, "/signup").status == 201)
            let refused = try await kim.send(.post, "/signup", ["email": "kim@example.com"])
            #expect(refused.status == 422 && refused.refusals == ["email:unknown_field"])
        }
    }
}
