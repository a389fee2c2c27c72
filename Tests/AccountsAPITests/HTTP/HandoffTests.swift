import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("A sign-up on two devices", .freshDatabase)
struct HandoffTests {
    private static let form: HTTPFields = [
        .contentType: "application/x-www-form-urlencoded", .secFetchSite: "same-origin",
    ]

    @Test(arguments: TestServer.Mode.allCases)
    func `a person continues on a phone with the mailed link, which works once`(mode: TestServer.Mode) async throws {
        try await TestServer.with(mode) { site in
            let desk = site.visitor()
            try await desk.start()
            try await desk.put("email", ["email": "kim@example.com"])
            #expect(try await desk.send(.post, "/signup/handoff").slug == "step-locked")
            let code = try await site.service.readCode(for: "kim@example.com")
            try await desk.put("code", ["code": .string(code)])
            let asked = try await desk.send(.post, "/signup/handoff")
            #expect(asked.status == 202 && asked.json == ["resend_after": 60, "expires_in": 900])
            #expect(try await desk.send(.post, "/signup/handoff").slug == "rate-limited")

            let phone = site.visitor(headers: [.acceptLanguage: "ko"])
            let link = try await site.link()
            let entry = try await phone.send(.get, "/signup/resume", headers: [.accept: "text/html"])
            #expect(entry.status == 200 && entry.body.contains("data-link") && entry.body.contains("name=\"code\""))
            let query = "/signup/resume?code=\(site.code(in: link))"
            for _ in 0..<2 {
                let page = try await phone.send(.get, query, headers: [.accept: "text/html"])
                #expect(page.status == 200 && page.headers[.contentType] == "text/html; charset=utf-8")
                #expect(page.headers[.setCookie] == nil && page.body.contains("k•••@example.com"))
                #expect(page.body.contains("<html lang=\"ko\"") && page.body.contains("Acme 가입 계속하기"))
                #expect(page.body.contains("value=\"\(site.code(in: link))\""))
            }
            #expect(try await desk.send(.get, "/signup").status == 200, "opening the page changes nothing")

            let moved = try await phone.send(.post, "/signup/resume", "code=\(site.code(in: link))", headers: Self.form)
            #expect(moved.status == 200 && moved.json["values"]?["code"] == ["verified": true])
            phone.keepToken(of: moved)
            #expect(phone.tokenText != desk.tokenText)
            let old = try await desk.send(.get, "/signup")
            #expect(old.status == 410 && old.slug == "draft-expired" && old.json["reason"] == "continued-elsewhere")
            #expect(try await phone.send(.get, "/signup").nextStep == "password")
            let again = try await phone.send(.post, "/signup/resume", "code=\(site.code(in: link))", headers: Self.form)
            #expect(again.refusals == ["code:code_expired"])
            let here = try await phone.send(.get, query, headers: [.accept: "text/html"])
            #expect(here.status == 303 && here.headers[.location] == "/signup", "the sign-up goes on in this browser")
            let dead = try await site.visitor(headers: [.acceptLanguage: "ko"]).send(.get, query)
            #expect(dead.status == 410 && dead.body.contains("만료되었거나 이미 사용한 링크"))
            #expect(!dead.body.contains("name=\"confirmed\""), "the page asks for another code, and confirms nothing")
        }
    }

    @Test func `the cookie on the other device lives as long as an extended sign-up`() async throws {
        try await TestServer.with { site in
            let desk = site.visitor()
            try await desk.start()
            _ = try await desk.fill(through: "code")
            try DatabaseSession().run("UPDATE drafts SET ends_at = now() + interval '20 days'")
            #expect(try await desk.send(.post, "/signup/handoff").status == 202)
            let code = site.code(in: try await site.link())
            let moved = try await site.visitor().send(.post, "/signup/resume", "code=\(code)", headers: Self.form)
            let cookie = try #require(moved.headers[.setCookie])
            let age = try #require(cookie.firstMatch(of: #/Max-Age=([0-9]+); /#).flatMap { Int($0.1) })
            #expect((1_727_000...1_728_000).contains(age))
        }
    }

    @Test func `a link is not opened while the sign-up of the browser cannot be read`() async throws {
        try await TestServer.with { site in
            let desk = site.visitor()
            try await desk.start()
            try await desk.fill(through: "code")
            #expect(try await desk.send(.post, "/signup/handoff").status == 202)
            let form = "code=\(try await site.code(in: site.link()))"
            let phone = site.visitor()
            try await phone.start()
            let phoneDraft = "id = (SELECT max(id::text)::uuid FROM drafts)"
            try DatabaseSession().run("UPDATE drafts SET sealed = '\\x00' WHERE \(phoneDraft)")
            let refused = try await phone.send(.post, "/signup/resume", form, headers: Self.form)
            #expect(refused.status == 503 && refused.headers[.setCookie] == nil)
            try DatabaseSession().run("DELETE FROM drafts WHERE \(phoneDraft)")
            #expect(try await phone.send(.post, "/signup/resume", form, headers: Self.form).status == 200)
        }
    }

    @Test func `a client with a bearer token gets the new token in the body`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.fill(through: "code")
            let stale = try await kim.send(.post, "/signup/handoff", headers: [.ifMatch: "\"1\""])
            #expect(stale.slug == "stale-revision")
            #expect(try await kim.send(.post, "/signup/handoff").status == 202)
            let code = JSON.string(try await site.code(in: site.link()))
            let phone = site.visitor(.bearer)
            let weak = try await phone.send(.post, "/signup/resume", ["code": code, "attempt": "too short"])
            #expect(weak.refusals == ["attempt:bad_format"])
            let body: JSON = ["code": code, "attempt": "abcdefghijklmnopqrstuv", "transport": "bearer"]
            let moved = try await phone.send(.post, "/signup/resume", body)
            #expect(moved.status == 200 && moved.headers[.setCookie] == nil)
            let repeated = try await phone.send(.post, "/signup/resume", body)
            #expect(repeated.status == 200 && repeated.json["token"] == moved.json["token"])
            phone.keepToken(of: moved)
            #expect(try await phone.send(.get, "/signup").status == 200)
        }
    }

    @Test(
        arguments: [
            ([:], "code:required"), (["code": ""], "code:bad_format"), (["code": 1], "code:bad_format"),
            (["code": nil], "code:bad_format"),
            (["code": .string(String(repeating: "A", count: 64))], "code:code_expired"),
            (["code": .string(String(repeating: "A", count: 64)), "draft": 1], "draft:unknown_field"),
        ] as [(JSON, String)]
    )
    func `a missing, malformed or unknown code of a link is refused`(body: JSON, refusal: String) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.post, "/signup/resume", body)
            #expect(response.status == 422 && response.refusals == [refusal])
        }
    }

    @Test(arguments: ["?code=", "?code=short", "?code=%22%3E%3Cscript%3E"])
    func `an incomplete link is not found`(query: String) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.get, "/signup/resume\(query)")
            #expect(response.slug == "not-found")
        }
    }

    @Test func `the code is in the fragment of the link, which no server receives, and once more below it`()
        async throws
    {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "code")
            #expect(try await kim.send(.post, "/signup/handoff").status == 202)
            let link = try await site.link()
            let code = site.code(in: link)
            #expect(link == "/signup/resume#code=\(code)" && Token<Draft>(code) != nil)
            let mail = try #require(site.service.mailbox.mails.last).text
            #expect(mail.split(separator: "\n").contains { $0 == code })
        }
    }

    @Test func `another site cannot post the code of a link`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill(through: "code")
            #expect(try await kim.send(.post, "/signup/handoff").status == 202)
            let body = try await "code=\(site.code(in: site.link()))"
            let foreign: HTTPFields = [
                .contentType: "application/x-www-form-urlencoded", .origin: "https://evil.example",
                .secFetchSite: "cross-site",
            ]
            let forced = try await site.visitor().send(.post, "/signup/resume", body, headers: foreign)
            #expect(forced.slug == "forbidden-origin")
            #expect(try await kim.send(.get, "/signup").status == 200)
        }
    }

    @Test func `a flow without e-mail verification has no handoff`() async throws {
        let flow = """
            flow: names
            version: 1
            steps:
              - name: name
                title: Name
                fields: [{name: username, kind: username, identifier: true, label: Name}]
            """
        try await TestServer.with(flow: flow) { site in
            let kim = site.visitor()
            try await kim.start()
            #expect(try await kim.send(.post, "/signup/handoff").slug == "not-found")
        }
    }
}

extension TestServer {
    /// The path and the fragment of the link in the last mail.
    func link() async throws -> String {
        try await service.deliver()
        let lines = try #require(service.mailbox.mails.last).text.split(separator: "\n")
        let link = try #require(lines.first { $0.hasPrefix("http://localhost:8080/") })
        return String(link.dropFirst("http://localhost:8080".count))
    }

    func code(in link: String) -> String { String(link.split(separator: "=").last ?? "") }

    /// The code in the link in the last mail.
    func linkCode() async throws -> String { try await code(in: link()) }
}
