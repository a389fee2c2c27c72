import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The session of a commit", .freshDatabase)
struct CommitSessionTests {
    @Test func `the commit signs in`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            let commit = try #require(await kim.signUp().commit)
            #expect(commit.status == 201)
            #expect(commit.json["session"]?["assurance"] == "aal1" && commit.json["session"]?["amr"] == ["pwd"])
            let shown = try await kim.send(.get, "/session")
            #expect(shown.json["account"]?["id"] == commit.json["account"]?["id"])
            #expect(shown.json["session"]?["id"] == commit.json["session"]?["id"])
            #expect(kim["device"] != nil)
        }
    }

    @Test func `with an authenticator the commit starts a session of two factors`() async throws {
        try await TestServer.with { site in
            let commit = try #require(await Browser(site).signUp(hasAuthenticator: true).commit)
            #expect(commit.json["session"]?["assurance"] == "aal2")
            #expect(commit.json["session"]?["amr"] == ["pwd", "otp", "mfa"])
        }
    }

    @Test func `a repeated commit gives the same session for ten minutes, and later none`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let (session, device) = (kim["session"], kim["device"])
            (kim["session"], kim["device"]) = (nil, nil)
            try DatabaseSession().letPass("9 minutes")
            let again = try await kim.send(.post, "/signup/commit")
            #expect(again.status == 200 && kim["session"] == session && kim["device"] == device)
            #expect(try DatabaseSession().query("SELECT FROM sessions").count == 1)
            try DatabaseSession().letPass("2 minutes")
            kim["session"] = nil
            let late = try await kim.send(.post, "/signup/commit")
            #expect(late.status == 200 && late.json["session"] == nil && kim["session"] == nil)
        }
    }

    @Test func `a repeated commit does not revive a session that was ended or confirmed`() async throws {
        try await TestServer.with { site in
            for (number, end) in ["sign out", "confirm"].enumerated() {
                let kim = Browser(site)
                try await kim.signUp("kim\(number)@example.com", "kim\(number)")
                if end == "confirm" {
                    try await kim.send(.put, "/session/confirm", ["password": "a pass phrase of mine"])
                } else {
                    try await kim.send(.delete, "/session")
                }
                kim["session"] = nil
                #expect(try await kim.send(.post, "/signup/commit").json["session"] == nil)
                #expect(kim["session"] == nil, "after: \(end)")
            }
        }
    }

    @Test func `a repeated commit with a later token of the draft does not return the session`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let session = try DatabaseSession()
            let hash = try session.query("SELECT token_hash FROM sessions").only.decode([UInt8].self)
            let other = Token<Draft>(for: try #require(kim["signup"].flatMap { Token<Draft>($0) }).id)
            try session.query("UPDATE drafts SET token_hash = \(other.hash)")
            kim["signup"] = other.text
            let commit = try await kim.send(.post, "/signup/commit")
            #expect(commit.status == 200 && commit.json["session"] == nil)
            #expect(try session.query("SELECT token_hash FROM sessions").only.decode([UInt8].self) == hash)
        }
    }

    @Test func `a client with a bearer token gets a bearer token for the session`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.fill()
            let commit = try await kim.commit()
            #expect(commit.headers[.setCookie] == nil && commit.json["device"]?.string != nil)
            let token = try #require(commit.json["token"]?.string)
            let headers: HTTPFields = [.authorization: "Bearer \(token)"]
            #expect(try await site.send(.get, "/session", headers).status == 200)
        }
    }

    @Test func `the flow can leave people signed out`() async throws {
        try await TestServer.with(flow: standardFlow(with: "after_commit: none")) { site in
            let kim = Browser(site)
            let commit = try #require(await kim.signUp().commit)
            #expect(commit.status == 201 && commit.json["session"] == nil)
            #expect(kim["session"] == nil && kim["device"] == nil)
            #expect(try DatabaseSession().query("SELECT FROM sessions").isEmpty)
        }
    }

    @Test func `a page says that the account is ready, although nobody is signed in`() async throws {
        try await TestServer.with(flow: standardFlow(with: "after_commit: none")) { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            let done = try await kim.post("/signup/commit")
            #expect(done.has("Your account is ready") && !done.has("kim@example.com"))
        }
    }

    @Test func `a commit on a page signs in, too`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            _ = try await site.service.fill(site.service.start())
            try await kim.signUp("lee@example.com", "lee")
            let cookie = try #require(kim["signup"])
            let form: HTTPFields = [
                .cookie: "signup=\(cookie)", .accept: "text/html", .secFetchSite: "same-origin",
                .contentType: "application/x-www-form-urlencoded",
            ]
            let response = try await site.send(.post, "/signup/commit", bytes: [], form)
            #expect(response.status == 303)
            let cookies = response.headers[values: .setCookie]
            #expect(cookies.contains { $0.hasPrefix("session=\(kim["session"]!);") })
        }
    }
}
