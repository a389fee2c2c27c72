import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The problem reference", .freshDatabase)
struct ProblemReferenceTests {
    private static let page: HTTPFields = [.accept: "text/html"]

    @Test func `docs/problems.md is the output of problems --markdown`() async throws {
        let document = try String(contentsOf: Repository.root.appending(path: "docs/problems.md"), encoding: .utf8)
        let run = try await CommandRun.of("problems", "--markdown")
        #expect(run.status == 0)
        #expect(run.output == document, "generate it again: accounts-api problems --markdown >docs/problems.md")
    }

    @Test func `the command prints a table, and the JSON of the service`() async throws {
        let table = try await CommandRun.of("problems")
        #expect(table.status == 0)
        for problem in ProblemKind.allCases { #expect(table.output.contains("\n\(problem.rawValue) ")) }
        for code in Refusal.Code.allCases { #expect(table.output.contains("\n\(code.rawValue) ")) }
        let json = try await CommandRun.of("problems", "--json")
        #expect(try JSON.read(Array(json.output.utf8)) == ProblemReference.json)
    }

    @Test(arguments: ProblemKind.allCases)
    func `every problem type resolves, for programs and for browsers`(problem: ProblemKind) async throws {
        try await TestServer.with { site in
            let visitor = site.visitor(headers: [.acceptLanguage: "ko"])
            let response = try await visitor.send(.get, "/problems/\(problem.rawValue)")
            #expect(response.status == 200 && response.headers[.contentType] == "application/json; charset=utf-8")
            #expect(response.json["slug"]?.string == problem.rawValue)
            #expect(response.json["status"] == .integer(problem.status.code))
            #expect(response.json["meaning"]?.string == problem.explanation.meaning)
            #expect(response.json["remedy"]?.string == problem.explanation.remedy)
            #expect((response.json["codes"] != nil) == (problem == .validationFailed))
            let html = try await visitor.send(.get, "/problems/\(problem.rawValue)", headers: Self.page)
            #expect(html.status == 200 && html.isPage && html.headers[.contentLanguage] == "en")
            let title = Language.english.messages.title(of: problem).replacing("'", with: "&#39;")
            #expect(html.body.contains("<h1>\(title)</h1>") && html.body.contains("<code>\(problem.rawValue)</code>"))
            #expect(!html.body.contains("`"))
            for name in problem.members + problem.headers { #expect(html.body.contains("<code>\(name)</code>")) }
        }
    }

    @Test func `the list has every problem type and every field code`() async throws {
        try await TestServer.with { site in
            let visitor = site.visitor()
            let response = try await visitor.send(.get, "/problems")
            #expect(response.json == ProblemReference.json)
            let html = try await visitor.send(.get, "/problems", headers: Self.page)
            #expect(html.status == 200 && html.body.contains("<h1>Problems</h1>"))
            for problem in ProblemKind.allCases {
                #expect(html.body.contains("<a href=\"/problems/\(problem.rawValue)\">"))
            }
            for code in Refusal.Code.allCases { #expect(html.body.contains("<h2><code>\(code.rawValue)</code></h2>")) }
        }
    }

    @Test func `the type of a problem is the URL of its explanation`() async throws {
        try await TestServer.with { site in
            let refusal = try await site.visitor().send(.get, "/signup")
            let type = try #require(refusal.json["type"]?.string)
            let path = String(type.trimmingPrefix("http://localhost:8080"))
            #expect(try await site.visitor().send(.get, path).json["slug"] == "no-draft")
        }
    }

    @Test(arguments: ["nothing", "No-Draft", "no_draft"])
    func `an unknown type is not found`(slug: String) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.get, "/problems/\(slug)")
            #expect(response.status == 404 && response.slug == "not-found")
            let html = try await site.visitor().send(.get, "/problems/\(slug)", headers: Self.page)
            #expect(html.status == 404 && html.isPage)
        }
    }

    @Test func `the reference is read-only, and refuses a client that accepts neither JSON nor HTML`() async throws {
        try await TestServer.with { site in
            for path in ["/problems", "/problems/busy"] {
                let response = try await site.visitor().send(.post, path, [:])
                #expect(response.status == 405 && response.headers[.allow] == "GET, HEAD")
                let picture = try await site.visitor().send(.get, path, headers: [.accept: "image/png"])
                #expect(picture.status == 406)
            }
        }
    }

    @Test(arguments: ["/problems", "/problems/validation-failed"])
    func `the pages contain and allow only the script and style of the service`(path: String) async throws {
        try await TestServer.with { site in
            let html = try await site.visitor().send(.get, path, headers: Self.page)
            let policy = try #require(html.headers[.contentSecurityPolicy])
            #expect(policy.hasPrefix("default-src 'none'; ") && policy.hasSuffix("; frame-ancestors 'none'"))
            let foreign = /<style|\sstyle=|\son[a-z]+=|javascript:|https?:\/\//
            #expect(html.body.firstMatch(of: foreign) == nil && html.body.matches(of: /<script/).count == 1)
        }
    }

    @Test func `every text is a single line that ends with a period`() {
        let explanations = ProblemKind.allCases.map(\.explanation) + Refusal.Code.allCases.map(\.explanation)
        #expect(Set(explanations).count == explanations.count)
        for text in explanations.flatMap({ [$0.meaning, $0.remedy] }) {
            #expect(text.hasSuffix(".") && !text.contains("\n") && !text.contains("|"), "\(text)")
            #expect(text.count { $0 == "`" }.isMultiple(of: 2), "\(text)")
        }
    }

    @Test func `the reference and the OpenAPI description have the same members`() throws {
        guard
            case .object(let properties)? = Schemas(flow: try .standard()).all.first(where: { $0.name == "Problem" })?
                .value["properties"]
        else {
            Issue.record("there is no schema of problems")
            return
        }
        let standard = ["type", "title", "status", "detail", "request_id"]
        #expect(Set(properties.map(\.name)) == Set(standard + ProblemKind.allCases.flatMap(\.members)))
    }
}

extension Response {
    /// Records an issue if a problem has other members or params than the reference says, or lacks a header field.
    func checkAgainstReference() {
        guard let slug, let problem = ProblemKind(rawValue: slug), case .object(let members) = json else { return }
        let standard = ["type", "title", "status", "detail", "request_id"]
        #expect(members.map(\.name) == standard + problem.members, "\(slug)")
        for name in problem.headers {
            #expect(HTTPField.Name(name).map { headers[$0] != nil } == true, "\(slug) without \(name)")
        }
        guard case .array(let errors)? = json["errors"] else { return }
        for error in errors {
            guard case .object(let params)? = error["params"],
                let code = error["code"]?.string.flatMap(Refusal.Code.init(rawValue:))
            else { continue }
            #expect(Set(params.map(\.name)).isSubset(of: code.params), "\(code.rawValue)")
        }
    }
}
