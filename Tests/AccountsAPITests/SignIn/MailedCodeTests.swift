import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Sign-in by a mailed code", .freshDatabase)
struct MailedCodeTests {
    private static let email = "kim@example.com"

    /// The built-in flow, but a mailed code can sign in, too.
    private static func flow() throws -> String { try standardFlow(with: "sign_in: [password, code]") }

    @Test(arguments: ["kim@example.com", "kim"])
    func `a code signs in where the flow allows it`(identifier: String) async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            try await site.readyAccount()
            let kim = Browser(site)
            #expect(try await kim.send(.post, "/session/code", ["identifier": .string(identifier)]).status == 201)
            let code = try await site.service.readCode(for: Self.email)
            #expect(site.service.mailbox.mails.last?.subject == "Your Acme sign-in code")
            let response = try await kim.send(
                .put,
                "/session/code",
                ["code": .string("\(code.prefix(3)) \(code.suffix(3))")]
            )
            #expect(response.status == 200 && response.json["session"]?["assurance"] == "aal1")
            #expect(response.json["session"]?["amr"] == ["otp"])
            #expect(try await kim.send(.get, "/session").status == 200)
        }
    }

    @Test func `a password does not sign in where the flow allows only codes`() async throws {
        try await TestServer.with(flow: standardFlow(with: "sign_in: [code]")) { site in
            try await site.readyAccount()
            #expect(try await Browser(site).signIn().slug == "sign-in-failed")
        }
    }

    @Test func `an authenticator is asked for after the code, too`() async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = Browser(site)
            try await kim.send(.post, "/session/code", ["identifier": "kim"])
            let code = try await site.service.readCode(for: Self.email)
            let first = try await kim.send(.put, "/session/code", ["code": .string(code)])
            #expect(first.json["session"] == ["state": "second-factor"])
            let second = try await kim.send(.put, "/session/totp", ["code": .string(person.code)])
            #expect(second.json["session"]?["amr"] == ["otp", "mfa"])
        }
    }

    @Test func `the answers are the same with and without an account, and only the account gets mail`() async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            try await site.readyAccount()
            try await site.service.deliver()
            let mails = site.service.mailbox.mails.count
            var asked: [Response] = []
            var entered: [[String]] = []
            for identifier in [Self.email, "kim", "nobody@example.com", "nobody", "no such thing"] {
                let browser = Browser(site)
                asked.append(try await browser.send(.post, "/session/code", ["identifier": .string(identifier)]))
                var answers: [String] = []
                for _ in 1...6 {
                    answers.append(try await browser.send(.put, "/session/code", ["code": "000000"]).withoutRequestID)
                }
                entered.append(answers)
            }
            #expect(asked.allSatisfy { $0.status == 201 })
            #expect(Set(asked.map(\.body)).count == 1)
            #expect(Set(entered).count == 1)
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.dropFirst(mails).map(\.to) == [Self.email, Self.email])
        }
    }

    /// Mails to one recipient leave one after another. If a code for a username counted as one to its address, whoever
    /// watches the order of mails would learn that both belong together.
    @Test func `mails for a username and for its address do not wait for each other`() async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            try await site.readyAccount()
            try await site.service.deliver()
            for identifier in [Self.email, "kim"] {
                try await Browser(site).send(.post, "/session/code", ["identifier": .string(identifier)])
            }
            let waiting = try DatabaseSession().query("SELECT DISTINCT recipient FROM outbox WHERE state = 'waiting'")
            #expect(waiting.count == 2)
            let found = try await CommandRun.byMina(
                "outbox",
                "list",
                "--state",
                "waiting",
                "--email",
                Self.email,
                "--json"
            )
            #expect(
                try found.json["mails"]?.texts(of: "template") == ["sign-in-code", "sign-in-code"],
                "operators find both"
            )
        }
    }

    @Test func `a disabled account gets no code`() async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            try await site.readyAccount()
            try await site.service.deliver()
            let mails = site.service.mailbox.mails.count
            try DatabaseSession().run("UPDATE accounts SET disabled_at = now()")
            #expect(try await Browser(site).send(.post, "/session/code", ["identifier": "kim"]).status == 201)
            try await site.service.deliver()
            #expect(site.service.mailbox.mails.count == mails)
        }
    }

    @Test func `a code works once, for its own request, for ten minutes and five guesses`() async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            try await site.readyAccount()
            func ask(_ browser: Browser) async throws -> JSON {
                try await browser.send(.post, "/session/code", ["identifier": "kim"])
                let code = try await site.service.readCode(for: Self.email)
                try DatabaseSession().letPass("1 minute")
                return ["code": .string(code)]
            }
            let (kim, other) = (Browser(site), Browser(site))
            let code = try await ask(kim)
            let pending = kim["session"]
            let foreign = try await ask(other)
            if foreign != code { #expect(try await kim.send(.put, "/session/code", foreign).status == 422) }
            #expect(try await kim.send(.put, "/session/code", code).status == 200)
            kim["session"] = pending
            #expect(try await kim.send(.put, "/session/code", code).slug == "no-session")

            let wrong: JSON = foreign == ["code": "000000"] ? ["code": "000001"] : ["code": "000000"]
            for _ in 1...4 {
                #expect(try await other.send(.put, "/session/code", wrong).refusals == ["code:code_wrong"])
            }
            #expect(try await other.send(.put, "/session/code", wrong).refusals == ["code:code_exhausted"])
            #expect(try await other.send(.put, "/session/code", foreign).refusals == ["code:code_exhausted"])

            let late = Browser(site)
            let lateCode = try await ask(late)
            try DatabaseSession().letPass("9 minutes")
            #expect(try await late.send(.put, "/session/code", lateCode).slug == "no-session")
        }
    }

    @Test func `a minute passes between two mails to one identifier`() async throws {
        try await TestServer.with { site in
            for identifier in ["kim@example.com", "kim"] {
                let body: JSON = ["identifier": .string(identifier)]
                #expect(try await Browser(site).send(.post, "/session/code", body).status == 201)
                #expect(try await Browser(site).send(.post, "/session/code", body).status == 429)
                try DatabaseSession().letPass("1 minute")
                #expect(try await Browser(site).send(.post, "/session/code", body).status == 201)
            }
        }
    }

    /// A stranger uses up the mails of an address; the owner uses the ticket in one of them.
    @Test func `a ticket is good for one more code outside of the limits of the address`() async throws {
        var limits = Limits.lavish
        limits.byName[.mailsToAddress] = Limit(1, per: .seconds(86_400))
        limits.byName[.guessesForAddress] = Limit(1, per: .seconds(86_400))
        try await TestServer.with(flow: Self.flow(), limits: limits) { site in
            try await site.readyAccount("lee@example.com", "lee2")
            try DatabaseSession().run("TRUNCATE limits")
            let body: JSON = ["identifier": "lee@example.com"]
            let stranger = Browser(site)
            #expect(try await stranger.send(.post, "/session/code", body).status == 201)
            #expect(try await stranger.send(.put, "/session/code", ["code": "000000"]).status == 422)
            try await site.service.deliver()
            let ticket = try site.service.mailbox.signInTicket(for: "lee@example.com")
            try DatabaseSession().letPass("2 minutes")
            let owner = Browser(site)
            #expect(try await owner.send(.post, "/session/code", body).status == 429)
            let redeemed = try await owner.send(.post, "/session/ticket", ["ticket": .string(ticket)])
            #expect(redeemed.status == 201 && redeemed.json["session"] == ["state": "code"])
            let code = try await site.service.readCode(for: "lee@example.com")
            let wrong: JSON = code == "000000" ? ["code": "000001"] : ["code": "000000"]
            #expect(try await owner.send(.put, "/session/code", wrong).status == 422)
            #expect(try await owner.send(.put, "/session/code", ["code": .string(code)]).status == 200)
            let again = try await Browser(site).send(.post, "/session/ticket", ["ticket": .string(ticket)])
            #expect(again.refusals == ["ticket:code_expired"])
            #expect(try await Browser(site).send(.post, "/signup/ticket", ["ticket": .string(ticket)]).status == 422)
        }
    }

    /// Sign-ups with the address of an account cause at most one mail a day to its owner, without a ticket to sign in.
    @Test func `mails of sign-ups do not use up those of sign-ins`() async throws {
        var limits = Limits.lavish
        limits.byName[.mailsToAddress] = Limit(1, per: .seconds(86_400))
        try await TestServer.with(limits: limits) { site in
            try await site.readyAccount()
            try DatabaseSession().run("TRUNCATE limits")
            let stranger = site.visitor()
            try await stranger.start()
            #expect(try await stranger.put("email", ["email": .string(Self.email)]).status == 200)
            #expect(
                try await Browser(site).send(.post, "/session/code", ["identifier": .string(Self.email)]).status == 201
            )
        }
    }

    @Test func `after fifty wrong codes, only codes that a ticket requests sign in`() async throws {
        try await TestServer.with(flow: Self.flow()) { site in
            try await site.readyAccount()
            let body: JSON = ["identifier": "kim"]
            for number in 0..<11 {
                try await Stranger(site, at: "198.51.100.\(number)").guessMailedCode(of: "kim")
            }
            let owner = Browser(site)
            try await owner.send(.post, "/session/code", body)
            let code = try await site.service.readCode(for: Self.email)
            let refused = try await owner.send(.put, "/session/code", ["code": .string(code)])
            #expect(refused.refusals == ["code:code_exhausted"])
            let ticket = try site.service.mailbox.signInTicket(for: Self.email)
            try await owner.send(.post, "/session/ticket", ["ticket": .string(ticket)])
            let other = try await site.service.readCode(for: Self.email)
            #expect(try await owner.send(.put, "/session/code", ["code": .string(other)]).status == 200)
        }
    }

    @Test func `a ticket of a sign-up does not begin a sign-in`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.put("email", ["email": .string(Self.email)])
            try await site.service.deliver()
            let ticket = try site.service.mailbox.ticket(for: Self.email)
            let response = try await Browser(site).send(.post, "/session/ticket", ["ticket": .string(ticket)])
            #expect(response.refusals == ["ticket:code_expired"])
            #expect(try await Browser(site).send(.post, "/signup/ticket", ["ticket": .string(ticket)]).status == 201)
        }
    }
}
