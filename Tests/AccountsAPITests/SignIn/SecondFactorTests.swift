import Accounts
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("Sign-in with a second factor", .freshDatabase)
struct SecondFactorTests {
    @Test func `the password leads to a second factor, and its code to a session of two factors`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let kim = Browser(site)
            let first = try await kim.signIn(keep: true)
            #expect(first.status == 201)
            #expect(first.json["session"] == ["state": "second-factor"] && first.json["account"] == nil)
            #expect(first.json["next"] == ["step": "totp", "href": "/session/totp"])
            let pending = kim["session"]
            #expect(try await kim.send(.get, "/session").slug == "no-session")
            #expect(try await kim.send(.get, "/account/sessions").slug == "no-session")
            let second = try await kim.send(.put, "/session/totp", ["code": .string(person.code)])
            #expect(second.status == 200)
            #expect(second.json["session"]?["assurance"] == "aal2")
            #expect(second.json["session"]?["amr"] == ["pwd", "otp", "mfa"])
            #expect(kim["session"] != pending)
            // The cookie of a session of two factors has no Max-Age, so it ends with the browser.
            #expect(second.headers[values: .setCookie].first?.contains("Max-Age") == false)
            #expect(try await kim.send(.get, "/session").status == 200)
            kim["session"] = pending
            let again = try await kim.send(.put, "/session/totp", ["code": .string(person.code)])
            #expect(again.slug == "no-session", "the sign-in is over")
        }
    }

    @Test func `a code of the app is accepted once`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            var code: JSON = [:]
            var statuses: [Int] = []
            for attempt in 1...2 {
                let kim = Browser(site)
                _ = try await kim.signIn()
                if attempt == 1 { code = ["code": .string(person.code)] }
                let response = try await kim.send(.put, "/session/totp", code)
                statuses.append(response.status)
                if statuses.count == 2 { #expect(response.refusals == ["code:code_wrong"]) }
            }
            #expect(statuses == [200, 422])
        }
    }

    @Test func `an authenticator that no key decrypts is 503, and the log names its account`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            let kim = Browser(site)
            _ = try await kim.signIn()
            try DatabaseSession().run("UPDATE authenticators SET sealed = ''")
            let response = try await kim.send(.put, "/session/totp", ["code": .string(person.code)])
            #expect(response.status == 503 && response.slug == "unavailable")
            let account = try DatabaseSession().query("SELECT id::text FROM accounts").only.decode(String.self)
            let errors = site.log.lines.filter { $0["level"] == "error" }
            #expect(errors.map { $0["message"] } == ["no key in the key ring decrypts an authenticator"])
            #expect(errors.map { $0["account"]?.string } == [account])
        }
    }

    @Test func `a recovery code is accepted once, and another one takes its place`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            let typed = person.recoveryCodes[3].uppercased().replacing("-", with: " ")
            let kim = Browser(site)
            _ = try await kim.signIn()
            let response = try await kim.send(.put, "/session/recovery-code", ["code": .string(typed)])
            #expect(response.status == 200 && response.json["session"]?["assurance"] == "aal2")
            let new = try #require(response.json["recovery_code"]?.string)
            #expect(new.count == person.recoveryCodes[3].count && !person.recoveryCodes.contains(new))
            let count = try DatabaseSession().query("SELECT count(*) FROM recovery_codes").only
            #expect(try count.decode(Int.self) == 10)
            for (code, status) in [(typed, 422), (new, 200)] {
                let other = Browser(site)
                _ = try await other.signIn()
                let response = try await other.send(.put, "/session/recovery-code", ["code": .string(code)])
                #expect(response.status == status)
            }
        }
    }

    @Test func `of parallel requests with one recovery code, one is accepted`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            let statuses = try await atOnce(6) { _ in
                let kim = Browser(site)
                _ = try await kim.signIn()
                let code = person.recoveryCodes[0]
                return try await kim.send(.put, "/session/recovery-code", ["code": .string(code)]).status
            }
            #expect(statuses.sorted() == [200, 422, 422, 422, 422, 422])
        }
    }

    @Test func `a sign-in ends after five wrong codes, and after ten minutes`() async throws {
        try await TestServer.with { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let wrong: JSON = ["code": person.code == "000000" ? "000001" : "000000"]
            let kim = Browser(site)
            _ = try await kim.signIn()
            for left in [4, 3, 2, 1] {
                let response = try await kim.send(.put, "/session/totp", wrong)
                guard case .array(let errors)? = response.json["errors"] else { throw Missing() }
                #expect(errors[0]["params"] == ["attempts_left": .integer(left)])
            }
            let last = try await kim.send(.put, "/session/totp", wrong)
            #expect(last.refusals == ["code:code_exhausted"] && last.body.contains("Please start over."))
            let late = try await kim.send(.put, "/session/totp", ["code": .string(person.code)])
            #expect(late.slug == "no-session")
            _ = try await kim.signIn()
            try DatabaseSession().letPass("10 minutes")
            let expired = try await kim.send(.put, "/session/recovery-code", ["code": .string(person.recoveryCodes[0])])
            #expect(expired.slug == "no-session")
        }
    }

    /// A stranger who knows the password cannot try all codes, and cannot keep the owner out.
    @Test func `wrong codes of strangers are limited for the account, and its known devices can still sign in`()
        async throws
    {
        try await TestServer.with { site in
            let owner = Browser(site)
            let person = try await owner.signUp(hasAuthenticator: true)
            try site.forgetUsedCodes()
            let wrong = person.code == "000000" ? "000001" : "000000"
            var slugs: [String] = []
            for number in 0..<12 {
                slugs += try await Stranger(site, at: "198.51.100.\(number)").guessSecondFactor(wrong)
            }
            #expect(slugs.prefix(50).allSatisfy { $0 == "validation-failed" })
            #expect(slugs.dropFirst(50).allSatisfy { $0 == "code-required" })
            _ = try await owner.signIn()
            #expect(try await owner.send(.put, "/session/totp", ["code": .string(person.code)]).status == 200)
        }
    }

    @Test func `a server that cannot decrypt the authenticator answers 503`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp(hasAuthenticator: true)
            try DatabaseSession().run("UPDATE authenticators SET sealed = 'x'")
            let kim = Browser(site)
            _ = try await kim.signIn()
            #expect(try await kim.send(.put, "/session/totp", ["code": "123456"]).status == 503)
        }
    }
}
