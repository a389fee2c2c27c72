import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

/// The YAML examples of `docs/flow.md`, in order.
private let blocks = Result {
    let text = try String(contentsOf: Repository.root.appending(path: "docs/flow.md"), encoding: .utf8)
    return text.components(separatedBy: "```yaml\n").dropFirst().map {
        String($0.prefix(upTo: $0.range(of: "```")!.lowerBound))
    }
}

@Suite("What docs/flow.md shows", .freshDatabase, .timeLimit(.minutes(30)))
struct FlowDocumentTests {
    private func example(_ name: String) throws -> String {
        try #require(blocks.get().first { $0.hasPrefix("flow: \(name)\n") }, "the document has no flow \(name)")
    }

    @Test func `the document has three flows, and each loads`() throws {
        let flows = try blocks.get().filter { $0.hasPrefix("flow: ") }
        #expect(try flows.map { try Flow(yaml: $0, file: "flow.md").id } == ["minimal@1", "names@1", "business@3"])
    }

    @Test func `the minimal flow creates an account from an address, its code and a password`() async throws {
        try await TestServer.with(flow: example("minimal")) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.put("email", ["email": "kim@example.com"])
            try await kim.put("code", ["code": .string(site.service.readCode(for: "kim@example.com"))])
            try await kim.put("password", ["password": "a pass phrase of mine"])
            let account = try await kim.commit()
            #expect(account.status == 201 && account.json["account"]?["email"] == "kim@example.com")
        }
    }

    @Test func `the names flow asks for no address and sends no mail`() async throws {
        try await TestServer.with(flow: example("names")) { site in
            let kim = site.visitor(.bearer)
            #expect(try await kim.start(locale: "ko").status == 201)
            #expect(try await kim.put("name", ["username": "Kim"]).json["values"]?["username"] == "kim")
            let phrase = "a pass phrase of mine"
            try await kim.put("password", ["password": .string(phrase), "again": .string(phrase)])
            #expect(try await kim.commit().json["account"]?["username"] == "kim")
            #expect(try DatabaseSession().query("SELECT count(*) FROM outbox").only.decode(Int.self) == 0)
        }
    }

    @Test func `the business flow stores its answers in the profile`() async throws {
        try await TestServer.with(flow: example("business")) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.put("person", ["full_name": " Kim  Minji", "email": "kim@example.com"])
            try await kim.put("code", ["code": .string(site.service.readCode(for: "kim@example.com"))])
            let refused = try await kim.put(
                "company",
                [
                    "company_name": "", "business_number": "123", "employees": 0, "industry": "x", "interests": "stock",
                ]
            )
            #expect(
                refused.refusals == [
                    "company_name:required", "business_number:bad_format", "employees:not_allowed",
                    "industry:not_allowed",
                    "interests:wrong_type",
                ]
            )
            let company: JSON = [
                "company_name": "Hana", "business_number": "123-45-67890", "employees": 12, "industry": "retail",
                "interests": ["stock", "invoices"], "founded_on": "1999-12-31",
            ]
            #expect(try await kim.put("company", company).nextStep == "contact")
            #expect(try await kim.put("contact", [:]).nextStep == "password")
            let phrase = "a pass phrase of ours"
            try await kim.put("password", ["password": .string(phrase), "confirmation": .string(phrase)])
            try await kim.put("terms", ["terms": true])
            let account = try await kim.commit().json["account"]
            #expect(account?["full_name"] == "Kim  Minji" && account?["employees"] == 12)
            #expect(account?["interests"] == ["invoices", "stock"] && account?["founded_on"] == "1999-12-31")
            let profile = try DatabaseSession().query("SELECT profile ->> 'business_number' FROM accounts").only.decode(
                String.self
            )
            #expect(profile == "123-45-67890")
        }
    }

    /// The standard flow, changed as the document shows: another step after `profile`, and no terms.
    private func changed() throws -> String {
        let step = try #require(blocks.get().first { $0.hasPrefix("  - name: source") })
        let standard = String(decoding: PackageResources.signup_yaml, as: UTF8.self)
        let (before, after) = try halves(of: standard, at: "  - name: contact\n")
        return try (before + step + "\n" + halves(of: after, at: "  - name: terms\n").0)
            .replacing("version: 1", with: "version: 2")
    }

    private func halves(of text: String, at line: String) throws -> (String, String) {
        let range = try #require(text.range(of: line))
        return (String(text[..<range.lowerBound]), String(text[range.lowerBound...]))
    }

    @Test func `an edited flow file changes the fields of a draft, the descriptions, the checks and the account`()
        async throws
    {
        let token = Mutex<String?>(nil)
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            #expect(try await kim.fill().json["state"] == "ready")
            token.withLock { $0 = kim.tokenText }
        }
        try await TestServer.with(flow: changed()) { site in
            let kim = site.visitor(.bearer)
            kim.tokenText = token.withLock { $0 }

            // The draft: valid answers are not asked for again, and removed fields are not shown.
            let draft = try await kim.send(.get, "/signup")
            #expect(draft.json["state"] == "open" && draft.nextStep == "source" && draft.missing == ["heard_from"])
            #expect(draft.json["values"]?["username"] == "kim" && draft.json["values"]?["terms"] == nil)
            #expect(draft.states == ["complete", "complete", "complete", "complete", "current", "locked", "locked"])
            #expect(try await kim.send(.get, "/signup/terms").slug == "unknown-step")

            // The schema and the OpenAPI document.
            let schema = try await kim.send(.get, "/signup/schema", headers: [.acceptLanguage: "ko"])
            let field = try #require(schema.fields.first { $0["name"] == "heard_from" })
            #expect(
                field["rules"]?["options"]
                    == .array([
                        ["value": "friend", "label": "친구"], ["value": "search", "label": "검색"],
                        ["value": "other", "label": "기타"],
                    ])
            )
            let paths = try await kim.send(.get, "/openapi.json").json["paths"]
            #expect(paths?["/signup/source"] != nil && paths?["/signup/terms"] == nil)

            // The checks.
            let check = try await kim.send(.post, "/signup/source/check", ["heard_from": "radio"])
            #expect(check.refusals == ["heard_from:not_allowed"])
            #expect(try await kim.commit().slug == "incomplete")
            #expect(try await kim.put("source", ["heard_from": "friend"]).json["state"] == "ready")

            // The account.
            let account = try await kim.commit().json["account"]
            #expect(account?["heard_from"] == "friend" && account?["username"] == "kim")
            #expect(try DatabaseSession().query("SELECT flow FROM accounts").only.decode(String.self) == "default@2")
            #expect(try DatabaseSession().query("SELECT count(*) FROM consents").only.decode(Int.self) == 0)
        }
    }

    @Test func `answers that the changed flow does not allow are shown as invalid`() async throws {
        let token = Mutex<String?>(nil)
        let flow = { (option: String) in
            """
            flow: test
            version: 1
            steps:
              - name: one
                title: One
                fields:
                  - {name: tea, kind: choice, label: Tea, options: [{value: \(option), label: Some}]}
                  - {name: cups, kind: number, label: Cups, max: \(option == "green" ? 9 : 3)}
            """
        }
        try await TestServer.with(flow: flow("green")) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            #expect(try await kim.put("one", ["tea": "green", "cups": 5]).status == 200)
            token.withLock { $0 = kim.tokenText }
        }
        try await TestServer.with(flow: flow("black")) { site in
            let kim = site.visitor(.bearer)
            kim.tokenText = token.withLock { $0 }
            let draft = try await kim.send(.get, "/signup")
            #expect(draft.states == ["invalid"] && draft.missing == ["tea", "cups"])
            #expect(draft.json["values"] == ["tea": "green", "cups": 5])
            let cookie: HTTPFields = [.cookie: "signup=\(kim.tokenText ?? "")", .accept: "text/html"]
            let review = try await site.send(.get, "/signup/review", cookie).body
            #expect(review.contains("<div class=\"missing\"><dt>Cups</dt><dd>5</dd></div>"))
            #expect(!review.contains("Required") && !review.contains(">Fill in<"))
            #expect(try await kim.put("one", ["tea": "black", "cups": 3]).json["state"] == "ready")
        }
    }

    @Test func `a password is never shown after the flow file changes the kind of its field`() async throws {
        let token = Mutex<String?>(nil)
        let flow = { (kind: String) in
            "flow: test\nversion: 1\nsteps: [{name: one, title: One, fields: [{name: word, kind: \(kind), label: Word}]}]"
        }
        try await TestServer.with(flow: flow("password")) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            #expect(try await kim.put("one", ["word": "a pass phrase of mine"]).status == 200)
            token.withLock { $0 = kim.tokenText }
        }
        // A confirmation stores no value, so the hash that is stored under its name is not used.
        let renamed = """
            flow: test
            version: 1
            steps:
              - name: one
                title: One
                fields:
                  - {name: main, kind: password, label: Word}
                  - {name: word, kind: confirmation, confirms: main, label: Word}
            """
        try await TestServer.with(flow: renamed) { site in
            let kim = site.visitor(.bearer)
            kim.tokenText = token.withLock { $0 }
            let draft = try await kim.send(.get, "/signup")
            #expect(draft.json["values"] == [:])
        }
        for kind in [
            "text", "choice, options: [{value: a, label: A}]", "number", "email", "consent, version: v, document: D",
        ] {
            try await TestServer.with(flow: flow(kind)) { site in
                let kim = site.visitor(.bearer)
                kim.tokenText = token.withLock { $0 }
                for path in ["/signup", "/signup/one", "/signup/review"] {
                    let response = try await kim.send(.get, path)
                    #expect(response.status == 200 && !response.body.contains("argon2"))
                }
                #expect(try await kim.commit().slug == "incomplete")
            }
        }
        try await TestServer.with(flow: renamed) { site in
            let kim = site.visitor(.bearer)
            kim.tokenText = token.withLock { $0 }
            let phrase = "another phrase of mine"
            #expect(try await kim.put("one", ["main": .string(phrase), "word": .string(phrase)]).status == 200)
            let account = try await kim.commit()
            #expect(account.status == 201 && !account.body.contains("argon2"))
            #expect(try DatabaseSession().query("SELECT profile::text FROM accounts").only.decode(String.self) == "{}")
        }
    }

    @Test func `white space counts as no answer, and a form with empty controls skips an optional step`() async throws {
        try await TestServer.with(flow: example("business")) { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.put("person", ["full_name": "Kim Minji", "email": "kim@example.com"])
            try await kim.put("code", ["code": .string(site.service.readCode(for: "kim@example.com"))])
            let company: JSON = [
                "company_name": "Hana", "business_number": "123-45-67890", "employees": 12, "industry": "retail",
            ]
            try await kim.put("company", company)
            let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let wrong = try await kim.send(.post, "/signup/contact", "phone=&note=+x", headers: form)
            #expect(wrong.refusals == ["phone:required"])
            let unknown = try await kim.send(.post, "/signup/contact", "phone=&more=", headers: form)
            #expect(unknown.refusals == ["more:unknown_field", "phone:required"])
            let skipped = try await kim.send(.post, "/signup/contact", "phone=&note=+%0D%0A", headers: form)
            #expect(skipped.status == 200 && skipped.nextStep == "password")
        }
    }
}
