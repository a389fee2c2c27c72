import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("What clients can learn of the flow", .freshDatabase, .timeLimit(.minutes(3)))
struct SchemaTests {
    @Test func `the schema names every step and field, before anybody begins`() async throws {
        try await TestServer.with { site in
            let answer = try await site.visitor().send(.get, "/signup/schema")
            #expect(answer.status == 200)
            #expect(answer.json["flow"] == "default@1" && answer.json["service"] == "Acme")
            #expect(answer.json["languages"] == ["en", "ko"])
            let flow = site.service.signups.flow
            #expect(answer.steps.map { $0["name"]?.string } == flow.steps.map(\.name.rawValue))
            #expect(answer.fields.map { $0["name"]?.string } == flow.fields.map(\.name.rawValue))
            #expect(answer.fields.allSatisfy { $0["value"] == nil })
        }
    }

    @Test(arguments: [
        ("ko", "ko", "이메일 주소"), ("en", "en", "E-mail address"), ("fr", "en", "E-mail address"),
        ("fr, ko;q=0.5", "ko", "이메일 주소"),
    ])
    func `it speaks the language asked for`(asked: String, spoken: String, label: String) async throws {
        try await TestServer.with { site in
            let answer = try await site.visitor().send(.get, "/signup/schema", headers: [.acceptLanguage: asked])
            #expect(answer.json["language"]?.string == spoken && answer.headers[.contentLanguage] == spoken)
            #expect(answer.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site")
            #expect(answer.fields.first?["label"]?.string == label)
        }
    }

    @Test func `a field says what it is for, by which rules, and with which control`() async throws {
        try await TestServer.with { site in
            let fields = try await site.visitor().send(.get, "/signup/schema").fields
            let password = try #require(fields.first { $0["name"] == "password" })
            #expect(password["help"]?.string?.contains("15 characters") == true)
            #expect(password["rules"] == ["min": 15, "max": 256])
            #expect(password["input"] == ["type": "password", "autocomplete": "new-password"])
            let phone = try #require(fields.first { $0["name"] == "phone" })
            #expect(phone["input"] == ["type": "tel", "autocomplete": "tel", "inputmode": "tel"])
            #expect(phone["required"] == false && phone["rules"] == ["region": "KR"])
            let email = try #require(fields.first)
            #expect(email["help"] == .null)
            let terms = try #require(fields.first { $0["name"] == "terms" })
            #expect(terms["rules"]?["document"]?.string?.hasPrefix("You are who you say") == true)
        }
    }

    @Test(arguments: ["/signup/schema", "/openapi.json"])
    func `who holds it already is told so`(path: String) async throws {
        try await TestServer.with { site in
            let visitor = site.visitor()
            let first = try await visitor.send(.get, path)
            let tag = try #require(first.headers[.eTag])
            for held in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let answer = try await visitor.send(.get, path, headers: [.ifNoneMatch: held])
                #expect(answer.status == 304 && answer.body.isEmpty && answer.headers[.eTag] == tag)
            }
            for other in ["\"other\"", String(tag.dropFirst().dropLast()), ""] {
                #expect(try await visitor.send(.get, path, headers: [.ifNoneMatch: other]).body == first.body)
            }
        }
    }

    @Test func `another language, or another flow, has another tag`() async throws {
        let tags = Mutex<[String]>([])
        for flow in [nil, "flow: other\nversion: 1\nlanguages: [en, ko]\n" + Self.steps] {
            try await TestServer.with(flow: flow) { site in
                for language in ["en", "ko"] {
                    let answer = try await site.visitor()
                        .send(.get, "/signup/schema", headers: [.acceptLanguage: language])
                    let tag = try #require(answer.headers[.eTag])
                    tags.withLock { $0.append(tag) }
                }
            }
        }
        #expect(Set(tags.withLock { $0 }).count == 4)
    }

    private static let steps = """
        steps:
          - name: one
            title: {en: One, ko: 하나}
            fields: [{name: text, kind: text, label: {en: Text, ko: 글}}]
        """

    @Test func `the description is of OpenAPI 3_1 and has every path of the flow`() async throws {
        try await TestServer.with { site in
            let answer = try await site.visitor().send(.get, "/openapi.json")
            #expect(answer.json["openapi"] == "3.1.0")
            guard case .object(let paths)? = answer.json["paths"] else {
                Issue.record("there are no paths")
                return
            }
            let names = paths.map(\.name)
            #expect(Set(names).count == names.count)
            let flow = site.service.signups.flow
            for step in flow.steps {
                #expect(names.contains("/signup/\(step.name)") && names.contains("/signup/\(step.name)/check"))
                #expect(names.contains("/signup/\(step.name)/resend") == (step.name == "code"))
            }
            for path in ["/signup", "/signup/schema", "/signup/review", "/signup/commit", "/openapi.json"] {
                #expect(names.contains(path))
            }
        }
    }

    @Test func `both are read-only`() async throws {
        try await TestServer.with { site in
            for path in ["/signup/schema", "/openapi.json"] {
                let answer = try await site.visitor().send(.post, path, [:])
                #expect(answer.status == 405 && answer.headers[.allow] == "GET, HEAD")
            }
        }
    }
}

extension Answer {
    /// The steps of a schema.
    var steps: [JSON] {
        guard case .array(let steps)? = json["steps"] else { return [] }
        return steps
    }

    /// The fields of a schema, of all steps.
    var fields: [JSON] {
        steps.flatMap { step -> [JSON] in
            guard case .array(let fields)? = step["fields"] else { return [] }
            return fields
        }
    }
}
