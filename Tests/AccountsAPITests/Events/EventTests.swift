import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Events of an account", .freshDatabase)
struct EventTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    private func listen(_ site: TestServer, to types: [String] = Webhook.eventTypes) async throws {
        try await site.service.database.store([EventSubscriber(id: "shop", receiving: types)])
    }

    /// Returns the types of the events since the last call, in the order of their numbers, and deletes the events.
    private func events() throws -> [String] {
        let types = try session.query("SELECT type FROM events ORDER BY sequence").map { try $0.decode(String.self) }
        try session.run("DELETE FROM events")
        return types
    }

    @Test func `each change of an account or its sessions causes the right events`() async throws {
        try await TestServer.with { site in
            try await listen(site)
            let kim = Browser(site)
            try await kim.signUp(hasAuthenticator: true)
            #expect(try events() == ["account.created", "session.created"])

            let new: JSON = ["password": "another pass phrase", "confirmation": "another pass phrase"]
            #expect(try await kim.send(.put, "/account/password", new).status == 200)
            #expect(try events() == ["password.changed"])

            let secret = try #require(await kim.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes)
            let code = SignedUp(secret: secret).code
            #expect(try await kim.send(.put, "/account/totp", ["code": .string(code)]).status == 200)
            #expect(try events() == ["factor.added"])
            #expect(try await kim.send(.delete, "/account/totp").status == 200)
            #expect(try events() == ["factor.removed"])

            #expect(try await kim.send(.put, "/account/profile", ["username": "mina"]).status == 200)
            #expect(try events() == ["account.updated"])
            #expect(try await kim.send(.get, "/session").status == 200)
            #expect(try events() == [])

            #expect(try await kim.send(.delete, "/session").status == 204)
            #expect(try events() == ["session.ended"])
            #expect(try await kim.signIn("mina", "another pass phrase").status == 201)
            #expect(try events() == ["session.created"])
            #expect(try await kim.send(.delete, "/account").status == 204)
            #expect(try events() == ["account.erased"])
            #expect(try session.number(of: "event_sequences") == 0)
        }
    }

    @Test func `a change of the address and its restoration cause events`() async throws {
        try await TestServer.with { site in
            try await listen(site)
            let kim = Browser(site)
            try await kim.signUp()
            _ = try events()
            #expect(try await kim.moveAddress(to: "kim@example.net").status == 200)
            #expect(try events() == ["account.updated", "email.changed"])
            try await site.service.deliver()
            let text = try site.service.mailbox.undoToken(for: "kim@example.com")
            let token = try #require(AddressToken(text))
            try await Sessions(signups: site.service.signups).restoreAddress(token)
            #expect(try events() == ["account.updated", "email.restored", "session.ended"])
        }
    }

    @Test func `an operator causes events, too`() async throws {
        try await TestServer.with { site in
            try await listen(site)
            let kim = Browser(site)
            try await kim.signUp()
            _ = try events()
            let id = try session.query("SELECT id FROM accounts").only.decode(ID<Account>.self)
            let mina = Operator(site.service.signups, name: "mina")
            _ = try await mina.disable(id)
            #expect(try events() == ["account.disabled", "session.ended"])
            _ = try await mina.enable(id)
            #expect(try events() == ["account.enabled"])
            _ = try await mina.erase(id)
            #expect(try events() == ["account.erased"])
        }
    }

    @Test func `a better hash of the same password causes no event`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp()
            try await listen(site, to: ["password.changed"])
            try session.run("SELECT replace_password(account, secret, secret || 'x') FROM credentials")
            #expect(try events() == [])
            try session.run("SELECT replace_password(account, NULL, secret) FROM credentials")
            #expect(try events() == ["password.changed"])
        }
    }

    @Test func `a commit that is undone leaves no event, and uses no number of an event`() async throws {
        try await TestServer.with { site in
            try await listen(site)
            try session.run(
                """
                BEGIN;
                INSERT INTO accounts (id, profile, locale, flow) VALUES ('\(ID<Account>())', '{}', 'en', 'x');
                SELECT undo_account(id) FROM accounts;
                COMMIT
                """
            )
            #expect(try session.number(of: "events") == 0)
            #expect(try session.number(of: "event_sequences") == 0)
            #expect(try session.number(of: "accounts") == 0)
        }
    }

    @Test func `events that no application subscribes to are not written`() async throws {
        try await TestServer.with { site in
            try await listen(site, to: ["account.erased"])
            let kim = Browser(site)
            try await kim.signUp()
            #expect(try session.number(of: "events") == 0)
            #expect(try session.number(of: "event_sequences") == 0)
            try await site.service.database.store([])
            #expect(try session.number(of: "applications") == 0)
            #expect(try await kim.send(.delete, "/account").status == 204)
            #expect(try session.number(of: "events") == 0)
        }
    }
}
