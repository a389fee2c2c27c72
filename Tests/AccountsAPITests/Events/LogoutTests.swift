import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Logouts of applications", .freshDatabase)
struct LogoutTests {
    /// What ends a session: its own browser, another device, the time, or an operator.
    enum End: String, CaseIterable, Sendable {
        case signOut, signOutElsewhere, passwordChangedElsewhere, erasure, expiry
        case sessionsEnd, oneSessionEnd, everybodyEnd, disable
    }

    /// Ends the session of `browser`, whose account is also signed in on `phone`.
    private func bring(_ end: End, to browser: Browser, beside phone: Browser) async throws {
        let session = try DatabaseSession()
        let used = try session.query("SELECT session FROM grants").only.decode(ID<AccountSession>.self)
        func run(_ command: String...) async throws {
            let run = try await CommandRun.byMina(command)
            #expect(run.status == 0, "\(run.errorOutput)")
        }
        switch end {
        case .signOut: #expect(try await browser.send(.delete, "/session").status == 204)
        case .signOutElsewhere: #expect(try await phone.send(.delete, "/account/sessions/\(used)").status == 204)
        case .passwordChangedElsewhere:
            let password: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
            #expect(try await phone.send(.put, "/account/password", password).status == 200)
        case .erasure: #expect(try await phone.send(.delete, "/account").status == 204)
        case .expiry:
            try session.run("UPDATE sessions SET ends_at = now() - interval '1 second'")
            _ = try await Reaper(signups: browser.site.service.signups, restFactor: 0, logger: .silent).sweep()
        case .sessionsEnd: try await run("sessions", "end", "kim@example.com")
        case .oneSessionEnd: try await run("sessions", "end", "kim@example.com", "--session", "\(used)")
        case .everybodyEnd: try await run("sessions", "end", "--everybody", "--yes")
        case .disable: try await run("accounts", "disable", "kim@example.com")
        }
    }

    private func logouts() throws -> [String] {
        try DatabaseSession().query("SELECT concat_ws(' ', application, sid, account) FROM logouts").map {
            try $0.decode(String.self)
        }
    }

    @Test(arguments: End.allCases)
    func `each end of a session is told to the application that it was used for`(end: End) async throws {
        try await RelyingParty.with { shop in
            let told = EventSubscriber(id: "shop", backchannelLogoutURI: "https://shop.example/logout")
            try await shop.site.service.database.store([told])
            let (kim, phone) = (Browser(shop.site), Browser(shop.site))
            try await kim.signUp()
            let claims = try await shop.signIn(kim).claims()
            let (sid, account) = (try #require(claims["sid"]?.string), try #require(claims["sub"]?.string))
            // The session of the phone was used for no application.
            #expect(try await phone.signIn().status == 201)
            #expect(try logouts().isEmpty)
            try await bring(end, to: kim, beside: phone)
            #expect(try logouts() == ["shop \(sid) \(account)"])
        }
    }

    @Test func `an application without a logout URI is not told`() async throws {
        try await RelyingParty.with { shop in
            try await shop.site.service.database.store([EventSubscriber(id: "shop", receiving: Webhook.eventTypes)])
            let kim = Browser(shop.site)
            try await kim.signUp()
            #expect(try await shop.signIn(kim).status == 200)
            #expect(try await kim.send(.delete, "/session").status == 204)
            #expect(try DatabaseSession().number(of: "grants") == 0)
            #expect(try logouts().isEmpty)
        }
    }
}
