import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("What docs/api.md says", .freshDatabase)
struct APIDocumentTests {
    private static func text() throws -> String {
        try String(contentsOf: Repository.root.appending(path: "docs/api.md"), encoding: .utf8)
    }

    /// The JSON examples of the document, in order.
    private static func examples() throws -> [JSON] {
        try text().matches(of: /(?m)^```json\n((?:.*\n)*?)```$/).map { try JSON.read(Array($0.1.utf8)) }
    }

    @Test func `the document lists every method and path with its statuses, and no others`() async throws {
        let text = try Self.text()
        try await TestSignups.with { service in
            let routes = try Routes(
                signups: service.signups,
                database: service.database,
                publicURL: "http://localhost:8080",
                allowedOrigins: [],
                applications: RelyingParty.registry(service.signups.flow, publicURL: "http://localhost:8080"),
                forwardAuth: ForwardAuth(
                    hosts: ForwardAuthHosts(["app.example"], publicURL: "http://localhost:8080"),
                    keys: SigningKeys(database: service.database, keys: try KeyRing(TestSignups.keys))
                )
            )
            var rows: [String: Substring] = [:]
            for row in text.matches(of: /(?m)^\| `((?:GET|PUT|POST|DELETE) [^`]+)` \| ([^|]*) \|/) {
                rows[String(row.1)] = row.2
            }
            #expect(rows.count == routes.operations.count)
            let names = routes.operations.map { "\($0.flow) \($0.act.name)" }
            #expect(Set(names).count == names.count, "an OpenAPI description needs unique names")
            for operation in routes.operations {
                let path = operation.path.replacing(/:([a-z]+)/, with: { "{\($0.1)}" })
                let row = try #require(rows["\(operation.method.rawValue) /\(path)"], "\(path)")
                for status in operation.responses.keys { #expect(row.contains("\(status.code)"), "\(path)") }
            }
        }
    }

    @Test func `the examples have the members of real responses`() async throws {
        let examples = try Self.examples()
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            let draft = try await kim.start(locale: "en").json
            #expect(examples.contains { $0.names == draft.names && $0["steps"] == draft["steps"] })
            let step = try await kim.send(.get, "/signup/email").json
            #expect(examples.contains { $0["fields"] == step["fields"] && $0.names == step.names })
            _ = try await kim.fill(through: "profile")
            let check = try await kim.send(.post, "/signup/contact/check", ["phone": "01012345678"]).json
            #expect(examples.contains(check))
            try await kim.put("contact", ["phone": "010-1234-5678", "birth_date": "2001-02-28"])
            try await kim.put("totp", [:])
            try await kim.put("terms", ["terms": true])
            let account = try await kim.commit().json["account"]
            let written = examples.compactMap { $0["account"] }.first
            #expect(account?.names == written?.names)
            for name in ["email", "username", "phone", "birth_date", "display_name"] {
                #expect(account?[name] == written?[name])
            }
        }
    }
}

extension JSON {
    /// The names of the members of this object, in order; empty if it is no object.
    fileprivate var names: [String] {
        if case .object(let members) = self { members.map(\.name) } else { [] }
    }
}
