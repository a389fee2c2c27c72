import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("A server that cannot answer", .freshDatabase)
struct ServerFailureTests {
    @Test func `a server without the key of a draft answers 503 and sets no cookie`() async throws {
        let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await TestServer.with(keys: "\(new),\(TestSignups.keys)") { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": "kim@example.com"])
            let token = try #require(kim.tokenText)
            try await TestServer.with { other in
                let visitor = other.visitor()
                visitor.tokenText = token
                var responses = [
                    try await visitor.start(), try await visitor.send(.get, "/signup"),
                    try await visitor.put("email", ["email": "lee@example.com"]),
                    try await visitor.send(.delete, "/signup"),
                ]
                #expect(responses.allSatisfy { $0.slug == "unavailable" && $0.headers[.retryAfter] != nil })
                let browser: HTTPFields = [
                    .accept: "text/html", .secFetchSite: "same-origin", .cookie: "signup=\(token)",
                    .contentType: "application/x-www-form-urlencoded",
                ]
                let pages = [
                    try await other.send(.get, "/signup", browser),
                    try await other.send(.post, "/signup", bytes: Array("locale=en".utf8), browser),
                ]
                #expect(pages.allSatisfy { $0.isPage })
                responses += pages
                #expect(responses.allSatisfy { $0.status == 503 && $0.headers[.setCookie] == nil })
                let errors = other.log.lines.filter { $0["level"] == "error" }
                #expect(errors.count == responses.count)
                #expect(errors.allSatisfy { $0["message"] == "no key in the key ring decrypts a draft" })
            }
            let draft = try await kim.send(.get, "/signup").json
            #expect(draft["values"]?["email"] == "kim@example.com" && draft["revision"] == 2)
        }
    }

    @Test func `a server without the pepper of a stored password answers 503, and keeps the password`() async throws {
        let old = "old:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await TestServer.with(keys: old) { site in
            let kim = site.visitor()
            try await kim.start()
            _ = try await kim.fill(through: "password")
            let token = try #require(kim.tokenText)
            try await TestSignups.with(keys: "\(TestSignups.keys),\(old)") { service in
                _ = try await Operator(service.signups, name: "mina").rotateKeys()
            }
            try await TestServer.with { other in
                let visitor = other.visitor()
                visitor.tokenText = token
                let before = try await visitor.send(.get, "/signup").json
                // The address is long enough to be the password, so the server has to compare it.
                let response = try await visitor.put("email", ["email": "first.second.third@example.com"])
                #expect(response.status == 503 && response.slug == "unavailable")
                #expect(response.headers[.retryAfter] != nil && response.headers[.setCookie] == nil)
                let after = try await visitor.send(.get, "/signup").json
                #expect(after["revision"] == before["revision"] && after["values"] == before["values"])
                #expect(other.log.lines.contains { $0["level"] == "error" })
            }
        }
    }

    @Test func `a server whose keys do not fit the database is not ready and refuses sign-ups`() async throws {
        try await TestServer.with(keyMismatch: .missing("k2")) { site in
            let kim = site.visitor()
            let ready = try await kim.send(.get, "/health/ready")
            #expect(ready.status == 503)
            let detail = try #require(ready.json["detail"]?.string)
            #expect(detail.contains("ACCOUNTS_KEYS lacks the key \"k2\""))
            for response in [try await kim.start(), try await kim.put("email", ["email": "kim@example.com"])] {
                #expect(response.status == 503 && response.slug == "unavailable")
                #expect(response.headers[.setCookie] == nil && response.headers[.retryAfter] != nil)
            }
            #expect(try await kim.send(.get, "/health/live").status == 200)
            #expect(try await kim.send(.get, "/signup/schema").status == 200)
            #expect(try DatabaseSession().query("SELECT count(*) FROM drafts").only.decode(Int.self) == 0)
        }
    }

    @Test func `an unexpected error is a plain 500, and the log contains its cause`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try DatabaseSession().run("ALTER TABLE proofs DROP COLUMN failures")
            let response = try await kim.send(.get, "/signup")
            #expect(response.status == 500)
            #expect(response.slug == "internal")
            #expect(!response.body.contains("42703") && !response.body.contains("failures"))
            let id = try #require(response.headers[.requestID])
            #expect(response.json["request_id"] == .string(id))
            let line = site.log.lines.first { $0["level"] == "error" && $0["request_id"] == .string(id) }
            #expect(line?["error"]?.string?.contains("42703") == true)
        }
    }

    @Test(arguments: ["53100", "53200", "58030"])
    func `a database that lacks space, memory or a working disk is 503, and the log has the reason`(state: String)
        async throws
    {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try DatabaseSession().run(
                """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql
                    AS $$ BEGIN RAISE EXCEPTION 'simulated' USING ERRCODE = '\(state)'; END $$;
                CREATE TRIGGER fail BEFORE UPDATE ON drafts FOR EACH ROW EXECUTE FUNCTION fail()
                """
            )
            let response = try await kim.put("email", #"{"email":"kim@example.com"}"#)
            #expect(response.status == 503 && response.slug == "unavailable")
            #expect(response.headers[.retryAfter] == "2")
            let line = site.log.lines.first { $0["message"] == "database overloaded" }
            #expect(line?["reason"]?.string?.contains("database refused: \(state)") == true)
            try DatabaseSession().run("DROP TRIGGER fail ON drafts")
            #expect(try await kim.put("email", #"{"email":"kim@example.com"}"#).status == 200)
        }
    }

    @Test func `an unavailable database is 503, and the service recovers by itself`() async throws {
        try await Cluster.withRunning { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            try await TestServer.with(conninfo: cluster.conninfo) { site in
                let kim = site.visitor()
                try await kim.start()
                try await cluster.stop()
                let unavailable = try await kim.send(.get, "/signup")
                #expect(unavailable.status == 503)
                #expect(unavailable.slug == "unavailable")
                #expect(unavailable.headers[.retryAfter] != nil)
                let started = try await kim.start()
                #expect(started.status == 503)
                #expect(
                    started.headers[.setCookie] == nil,
                    "a new cookie would replace the sign-up that cannot be read now"
                )
                #expect(try await kim.send(.get, "/health/ready").status == 503)
                #expect(try await kim.send(.get, "/health/live").status == 200)
                try await cluster.start()
                var response = try await kim.send(.get, "/signup")
                for _ in 0..<100_000 where response.status == 503 { response = try await kim.send(.get, "/signup") }
                #expect(response.status == 200)
                // The other connections of the server to the database may recover later.
                var ready = try await kim.send(.get, "/health/ready")
                for _ in 0..<100_000 where ready.status == 503 { ready = try await kim.send(.get, "/health/ready") }
                #expect(ready.status == 200)
            }
        }
    }
}
