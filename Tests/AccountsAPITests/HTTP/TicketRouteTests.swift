import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Tickets over HTTP", .freshDatabase)
struct TicketRouteTests {
    private static let email = "kim@example.com"
    private static let limits = Limits(
        byName: [
            .mailsToAddress: Limit(1, per: .seconds(86_400)), .guessesForAddress: Limit(1, per: .seconds(86_400)),
        ],
        revisions: 600
    )

    @Test(arguments: Visitor.Transport.allCases)
    func `a program exchanges the ticket for a sign-up whose code is on its way`(transport: Visitor.Transport)
        async throws
    {
        try await TestServer.with(limits: Self.limits) { site in
            let ticket = try await site.floodedTicket()
            let kim = site.visitor(transport)
            try await kim.start()
            #expect(try await kim.put("email", ["email": .string(Self.email)]).status == 429)
            let before = kim.tokenText
            let body: JSON = ["ticket": .string(ticket), "transport": .string(transport.rawValue), "locale": "ko"]
            let redeemed = try await kim.send(.post, "/signup/ticket", body)
            #expect(redeemed.status == 201 && redeemed.nextStep == "code")
            #expect(redeemed.headers[.location] == "/signup" && redeemed.headers[.eTag] == "\"1\"")
            #expect(redeemed.json["values"]?["email"] == .string(Self.email))
            kim.keepToken(of: redeemed)
            #expect(kim.tokenText != before)
            let code = try await site.service.readCode(for: Self.email)
            #expect(site.service.mailbox.mails.last?.subject == "Acme 인증 코드")
            #expect(try await kim.put("code", ["code": .string(code)]).nextStep == "password")
            let again = try await kim.send(.post, "/signup/ticket", body)
            #expect(again.status == 422 && again.refusals == ["ticket:code_expired"])
            #expect(try await kim.send(.get, "/signup").nextStep == "password", "the sign-up goes on")
        }
    }

    @Test(
        arguments: [
            ([:], ["ticket:required"]), (["ticket": ""], ["ticket:bad_format"]), (["ticket": 1], ["ticket:bad_format"]),
            (["ticket": nil], ["ticket:bad_format"]),
            (["ticket": .string(String(repeating: "A", count: 44))], ["ticket:code_expired"]),
            (
                ["ticket": .string(String(repeating: "A", count: 43)), "draft": 1, "locale": 1, "transport": "mail"],
                ["draft:unknown_field", "transport:not_allowed", "locale:wrong_type", "ticket:bad_format"]
            ),
        ] as [(JSON, [String])]
    )
    func `a missing, malformed or unknown ticket is refused`(body: JSON, refusals: [String]) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.post, "/signup/ticket", body)
            #expect(response.status == 422 && response.refusals == refusals)
        }
    }

    @Test(arguments: ["", "?ticket=", "?ticket=short", "?ticket=%22%3E%3Cscript%3E", "?code=1"])
    func `an incomplete link is not found`(query: String) async throws {
        try await TestServer.with { site in
            let response = try await site.visitor().send(.get, "/signup/ticket\(query)")
            #expect(response.slug == "not-found")
        }
    }

    @Test func `opening the link changes nothing, and a program gets the page too`() async throws {
        try await TestServer.with(limits: Self.limits) { site in
            let ticket = try await site.floodedTicket()
            for accept in ["text/html", "application/json"] {
                let page = try await site.visitor().send(
                    .get,
                    "/signup/ticket?ticket=\(ticket)",
                    headers: [.accept: accept]
                )
                #expect(page.status == 200 && page.headers[.contentType] == "text/html; charset=utf-8")
                #expect(page.headers[.setCookie] == nil && page.body.contains("k•••@example.com"))
                #expect(page.body.contains("name=\"ticket\" value=\"\(ticket)\""))
                #expect(!page.body.contains("another sign-up"))
            }
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.count == 1)
        }
    }

    @Test func `another site cannot post a ticket`() async throws {
        try await TestServer.with(limits: Self.limits) { site in
            let ticket = try await site.floodedTicket()
            let foreign: HTTPFields = [
                .contentType: "application/x-www-form-urlencoded", .origin: "https://evil.example",
                .secFetchSite: "cross-site",
            ]
            let forced = try await site.visitor().send(
                .post,
                "/signup/ticket",
                "ticket=\(ticket)",
                headers: foreign
            )
            #expect(forced.slug == "forbidden-origin")
            let owner = try await site.visitor().send(.post, "/signup/ticket", ["ticket": .string(ticket)])
            #expect(owner.status == 201)
        }
    }

    @Test(arguments: ["en", "ko"])
    func `a person without script opens the link, posts the form and enters the code`(language: String) async throws {
        try await TestServer.with(limits: Self.limits) { site in
            let ticket = try await site.floodedTicket()
            let kim = PageVisitor(site, language: language)
            let page = try await kim.open("/signup/ticket?ticket=\(ticket)")
            #expect(page.status == 200 && page.has(language == "ko" ? "인증 코드 받기" : "Email me a new code"))
            let step = try await kim.post("/signup/ticket", "ticket=\(ticket)")
            #expect(step.path == "/signup/code" && step.status == 200)
            let code = try await site.service.readCode(for: Self.email)
            #expect(try await kim.post("/signup/code", "code=\(code)").path == "/signup/password")
        }
    }

    @Test func `the page names the open sign-up of the browser, which only the form replaces`() async throws {
        try await TestServer.with(limits: Self.limits) { site in
            let ticket = try await site.floodedTicket()
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "email", email: "lee@example.com")
            let page = try await kim.open("/signup/ticket?ticket=\(ticket)")
            #expect(page.has("You have another sign-up in this browser."))
            #expect(page.has("class=\"button\" href=\"/signup\">Keep the other one</a>"))
            #expect(try await kim.open("/signup/email").has("lee@example.com"))
            #expect(try await kim.post("/signup/ticket", "ticket=\(ticket)").path == "/signup/code")
            #expect(try await kim.open("/signup/email").has(Self.email))
            #expect(try DatabaseSession().query("SELECT FROM drafts").count == 3, "the other sign-ups stay")
        }
    }

    @Test func `a ticket does not replace the cookie of a sign-up that this server cannot read`() async throws {
        let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await TestServer.with(keys: "\(new),\(TestSignups.keys)") { other in
            let kim = other.visitor()
            try await kim.start()
            let token = try #require(kim.tokenText)
            try await TestServer.with(limits: Self.limits) { site in
                let ticket = try await site.floodedTicket()
                let browser: HTTPFields = [
                    .accept: "text/html", .secFetchSite: "same-origin", .cookie: "signup=\(token)",
                    .contentType: "application/x-www-form-urlencoded",
                ]
                let answers = [
                    try await site.send(.get, "/signup/ticket?ticket=\(ticket)", browser),
                    try await site.send(.post, "/signup/ticket", bytes: Array("ticket=\(ticket)".utf8), browser),
                ]
                #expect(answers.allSatisfy { $0.status == 503 && $0.headers[.setCookie] == nil })
                let another = try await PageVisitor(site).post("/signup/ticket", "ticket=\(ticket)")
                #expect(another.path == "/signup/code", "the ticket was not used up")
            }
        }
    }

    @Test func `a server without the key of a ticket answers 503, and logs one error for each request`() async throws {
        let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await TestServer.with(keys: new, limits: Self.limits) { site in
            let ticket = try await site.floodedTicket()
            try await TestServer.with { other in
                let paths = ["/signup/ticket", "/session/ticket"]
                for path in paths {
                    let response = try await other.visitor().send(.post, path, ["ticket": .string(ticket)])
                    #expect(response.status == 503 && response.headers[.retryAfter] != nil, "\(path)")
                }
                let errors = other.log.lines.filter { $0["level"] == "error" }
                #expect(errors.count == paths.count)
                for line in errors {
                    #expect(line["message"] == "no key in the key ring decrypts a ticket")
                    #expect(line["ticket"]?.string.flatMap { UUID(uuidString: $0) } != nil)
                }
                #expect(!other.log.text.contains(ticket))
            }
            #expect(try await site.visitor().send(.post, "/signup/ticket", ["ticket": .string(ticket)]).status == 201)
        }
    }

    @Test func `the page of a used link says that it was used, and starts no sign-up`() async throws {
        try await TestServer.with(limits: Self.limits) { site in
            let ticket = try await site.floodedTicket()
            let kim = PageVisitor(site)
            _ = try await kim.post("/signup/ticket", "ticket=\(ticket)")
            let used = try await kim.post("/signup/ticket", "ticket=\(ticket)")
            #expect(
                used.status == 422 && used.has("It has expired or has already been used.")
                    && !used.has("<form method")
            )
            let cut = try await kim.open("/signup/ticket?ticket=\(ticket.dropLast(5))")
            #expect(cut.status == 404 && cut.has("This link is incomplete. Open the full link from the email."))
            #expect(cut.has(">This link doesn&#39;t work</h1>"))
            let opened = try await kim.open("/signup/ticket?ticket=\(ticket)")
            #expect(
                opened.status == 410 && opened.has(">This link no longer works</h1>")
                    && opened.has("It has expired or has already been used.")
                    && !opened.has("<form method")
            )
            #expect(try await kim.open("/signup").path == "/signup/code", "the sign-up in the browser goes on")
        }
    }
}

extension TestServer {
    /// Lets a stranger use up the mails and the guesses of the address, and returns the ticket in its only mail.
    fileprivate func floodedTicket() async throws -> String {
        let stranger = visitor()
        try await stranger.start()
        try await stranger.put("email", ["email": "kim@example.com"])
        let code = try await service.readCode(for: "kim@example.com")
        let wrong = code == "000000" ? "000001" : "000000"
        #expect(try await stranger.put("code", ["code": .string(wrong)]).status == 422)
        #expect(try await stranger.put("code", ["code": .string(code)]).slug == "rate-limited")
        return try service.mailbox.ticket(for: "kim@example.com")
    }
}
