import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Upkeep of sessions", .freshDatabase)
struct SessionUpkeepTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// Signs up, signs in, fails to sign in, and asks for a code.
    private func use(_ service: TestSignups) async throws {
        _ = try await service.signups.commit(service.readyDraft())
        let client = SessionClient(browser: "Firefox/140.0", device: nil)
        let sessions = Sessions(signups: service.signups, failureTime: .zero).from(.unknown, client)
        for password in ["a pass phrase of mine", "not the pass phrase"] {
            guard case .secret(let secret) = FieldAnswer.password(password) else { continue }
            _ = try? await sessions.signIn(as: SignInIdentifier("kim"), with: secret)
        }
        _ = try await sessions.mailCode(to: SignInIdentifier("kim"), in: .english)
    }

    @Test func `sessions, devices, waiting sign-ins and failures are deleted when they expire, and not before`()
        async throws
    {
        try await TestSignups.with { service in
            try await use(service)
            let tables = ["sign_ins", "sessions", "sign_in_failures", "devices"]
            // Each time is counted from the end of the previous one.
            for (table, time) in zip(
                tables,
                ["9 minutes", "22 hours 45 minutes", "28 days 22 hours", "369 days 23 hours"]
            ) {
                try session.letPass(time)
                _ = try await service.sweep()
                #expect(try session.number(of: table) > 0, "\(table) before its time")
                try session.letPass("65 minutes")
                _ = try await service.sweep()
                #expect(try session.number(of: table) == 0, "\(table) after its time")
            }
            #expect(try session.number(of: "accounts") == 1)
        }
    }

    @Test func `a sweep deletes any number of expired sessions, and leaves a locked one`() async throws {
        try await TestSignups.with { service in
            try await use(service)
            try session.run(
                """
                INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
                SELECT gen_random_uuid(), account, '', 1, 'pwd', false, '1 day', now() - interval '1 second', ''
                  FROM sessions, generate_series(1, 1700)
                """
            )
            let holder = try DatabaseSession()
            try holder.run("BEGIN; SELECT 1 FROM sessions WHERE ends_at < now() LIMIT 1 FOR UPDATE")
            #expect(try await service.sweep().rows == 1699)
            try holder.run("COMMIT")
            #expect(try await service.sweep().rows == 1)
            #expect(try session.number(of: "sessions") == 1)
        }
    }

    @Test func `a key rotation re-encrypts the browsers of sessions`() async throws {
        let new = "new:v2:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await TestSignups.with { try await use($0) }
        let rotated = try await TestSignups.with(keys: "\(new),\(TestSignups.keys)") { service in
            try await Operator(service.signups, name: "mina").rotateKeys()
        }
        #expect(rotated.rows["sessions"] == 1)
        try await TestSignups.with(keys: new) { service in
            let account = try session.query("SELECT id FROM accounts").only.decode(ID<Account>.self)
            let listed = try await Sessions(signups: service.signups).list(of: account)
            #expect(listed.map(\.browser) == ["Firefox/140.0"])
        }
    }

    @Test func `a sign-in that is not stored ends no session`() async throws {
        try await TestSignups.with { service in
            try await use(service)
            let sessions = Sessions(signups: service.signups, failureTime: .zero)
            let id = try session.query("SELECT id FROM accounts").only.decode(ID<Account>.self)
            let present = try await sessions.start(.aal1, .password, of: id, after: [], when: "true")
            // The account is disabled after the password was checked.
            try session.run("UPDATE accounts SET disabled_at = now()")
            await #expect(throws: SignInError.self) {
                try await sessions.waitForSecondFactor(
                    of: id,
                    .password,
                    after: [],
                    when: "true",
                    replacing: present.token
                )
            }
            #expect(try session.query("SELECT FROM sessions WHERE id = \(present.session.id)").count == 1)
        }
    }

    @Test func `an operator sees the sessions and whether the account is disabled`() async throws {
        try await TestSignups.with { service in
            try await use(service)
            let id = try session.query("SELECT id FROM accounts").only.decode(ID<Account>.self)
            let mina = Operator(service.signups, name: "mina")
            let shown = try #require(try await mina.account(id))
            let entry = try #require(shown.sections.flatMap(\.entries).first { $0.label == "sessions" })
            #expect(entry.text == "1, last used" && entry.note == "1 known device")
            try session.run("UPDATE sessions SET idle_after = '1 hour'")
            try session.letPass("2 hours")
            let idle = try #require(try await mina.account(id))
            #expect(idle.sections.flatMap(\.entries).contains { $0.label == "sessions" && $0.text == "none" })
            #expect(try await Sessions(signups: service.signups).list(of: id).isEmpty)
            try session.run("UPDATE accounts SET disabled_at = now()")
            let disabled = try #require(try await mina.account(id))
            #expect(disabled.sections.flatMap(\.entries).contains { $0.label == "disabled" && $0.time != nil })
        }
    }
}
