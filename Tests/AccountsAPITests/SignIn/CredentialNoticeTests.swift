import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

/// NIST SP 800-63B-4 §4.6, and OWASP ASVS 5.0, 6.3.7, require these mails.
@Suite("Mails about changes of an account", .freshDatabase)
struct CredentialNoticeTests {
    private static let (old, new) = ("kim@example.com", "kim@example.net")

    /// Delivers the queued mail. Returns the mails after the first `count`, without mails that contain a code.
    private static func notices(after count: Int, _ site: TestServer) async throws -> [Mail] {
        try await site.service.deliver()
        return site.service.mailbox.mails.dropFirst(count).filter { Mailbox.code(in: $0.text) == nil }
    }

    @Test(arguments: [
        ("password", "Your Acme password was changed"), ("app", "Your Acme authenticator app was replaced"),
        ("no app", "Your Acme authenticator app was removed"),
        ("recovery codes", "New recovery codes for your Acme account"),
        ("recovery code", "A recovery code was used for your Acme account"),
        ("username", "Your Acme username was changed"),
        ("erasure", "Your Acme account was deleted"),
    ])
    func `a change causes one mail, which says what to do if somebody else has made the change`(
        change: String,
        subject: String
    ) async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            let person = try await kim.signUp(hasAuthenticator: true)
            try await site.service.deliver()
            let count = site.service.mailbox.mails.count
            let response: Response
            switch change {
            case "password":
                let new: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
                response = try await kim.send(.put, "/account/password", new)
            case "app":
                let secret = try #require(await kim.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes)
                let code = SignedUp(secret: secret).code
                response = try await kim.send(.put, "/account/totp", ["code": .string(code)])
            case "recovery code":
                let other = Browser(site)
                _ = try await other.signIn()
                let code = JSON.string(person.recoveryCodes[0])
                response = try await other.send(.put, "/session/recovery-code", ["code": code])
            case "username": response = try await kim.send(.put, "/account/profile", ["username": "mina"])
            case "no app": response = try await kim.send(.delete, "/account/totp")
            case "recovery codes": response = try await kim.send(.post, "/account/recovery-codes")
            default: response = try await kim.send(.delete, "/account")
            }
            #expect(response.status == 200 || response.status == 204)
            let mails = try await Self.notices(after: count, site)
            #expect(mails.map(\.subject) == [subject] && mails.map(\.to) == [Self.old])
            #expect(mails.allSatisfy { $0.text.contains("If this wasn't you") })
            // The person who made the change may have locked the owner out, so the link must work without a sign-in.
            // After a change of the app, a recovery would ask for a code of the new one.
            let lines = try #require(mails.first).text.split(separator: "\n")
            #expect(lines.contains("http://localhost:8080/recovery") == !["app", "erasure"].contains(change))
            #expect(lines.last == "https://acme.example/help")
            // A new password does not take codes away from somebody else, nor does it undo the change.
            let advice = lines.filter { $0.hasPrefix("If this wasn't you, also sign in to Acme and ") }
            let needsMore = ["no app", "recovery codes", "recovery code", "username"].contains(change)
            #expect(advice.count == (needsMore ? 1 : 0))
            let endsSessions = !["recovery code", "username", "erasure"].contains(change)
            let ending = "Every device except the one that made the change was signed out"
            #expect(mails.allSatisfy { $0.text.contains(ending) == endsSessions })
            for code in response.strings("recovery_codes") {
                #expect(!mails.contains { $0.text.contains(code) }, "a mail has no secret")
            }
        }
    }

    /// Otherwise one account could use up what the mail provider accepts, and nobody would get a code.
    @Test(arguments: [Limits.Name.noticesToAccount, .mailsFromNetwork])
    func `changes that mail a notice are limited`(name: Limits.Name) async throws {
        // The code of the sign-up counts as a mail, but not as a notice.
        let limit = Limit(name == .noticesToAccount ? 2 : 3, per: .seconds(3600))
        try await TestServer.with(limits: Limits(byName: [name: limit], revisions: 600)) { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            for _ in 1...2 { #expect(try await kim.send(.post, "/account/recovery-codes").status == 200) }
            let before = try DatabaseSession().number(of: "outbox")
            let new: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
            for refused in [
                try await kim.send(.post, "/account/recovery-codes"),
                try await kim.send(.put, "/account/password", new),
            ] {
                #expect(refused.status == 429 && refused.slug == "rate-limited")
                #expect(refused.headers[.rateLimitPolicy]?.contains(name.rawValue) == true)
            }
            let after = try DatabaseSession().number(of: "outbox")
            #expect(after == before)
            #expect(try await kim.send(.put, "/account/profile", ["username": "mina"]).status == 200)
            #expect(try await kim.send(.delete, "/account").status == 204, "a person can always leave")
        }
    }

    /// Otherwise an attacker who uses up the mails of the service would keep people from removing a thief's app.
    @Test func `changes count as mails of all clients, and are not refused when these are used up`() async throws {
        let limits = Limits(byName: [.mails: Limit(2, per: .seconds(3600))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            for _ in 1...3 { #expect(try await kim.send(.post, "/account/recovery-codes").status == 200) }
            let lee = Browser(site)
            try await lee.send(.post, "/signup", [:])
            let refused = try await lee.send(.put, "/signup/email", ["email": "lee@example.com"])
            #expect(refused.slug == "rate-limited" && refused.headers[.rateLimitPolicy]?.contains("\"mails\"") == true)
        }
    }

    @Test func `a change of an account without an address counts as no mail`() async throws {
        let limits = Limits(byName: [.mails: Limit(2, per: .seconds(3600))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            try DatabaseSession().run("DELETE FROM identifiers WHERE kind = 'email'; UPDATE accounts SET email = NULL")
            for _ in 1...3 { #expect(try await kim.send(.post, "/account/recovery-codes").status == 200) }
            let lee = Browser(site)
            try await lee.send(.post, "/signup", [:])
            #expect(try await lee.send(.put, "/signup/email", ["email": "lee@example.com"]).status == 200)
        }
    }

    @Test func `a changed username mails a limited number of notices`() async throws {
        let limit = Limit(2, per: .seconds(3600))
        try await TestServer.with(limits: Limits(byName: [.noticesToAccount: limit], revisions: 600)) { site in
            let kim = Browser(site)
            try await kim.signUp()
            for name in ["mina", "jun", "park"] {
                #expect(try await kim.send(.put, "/account/profile", ["username": .string(name)]).status == 200)
            }
            #expect(try DatabaseSession().number(of: "outbox WHERE template = 'username-changed'") == 2)
        }
    }

    @Test func `a used recovery code mails a limited number of notices`() async throws {
        let limit = Limit(2, per: .seconds(3600))
        try await TestServer.with(limits: Limits(byName: [.noticesToAccount: limit], revisions: 600)) { site in
            let person = try await Browser(site).signUp(hasAuthenticator: true)
            for code in person.recoveryCodes.prefix(3) {
                let kim = Browser(site)
                _ = try await kim.signIn()
                #expect(try await kim.send(.put, "/session/recovery-code", ["code": .string(code)]).status == 200)
            }
            #expect(try DatabaseSession().number(of: "outbox WHERE template = 'recovery-code-used'") == 2)
        }
    }

    @Test func `a refused change causes no mail`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await site.service.deliver()
            let count = site.service.mailbox.mails.count
            let short: JSON = ["password": "short", "confirmation": "short"]
            #expect(try await kim.send(.put, "/account/password", short).status == 422)
            #expect(try await kim.send(.delete, "/account/totp").status == 404)
            #expect(try await kim.send(.put, "/account/profile", ["username": "kim"]).status == 200)
            #expect(try await kim.send(.put, "/account/profile", ["username": "admin"]).status == 422)
            try DatabaseSession().run("UPDATE sessions SET auth_time = now() - interval '11 minutes'")
            #expect(try await kim.send(.delete, "/account").status == 403)
            let mails = try await Self.notices(after: count, site)
            #expect(mails.isEmpty)
        }
    }

    @Test func `the old and the new address get a mail about a change, and about its restoration`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await site.service.deliver()
            var count = site.service.mailbox.mails.count
            #expect(try await kim.moveAddress(to: Self.new).status == 200)
            let moved = try await Self.notices(after: count, site)
            #expect(Set(moved.map(\.to)) == [Self.old, Self.new])
            #expect(moved.allSatisfy { $0.text.contains("If this wasn't you") })
            count = site.service.mailbox.mails.count
            let token = JSON.string(try site.service.mailbox.undoToken(for: Self.old))
            #expect(try await Browser(site).send(.post, "/email-change/undo", ["token": token]).status == 204)
            let restored = try await Self.notices(after: count, site)
            #expect(
                Set(restored.map { "\($0.to) \($0.subject)" }) == [
                    "\(Self.old) Your Acme email address was restored",
                    "\(Self.new) Your email address was removed from Acme",
                ]
            )
        }
    }
}
