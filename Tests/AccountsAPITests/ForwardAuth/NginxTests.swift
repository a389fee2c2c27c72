import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The nginx of docs/forward-auth.md", .freshDatabase, .timeLimit(.minutes(3)))
struct NginxTests {
    @Test func `the document shows the file that the tests run`() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        }
        #expect(try text("docs/forward-auth.md").contains("```nginx\n\(try text("deploy/forward-auth/nginx.conf"))```"))
    }

    @Test func `nginx asks the service, and tells the application who the person is`() async throws {
        try await TestSignups.with { _ = try await $0.signups.commit($0.readyDraft()) }
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["FORWARD_AUTH_HOSTS": "app.example"]
        )
        let nginx = try Nginx(before: server.port)
        try await nginx.waitUntilItListens()

        let page = try await nginx.send("GET /orders?page=2", ["Sec-Fetch-Mode: navigate"])
        let location = "/sign-in?return_to=http%3A%2F%2Fapp.example%2Forders%3Fpage%3D2"
        #expect(page.hasPrefix("HTTP/1.1 303") && page.contains("Location: \(location)\r\n"))
        let form = try await nginx.send("GET \(location)", ["Accept: text/html"])
        #expect(form.hasPrefix("HTTP/1.1 200") && form.contains("name=\"return_to\""))
        let script = try await nginx.send("GET /orders", ["Sec-Fetch-Mode: cors", "Accept: application/json"])
        #expect(script.hasPrefix("HTTP/1.1 401") && !script.contains("Location:"))
        let question = try await nginx.send("GET /session/check", ["X-Original-URL: http://app.example/"])
        #expect(question.hasPrefix("HTTP/1.1 404"), "only nginx asks")

        let body = #"{"identifier":"kim","password":"a pass phrase of mine"}"#
        let signedIn = try await nginx.send("POST /session", ["Content-Type: application/json"], body)
        let match = try #require(try /session=([A-Za-z0-9_-]+)/.firstMatch(in: signedIn), "\(signedIn)")
        let forged = ["Remote-User: evil", "Remote-Email: evil", "Remote-Name: evil", "X-Identity: evil"]
        let cookies = "Cookie: theme=dark; session=\(match.1); size=2"
        let account = try TestSupport.Session().query("SELECT id FROM accounts").only.decode(ID<Account>.self)
        for method in ["GET", "POST"] {
            let answer = try await nginx.send("\(method) /orders", [cookies] + forged)
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            #expect(answer.contains("user=\(account) email=kim@example.com name=kim "))
            #expect(answer.contains("cookie=theme=dark; size=2 "), "the application does not get the session")
            let identity = try #require(try /identity=([^ ]+)/.firstMatch(in: answer))
            let claims = try await withDatabase { database in
                try await SigningKeys(database: database, keys: KeyRing(TestSignups.keys))
                    .verify(String(identity.1), type: .identity).claims
            }
            #expect(claims["aud"] == "app.example" && claims["sub"] == .string("\(account)"))
        }
        let keys = try await nginx.send("GET /oauth/keys")
        #expect(keys.hasPrefix("HTTP/1.1 200") && keys.contains("\"kid\""))
        #expect(await server.end(by: SIGTERM) == 0)
    }
}
