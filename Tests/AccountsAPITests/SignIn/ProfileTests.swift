import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The profile and the export of an account", .freshDatabase)
struct ProfileTests {
    @Test func `a person changes the values of a step`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let step = try await kim.send(.get, "/account/profile")
            #expect(step.status == 200 && step.json["href"] == "/account/profile")
            #expect(step.json["fields"]?.names(of: "name") == ["username", "display_name", "introduction", "photo"])
            let edit: JSON = ["username": "kim", "display_name": "Kim Min-ji", "introduction": "Hello"]
            let edited = try await kim.send(.put, "/account/profile", edit)
            #expect(edited.status == 200 && edited.json["account"]?["display_name"] == "Kim Min-ji")
            #expect(edited.json["account"]?["birth_date"] == "2001-02-28", "the values of other steps stay")
            let cleared = try await kim.send(.put, "/account/profile", ["username": "kim"])
            #expect(cleared.json["account"]?["display_name"] == nil && cleared.json["account"]?["introduction"] == nil)
            let shown = try await kim.send(.get, "/account")
            #expect(shown.json["account"] == cleared.json["account"])
        }
    }

    @Test func `the field kinds validate the values as in a sign-up`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            #expect(try await kim.send(.put, "/account/profile", [:]).refusals == ["username:required"])
            let refused: JSON = ["username": "admin", "photo": "x", "display_name": "\u{200B}"]
            let answer = try await kim.send(.put, "/account/profile", refused)
            #expect(answer.refusals == ["username:reserved", "display_name:bad_characters", "photo:wrong_type"])
            #expect(
                try await kim.send(.put, "/account/contact", ["birth_date": "2020-01-01"]).refusals == [
                    "birth_date:too_young"
                ]
            )
            for step in ["email", "password-of-mine", "code"] {
                #expect(try await kim.send(.put, "/account/\(step)", [:]).status >= 404, "\(step)")
            }
            #expect(try await Browser(site).send(.put, "/account/profile", ["username": "x"]).slug == "no-session")
        }
    }

    @Test func `blank answers clear an optional step as in a sign-up, but an unknown field does not`() async throws {
        let flow = """
            flow: test
            version: 1
            steps:
              - {name: a, title: A, fields: [{name: username, kind: username, identifier: true, label: U}, {name: password, kind: password, label: P}]}
              - name: b
                title: B
                editable: true
                optional: true
                fields: [{name: note, kind: text, label: N}]
            """
        try await TestServer.with(flow: flow) { site in
            let kim = Browser(site)
            _ = try await kim.send(.post, "/signup")
            let first: JSON = ["username": "kim", "password": "a pass phrase of mine"]
            #expect(try await kim.send(.put, "/signup/a", first).status == 200)
            #expect(try await kim.send(.put, "/signup/b", ["note": "Hello"]).status == 200)
            #expect(try await kim.send(.post, "/signup/commit").status == 201)
            let unknown = try await kim.send(.put, "/account/b", ["typo": nil])
            #expect(unknown.status == 422 && unknown.refusals.contains("typo:unknown_field"))
            #expect(try await kim.send(.get, "/account").json["account"]?["note"] == "Hello")
            let cleared = try await kim.send(.put, "/account/b", ["note": "  "])
            #expect(cleared.status == 200 && cleared.json["account"]?["note"] == nil)
        }
    }

    @Test func `a new username replaces the old one as an identifier`() async throws {
        try await TestServer.with { site in
            try await site.readyAccount("lee@example.com", "lee")
            let kim = Browser(site)
            try await kim.signUp()
            let taken = try await kim.send(.put, "/account/profile", ["username": "lee"])
            #expect(taken.refusals == ["username:taken"])
            #expect(try await kim.send(.get, "/account").json["account"]?["username"] == "kim")
            let renamed = try await kim.send(.put, "/account/profile", ["username": "mina"])
            #expect(renamed.json["account"]?["username"] == "mina")
            #expect(try await Browser(site).signIn("kim").slug == "sign-in-failed")
            let signedIn = try await Browser(site).signIn("mina").status
            #expect(signedIn == 201)
            let other = Browser(site)
            try await other.signUp("new@example.com", "kim")
            #expect(try await other.send(.get, "/session").status == 200, "the old name is free")
        }
    }

    @Test func `a username that an open sign-up holds is taken`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            _ = try await site.service.fill(
                site.service.start(),
                through: "profile",
                email: "mina@example.com",
                username: "mina"
            )
            #expect(try await kim.send(.put, "/account/profile", ["username": "mina"]).refusals == ["username:taken"])
        }
    }

    @Test func `of four accounts that want the same username at the same time, one gets it`() async throws {
        try await TestServer.with { site in
            let people = (1...4).map { (number: $0, browser: Browser(site)) }
            for (number, person) in people { try await person.signUp("p\(number)@example.com", "person\(number)") }
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for (_, person) in people {
                    group.addTask { try await person.send(.put, "/account/profile", ["username": "wanted"]).status }
                }
                var all: [Int] = []
                for try await status in group { all.append(status) }
                return all.sorted()
            }
            #expect(answers == [200, 422, 422, 422])
            let rows = try DatabaseSession().number(of: "identifiers WHERE kind = 'username'")
            #expect(rows == 4)
        }
    }

    @Test func `only steps that the flow marks as editable can be changed`() async throws {
        let flow = """
            flow: f
            version: 1
            steps:
              - {name: a, title: A, fields: [{name: name, kind: text, label: N}]}
              - {name: b, title: B, editable: true, fields: [{name: note, kind: text, label: N, required: false}]}
            """
        try await TestServer.with(flow: flow) { site in
            let kim = Browser(site)
            try await kim.send(.post, "/signup", [:])
            try await kim.send(.put, "/signup/a", ["name": "Kim"])
            try await kim.send(.put, "/signup/b", [:])
            try await kim.send(.post, "/signup/commit")
            #expect(try await kim.send(.put, "/account/a", ["name": "Lee"]).slug == "unknown-step")
            let edited = try await kim.send(.put, "/account/b", ["note": "x"])
            #expect(edited.json["account"]?["note"] == "x" && edited.json["account"]?["name"] == "Kim")
        }
    }

    @Test func `a second address that nobody has proved can be changed, and gets no mail`() async throws {
        let flow = """
            flow: f
            version: 1
            steps:
              - {name: email, title: E, fields: [{name: email, kind: email, identifier: true, label: E}]}
              - {name: code, title: C, fields: [{name: code, kind: code, proves: email, label: C}]}
              - {name: bills, title: B, editable: true, fields: [{name: billing, kind: email, required: false, label: B}]}
            """
        try await TestServer.with(flow: flow) { site in
            let kim = Browser(site)
            try await kim.send(.post, "/signup", [:])
            try await kim.send(.put, "/signup/email", ["email": "kim@example.com"])
            let code = try await site.service.readCode(for: "kim@example.com")
            try await kim.send(.put, "/signup/code", ["code": .string(code)])
            try await kim.send(.put, "/signup/bills", ["billing": "kim@example.org"])
            try await kim.send(.post, "/signup/commit")
            let edited = try await kim.send(.put, "/account/bills", ["billing": "Office@Example.com"])
            #expect(edited.json["account"]?["billing"] == "office@example.com")
            #expect(edited.json["account"]?["email"] == "kim@example.com")
            #expect(try await kim.send(.put, "/account/bills", ["billing": "x"]).refusals == ["billing:bad_format"])
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.allSatisfy { $0.to == "kim@example.com" })
            #expect(try await kim.send(.put, "/account/bills", [:]).json["account"]?["billing"] == nil)
        }
    }

    @Test func `a second address that a code has proved stays as it is`() async throws {
        let flow = """
            flow: f
            version: 1
            steps:
              - {name: email, title: E, fields: [{name: email, kind: email, identifier: true, label: E}]}
              - {name: code, title: C, fields: [{name: code, kind: code, proves: email, label: C}]}
              - name: office
                title: O
                editable: true
                fields: [{name: billing, kind: email, label: B}, {name: note, kind: text, required: false, label: N}]
              - {name: proof, title: P, fields: [{name: proof, kind: code, proves: billing, label: P}]}
            """
        try await TestServer.with(flow: flow) { site in
            let kim = Browser(site)
            try await kim.send(.post, "/signup", [:])
            try await kim.send(.put, "/signup/email", ["email": "kim@example.com"])
            try await kim.send(.put, "/signup/code", ["code": .string(site.service.readCode(for: "kim@example.com"))])
            try await kim.send(.put, "/signup/office", ["billing": "office@example.com"])
            let code = try await site.service.readCode(for: "office@example.com")
            try await kim.send(.put, "/signup/proof", ["proof": .string(code)])
            #expect(try await kim.send(.post, "/signup/commit").status == 201)

            let step = try await kim.send(.get, "/account/office")
            #expect(step.body.contains("note") && !step.body.contains("billing"))
            let refused = try await kim.send(.put, "/account/office", ["billing": "other@example.com", "note": "x"])
            #expect(refused.status == 422 && refused.slug == "validation-failed")
            #expect(refused.refusals == ["billing:unknown_field"])
            #expect(try await kim.send(.put, "/account/proof", ["proof": "123456"]).slug == "unknown-step")
            let edited = try await kim.send(.put, "/account/office", ["note": "x"])
            #expect(
                edited.json["account"]?["billing"] == "office@example.com" && edited.json["account"]?["note"] == "x"
            )
        }
    }

    @Test func `a person exports the data that the service stores about the account`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site, userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
            try await kim.signUp()
            try DatabaseSession().run(
                "INSERT INTO photos (account, field, type, image) SELECT id, 'photo', 'image/jpeg', 'JPEG' FROM accounts"
            )
            let export = try await kim.send(.get, "/account/export")
            #expect(export.status == 200 && export.headers[.contentDisposition]?.contains("attachment") == true)
            #expect(export.json["account"]?["email"] == "kim@example.com" && export.json["language"] == "en")
            #expect(export.json["consents"]?.names(of: "field").contains("terms") == true)
            #expect(export.json["sessions"]?.names(of: "browser") == ["Firefox (Linux)"])
            #expect(export.json["photos"]?.names(of: "href") == ["/account/photos/photo"])
            #expect(!export.body.contains("argon2"), "no secret")
            let photo = try await kim.send(.get, "/account/photos/photo")
            #expect(photo.status == 200 && photo.body == "JPEG" && photo.headers[.contentType] == "image/jpeg")
            #expect(try await kim.send(.get, "/account/photos/other").status == 404)
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '11 minutes'")
            #expect(try await kim.send(.get, "/account/export").slug == "confirmation-required")
        }
    }

    @Test func `a person sets up an app, replaces its recovery codes and removes it, without script`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            #expect(try await kim.open("/account").has("href=\"/account/authenticator\""))
            let page = try await kim.open("/account/authenticator")
            #expect(page.status == 200 && page.has("<svg") && !page.has("/account/authenticator/remove"))
            let wrong = try await kim.post("/account/authenticator", "code=12")
            #expect(wrong.status == 422 && wrong.has("aria-invalid=\"true\"") && wrong.has("<svg"))
            let groups = page.html.matches(of: /<span>([a-zA-Z2-7]{4})<\/span>/).map { String($0.1) }
            let secret = groups.joined().base32Bytes
            let codes = try await kim.post("/account/authenticator", "code=\(SignedUp(secret: secret).code)")
            #expect(codes.status == 200 && codes.has("<code>") && codes.path == "/account/authenticator")
            #expect(try await kim.post("/account/authenticator/saved").path == "/account?saved")
            let set = try await kim.open("/account/authenticator")
            #expect(set.has("Authenticator app is on"))
            let other = try await kim.post("/account/authenticator/codes")
            #expect(other.status == 200 && other.has("<code>"))
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '11 minutes'")
            #expect(try await kim.post("/account/authenticator/remove").path == "/account/confirm?authenticator")
            _ = try await kim.post("/account/confirm", "password=a+pass+phrase+of+mine&next=authenticator")
            #expect(try await kim.post("/account/authenticator/remove").path == "/account?authenticator-removed")
            let rows = try DatabaseSession().number(of: "authenticators")
            #expect(rows == 0)
        }
    }

    private static func codes(on page: PageVisitor.Page) -> [String] {
        page.html.matches(of: /<li><code>([^<]+)/).map { String($0.1) }
    }

    @Test func `the page shows the new recovery codes of an account until the person has saved them`() async throws {
        let path = "/account/authenticator"
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let page = try await kim.open(path)
            let secret = try #require(page.html.firstMatch(of: /secret=([A-Z2-7]+)/)).1
            let person = SignedUp(secret: String(secret).base32Bytes)
            let form = "code=\(person.code)"
            let first = try await kim.post(path, form)
            let shown = Self.codes(on: first)
            #expect(first.path == path && first.has("<h1>Recovery codes</h1>") && shown.count == 10)
            #expect(first.has("action=\"\(path)/saved\"") && first.has("data-account=\"kim@example.com\""))
            #expect(first.has("class=\"languages\""), "the codes are still there after a switch")
            for again in [try await kim.open(path), try await kim.post(path, form)] {
                #expect(again.status == 200 && Self.codes(on: again) == shown && !again.has("That code isn"))
            }
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '11 minutes'")
            for unconfirmed in [
                try await kim.open(path), try await kim.post(path, "code=12"), try await kim.post(path, form),
            ] {
                #expect(unconfirmed.path == "/account/confirm?authenticator" && Self.codes(on: unconfirmed).isEmpty)
            }
            try DatabaseSession().run("UPDATE sessions SET auth_time = now()")
            let second = Self.codes(on: try await kim.post("\(path)/codes"))
            #expect(second.count == 10 && Set(second).isDisjoint(with: shown))
            #expect(try await kim.post("\(path)/saved").path == "/account?saved")
            #expect(try await kim.open(path).has("Authenticator app is on"))

            // Another session cannot read the codes that this one has not saved.
            let third = Self.codes(on: try await kim.post("\(path)/codes"))
            #expect(third.count == 10)
            _ = try await kim.post("/account/sign-out")
            try site.forgetUsedCodes()
            _ = try await kim.post("/sign-in", "identifier=kim&password=a+pass+phrase+of+mine")
            #expect(try await kim.post("/sign-in/second-factor", "code=\(person.code)").path == "/account")
            #expect(try await kim.open(path).has("Authenticator app is on"))

            // Codes that the account has no longer are not shown.
            let fourth = Self.codes(on: try await kim.post("\(path)/codes"))
            #expect(fourth.count == 10)
            _ = try await kim.post("\(path)/remove")
            let removed = try await kim.open(path)
            #expect(Self.codes(on: removed).isEmpty && removed.has("<svg"))
        }
    }

    @Test func `the pages edit a step without script, and lead to the export`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let account = try await kim.open("/account")
            #expect(account.has("href=\"/account/profile\"") && account.has("href=\"/account/export\""))
            let form = try await kim.open("/account/profile")
            #expect(form.has("action=\"/account/profile\"") && form.has("value=\"kim\""))
            let refused = try await kim.post("/account/profile", "username=admin&display_name=Kim+K")
            #expect(refused.status == 422 && refused.has("value=\"Kim K\"") && refused.has("aria-invalid"))
            let saved = try await kim.post("/account/profile", "username=kim&display_name=Kim+K&introduction=")
            #expect(saved.path == "/account?saved" && saved.has("Your changes are saved.") && saved.has("Kim K"))
            #expect(try await kim.open("/account/nowhere").status == 404)
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '11 minutes'")
            #expect(try await kim.open("/account/export").path == "/account/confirm?export")
        }
    }
}

extension JSON {
    /// The text of this member in each item of the list.
    fileprivate func names(of member: String) -> [String] {
        guard case .array(let items) = self else { return [] }
        return items.compactMap { $0[member]?.string }
    }
}
