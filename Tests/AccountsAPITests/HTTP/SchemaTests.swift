import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The schema and the OpenAPI description", .freshDatabase, .timeLimit(.minutes(30)))
struct SchemaTests {
    @Test func `the schema lists every step and field, without a sign-up`() async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.get, "/signup/schema")
            #expect(response.status == 200)
            #expect(response.json["flow"] == "default@1" && response.json["service"] == "Acme")
            #expect(response.json["languages"] == ["en", "ko"])
            let flow = site.service.signups.flow
            #expect(response.steps.map { $0["name"]?.string } == flow.steps.map(\.name.rawValue))
            #expect(response.fields.map { $0["name"]?.string } == flow.fields.map(\.name.rawValue))
            #expect(response.fields.allSatisfy { $0["value"] == nil })
        }
    }

    @Test(arguments: [
        ("ko", "ko", "이메일 주소"), ("en", "en", "Email address"), ("fr", "en", "Email address"),
        ("fr, ko;q=0.5", "ko", "이메일 주소"),
    ])
    func `the schema is in the requested language`(requested: String, language: String, label: String) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.get, "/signup/schema", headers: [.acceptLanguage: requested])
            #expect(response.json["language"]?.string == language && response.headers[.contentLanguage] == language)
            #expect(response.headers[.vary] == "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site")
            #expect(response.fields.first?["label"]?.string == label)
        }
    }

    @Test func `a field has its help, its rules and the attributes of its control`() async throws {
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
            #expect(terms["rules"]?["document"]?.string?.hasPrefix("Sign up with your own") == true)
        }
    }

    @Test(arguments: ["/signup/schema", "/openapi.json"])
    func `a matching If-None-Match gets 304`(path: String) async throws {
        try await TestServer.with { site in
            let visitor = site.visitor()
            let first = try await visitor.send(.get, path)
            let tag = try #require(first.headers[.eTag])
            for matching in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let response = try await visitor.send(.get, path, headers: [.ifNoneMatch: matching])
                #expect(response.status == 304 && response.body.isEmpty && response.headers[.eTag] == tag)
            }
            for other in ["\"other\"", String(tag.dropFirst().dropLast()), ""] {
                #expect(try await visitor.send(.get, path, headers: [.ifNoneMatch: other]).body == first.body)
            }
        }
    }

    @Test func `each language and each flow has its own ETag`() async throws {
        let tags = Mutex<[String]>([])
        for flow in [nil, "flow: other\nversion: 1\nlanguages: [en, ko]\n" + Self.steps] {
            try await TestServer.with(flow: flow) { site in
                for language in ["en", "ko"] {
                    let response = try await site.visitor()
                        .send(.get, "/signup/schema", headers: [.acceptLanguage: language])
                    let tag = try #require(response.headers[.eTag])
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

    @Test func `the description is OpenAPI 3.1 and has every path of the flow`() async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.get, "/openapi.json")
            #expect(response.json["openapi"] == "3.1.0")
            guard case .object(let paths)? = response.json["paths"] else {
                Issue.record("there are no paths")
                return
            }
            let names = paths.map(\.name)
            #expect(Set(names).count == names.count)
            let flow = site.service.signups.flow
            for step in flow.steps {
                #expect(names.contains("/signup/\(step.name)") && names.contains("/signup/\(step.name)/check"))
                #expect(names.contains("/signup/\(step.name)/resend") == (step.name == "code"))
                #expect(names.contains("/signup/\(step.name)/saved") == (step.name == "totp"))
            }
            for path in ["/signup", "/signup/schema", "/signup/review", "/signup/commit", "/openapi.json"] {
                #expect(names.contains(path))
            }
        }
    }

    @Test func `a form with a file may repeat a choice of several options`() async throws {
        let flow = """
            flow: tea
            version: 1
            languages: [en]
            steps:
              - name: one
                title: One
                fields:
                  - name: teas
                    kind: choice
                    choose: several
                    label: Teas
                    options: [{value: green, label: Green}, {value: black, label: Black}]
                  - {name: photo, kind: image, label: Photo, required: false}
            """
        try await TestServer.with(flow: flow) { site in
            let schemas = try await site.visitor().send(.get, "/openapi.json").json["components"]?["schemas"]
            let form = schemas?["Form.one"]?["properties"]
            #expect(form?["teas"] == ["type": "array", "items": ["type": "string"]] && form?["photo"] == [:])
        }
    }

    @Test func `the description lists the parameters of each query`() async throws {
        try await RelyingParty.with { shop in
            let paths = try await shop.site.send(.get, "/openapi.json").json["paths"]
            func query(_ path: String, _ method: String = "get") -> [String] {
                guard case .array(let parameters)? = paths?[path]?[method]?["parameters"] else { return [] }
                return parameters.filter { $0["in"] == "query" }.map { parameter in
                    (parameter["name"]?.string ?? "") + (parameter["required"] == true ? "!" : "")
                }
            }
            #expect(query("/events") == ["after", "limit"])
            #expect(
                query("/oauth/authorize") == [
                    "client_id!", "request_uri", "redirect_uri", "response_type", "response_mode", "scope", "state",
                    "nonce", "code_challenge", "code_challenge_method", "prompt", "max_age", "login_hint", "ui_locales",
                    "id_token_hint",
                ]
            )
            #expect(query("/oauth/authorize", "post") == [])
            #expect(query("/oauth/authorize/continue") == ["request!", "sign-up", "recover"])
            #expect(
                query("/oauth/logout") == ["client_id", "id_token_hint", "post_logout_redirect_uri", "state"]
            )
            for path in ["/signup/ticket", "/recovery/ticket", "/session/ticket"] {
                #expect(query(path) == ["ticket!"], "\(path)")
            }
            for path in ["/signup", "/recovery"] {
                let first = ["request", "return_to", "login_hint", "email", "locale", "ui_locales"]
                #expect(query(path) == first && query(path, "post") == ["request", "return_to"], "\(path)")
            }
            #expect(query("/email-change") == ["locale", "ui_locales"] && query("/email-change", "post") == [])
            #expect(query("/sign-in") == ["return_to", "anew", "login_hint", "email", "locale", "ui_locales"])
        }
    }

    @Test func `the description lists the credentials that each operation reads`() async throws {
        try await RelyingParty.with { shop in
            let document = try await shop.site.send(.get, "/openapi.json").json
            func security(_ method: String, _ path: String) -> JSON? { document["paths"]?[path]?[method]?["security"] }
            let schemes = document["components"]?["securitySchemes"]
            #expect(schemes?["application"]?["scheme"] == "basic" && schemes?["accessToken"]?["scheme"] == "bearer")
            let formOrBasic: JSON = [["application": []], [:]]
            for path in ["/oauth/token", "/oauth/par", "/oauth/introspect", "/oauth/revoke"] {
                #expect(security("post", path) == formOrBasic, "\(path)")
            }
            let basic: JSON = [["application": []]]
            #expect(security("get", "/events") == basic)
            let accessToken: JSON = [["accessToken": []]]
            #expect(security("get", "/oauth/userinfo") == accessToken)
            #expect(security("post", "/oauth/userinfo") == accessToken)
            let session: JSON = [["session": []], ["bearer": []]]
            for (method, path) in [
                ("get", "/account"), ("delete", "/session"), ("put", "/session/totp"), ("put", "/session/confirm"),
            ] {
                #expect(security(method, path) == session, "\(path)")
            }
            let optionalSession: JSON = [["session": []], ["bearer": []], [:]]
            for (method, path) in [("post", "/session"), ("get", "/oauth/authorize"), ("get", "/sign-in")] {
                #expect(security(method, path) == optionalSession, "\(path)")
            }
            #expect(document["paths"]?["/oauth/authorize"]?["get"]?["responses"]?["401"] == nil)
            let draft: JSON = [["cookie": []], ["bearer": []]]
            #expect(security("get", "/signup") == draft)
            let optionalDraft: JSON = [["cookie": []], ["bearer": []], [:]]
            #expect(security("post", "/signup") == optionalDraft)
            for path in ["/openapi.json", "/problems", "/health/live", "/oauth/keys"] {
                #expect(security("get", path) == nil, "\(path)")
            }
        }
    }

    @Test func `the description lists the parameters of each form of OAuth`() async throws {
        try await RelyingParty.with { shop in
            let paths = try await shop.site.send(.get, "/openapi.json").json["paths"]
            func form(_ path: String) -> JSON? {
                let content = paths?[path]?["post"]?["requestBody"]?["content"]
                return content?["application/x-www-form-urlencoded"]?["schema"]
            }
            #expect(form("/oauth/token")?["required"] == ["grant_type"])
            #expect(form("/oauth/token")?["properties"]?["refresh_token"] == ["type": "string"])
            for path in ["/oauth/introspect", "/oauth/revoke"] {
                #expect(form(path)?["required"] == ["token"], "\(path)")
                #expect(form(path)?["properties"]?["client_secret"] == ["type": "string"], "\(path)")
            }
            #expect(form("/oauth/par")?["properties"]?["redirect_uri"] == ["type": "string"])
            #expect(form("/oauth/par")?["properties"]?["request_uri"] == nil)
            #expect(form("/oauth/authorize")?["required"] == ["client_id"])
            #expect(form("/oauth/logout")?["properties"]?["id_token_hint"] == ["type": "string"])
        }
    }

    @Test func `the schema and the description are read-only`() async throws {
        try await TestServer.with { site in
            for path in ["/signup/schema", "/openapi.json"] {
                let response = try await site.visitor().send(.post, path, [:])
                #expect(response.status == 405 && response.headers[.allow] == "GET, HEAD")
            }
        }
    }
}

extension Response {
    /// The steps of a schema.
    var steps: [JSON] {
        guard case .array(let steps)? = json["steps"] else { return [] }
        return steps
    }

    /// The fields of all steps of a schema.
    var fields: [JSON] {
        steps.flatMap { step -> [JSON] in
            guard case .array(let fields)? = step["fields"] else { return [] }
            return fields
        }
    }
}
