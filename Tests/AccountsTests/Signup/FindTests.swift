import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Finding a draft", .freshDatabase, .timeLimit(.minutes(30)))
struct FindTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    // MARK: - Tokens

    @Test func `a token that was never issued is unknown`() async throws {
        try await TestSignups.with { service in
            #expect(await outcome { try await service.signups.find(Token(for: ID<Draft>())) } == "unknown")
        }
    }

    @Test func `a token with a wrong secret is unknown`() async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            #expect(await outcome { try await service.signups.find(Token(for: draft.id)) } == "unknown")
            #expect(await outcome { try await service.signups.find(token) } == "done")
        }
    }

    @Test func `a found draft has the submitted values`() async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            let submitted = try await service.submit(["email": "Kim@Example.com"], to: "email", of: draft)
            let found = try await service.signups.find(token)
            #expect(found.values == submitted.values)
            #expect(found.values.json(of: "email") == "kim@example.com")
            #expect(found.revision == 2)
            #expect(found.proofs["code"]?.isForCurrentAddress == true)
        }
    }

    @Test func `a cancelled draft is reported as cancelled until a day after its maximum lifetime`() async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            try await service.signups.cancel(draft)
            #expect(await outcome { try await service.signups.find(token) } == "cancelled")
            try session.letPass("7 days 23 hours")
            #expect(await outcome { try await service.signups.find(token) } == "cancelled")
            try session.letPass("1 hour")
            #expect(await outcome { try await service.signups.find(token) } == "unknown")
        }
    }

    @Test func `a draft whose address another draft committed is reported as superseded`() async throws {
        try await TestSignups.with { service in
            let (rival, token) = try await service.signups.start(in: .english)
            _ = try await service.fill(rival, through: "code")
            _ = try await service.signups.commit(service.readyDraft())
            #expect(await outcome { try await service.signups.find(token) } == "superseded")
        }
    }

    @Test func `a committed draft whose account was deleted is reported as account-erased`() async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            let ready = try await service.fill(draft)
            let id = try await service.signups.commit(ready).account.id
            let committed = try await service.signups.find(token)
            try session.run("DELETE FROM accounts")
            #expect(await outcome { try await service.signups.find(token) } == "account-erased")
            #expect(await outcome { try await service.signups.account(id) } == "account-erased")
            for draft in [ready, committed] {
                #expect(await outcome { try await service.signups.commit(draft) } == "account-erased")
            }
            #expect(await outcome { try await service.signups.cancel(ready) } == "account-erased")
            #expect(try await service.signups.commit(service.readyDraft()).isNew)
        }
    }

    // MARK: - Expiry

    @Test func `a draft without changes expires after a day`() async throws {
        try await TestSignups.with { service in
            let token = try await service.signups.start(in: .english).token
            try session.letPass("23 hours 59 minutes")
            #expect(await outcome { try await service.signups.find(token) } == "done")
            try session.letPass("1 minute")
            #expect(await outcome { try await service.signups.find(token) } == "expired")
        }
    }

    @Test func `a changed draft expires at the end of its maximum lifetime`() async throws {
        try await TestSignups.with { service in
            let token = try await service.signups.start(in: .english).token
            try session.run("UPDATE drafts SET ends_at = now() + interval '1 minute'")
            let draft = try await service.signups.find(token)
            #expect((0...60).contains(draft.expiresAt.timeIntervalSince(draft.now)))
            try session.letPass("1 minute")
            try session.run("UPDATE drafts SET updated_at = now()")
            #expect(await outcome { try await service.signups.find(token) } == "expired")
            #expect(
                await outcome { try await service.submit(["email": "kim@example.com"], to: "email", of: draft) }
                    == "expired"
            )
            #expect(try session.isTrue("NOT EXISTS (SELECT FROM outbox)"))
        }
    }

    @Test func `a write extends the lifetime of a draft, and a read does not`() async throws {
        try await TestSignups.with { service in
            let token = try await service.signups.start(in: .english).token
            try session.letPass("23 hours")
            for _ in 0..<3 {
                let draft = try await service.signups.find(token)
                #expect((3300...3600).contains(draft.expiresAt.timeIntervalSince(draft.now)))
            }
            let draft = try await service.submit(
                ["email": "kim@example.com"],
                to: "email",
                of: service.signups.find(token)
            )
            #expect((86_100...86_400).contains(draft.expiresAt.timeIntervalSince(draft.now)))
            try session.letPass("23 hours")
            #expect(await outcome { try await service.signups.find(token) } == "done")
        }
    }

    @Test func `a committed draft refers to its account until the end of its maximum lifetime`() async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            let account = try await service.signups.commit(service.fill(draft)).account
            try session.letPass("6 days 23 hours")
            let found = try await service.signups.find(token)
            #expect(found.account == account.id)
            #expect(found.values == Values())
            try session.letPass("1 hour")
            #expect(await outcome { try await service.signups.find(token) } == "expired")
        }
    }

    // MARK: - Keys

    @Test func `a draft encrypted with a key that was removed from the ring is unreadable`() async throws {
        let token = try await TestSignups.with { try await $0.signups.start(in: .english).token }
        try await TestSignups.with(keys: Self.otherKey) { service in
            #expect(await outcome { try await service.signups.find(token) } == "unreadable")
        }
    }

    @Test func `values that were copied from another draft are unreadable`() async throws {
        try await TestSignups.with { service in
            let token = try await service.signups.start(in: .english).token
            let other = try await service.start()
            try session.query(
                "UPDATE drafts SET sealed = (SELECT sealed FROM drafts WHERE id = \(other.id)) WHERE id = \(token.id)"
            )
            #expect(await outcome { try await service.signups.find(token) } == "unreadable")
        }
    }

    @Test func `a draft from before a key rotation is readable, and its next write uses the new key`() async throws {
        let token = try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            _ = try await service.submit(["email": "kim@example.com"], to: "email", of: draft)
            return token
        }
        try await TestSignups.with(keys: Self.rotatedKeys) { service in
            let draft = try await service.signups.find(token)
            #expect(draft.values.json(of: "email") == "kim@example.com")
            #expect(try sealingKey() == "test")
            _ = try await service.submit(["email": "lee@example.com"], to: "email", of: draft)
            #expect(try sealingKey() == "other")
        }
        try await TestSignups.with(keys: Self.otherKey) { service in
            let draft = try await service.signups.find(token)
            #expect(draft.values.json(of: "email") == "lee@example.com")
        }
    }

    @Test func `a code from before a key rotation is accepted after it`() async throws {
        let (draft, code) = try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            return (draft, try await service.readCode(for: "kim@example.com"))
        }
        try await TestSignups.with(keys: Self.rotatedKeys) { service in
            let proved = try await service.submit(["code": .string(code)], to: "code", of: draft)
            #expect(proved.proofs["code"]?.isProved == true)
        }
    }

    @Test func `a draft whose address was proved before a key rotation can be committed after it`() async throws {
        let draft = try await TestSignups.with { try await $0.readyDraft() }
        try await TestSignups.with(keys: Self.rotatedKeys) { service in
            let current = try await service.signups.reread(draft)
            #expect(current.proofs["code"]?.isProved == true)
            #expect(try await service.signups.commit(current).account.email == "kim@example.com")
        }
    }

    @Test func `a name that was leased before a key rotation is still leased after it`() async throws {
        let draft = try await TestSignups.with { try await $0.readyDraft() }
        try await TestSignups.with(keys: Self.rotatedKeys) { service in
            let other = try await service.fill(service.start(), through: "password", email: "lee@example.com")
            let name: Answers = ["username": "kim"]
            #expect(
                await outcome { try await service.submit(name, to: "profile", of: other) } == "refused: username taken"
            )
            #expect(await outcome { try await service.submit(name, to: "profile", of: draft) } == "done")
            #expect(
                await outcome { try await service.submit(name, to: "profile", of: other) } == "refused: username taken"
            )
        }
    }

    @Test func `a draft that was lost before a key rotation gives its name to the next one after it`() async throws {
        let lost = try await TestSignups.with { try await $0.readyDraft() }
        try await TestSignups.with(keys: Self.rotatedKeys) { service in
            let draft = try await service.fill(service.start(), through: "profile")
            #expect(await outcome { try await service.signups.reread(lost) } == "continued-elsewhere")
            #expect(try session.query("SELECT draft FROM leases").only.decode(ID<Draft>.self) == draft.id)
        }
    }

    @Test func `a draft from before a key rotation is superseded by a commit after it`() async throws {
        let token = try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            _ = try await service.fill(draft, through: "code")
            return token
        }
        try await TestSignups.with(keys: Self.rotatedKeys) { service in
            _ = try await service.signups.commit(service.readyDraft())
            #expect(await outcome { try await service.signups.find(token) } == "superseded")
        }
    }

    private static let otherKey = "other:" + Data(repeating: 8, count: 32).base64EncodedString()
    private static let rotatedKeys = "\(otherKey),\(TestSignups.keys)"

    /// The id of the key with which the only draft is sealed.
    private func sealingKey() throws -> String? { KeyRing.keyID(of: try sealedValues()) }

    /// The version of the key with which the only draft is sealed.
    private func sealingVersion() throws -> UInt8? { try sealedValues().first }

    private func sealedValues() throws -> [UInt8] {
        try session.query("SELECT sealed FROM drafts").only.decode([UInt8].self)
    }

    // MARK: - A changed database

    @Test func `a draft is unreadable if its token hash is replaced by that of another token`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            // An attacker who can write to the database stores the hash of a known token in the row of Kim's draft.
            let token = Token(for: kim.id)
            try session.query("UPDATE drafts SET token_hash = \(token.hash) WHERE id = \(kim.id)")
            #expect(await outcome { try await service.signups.find(token) } == "unreadable")
            try session.query("UPDATE drafts SET token_hash = \(kim.tokenHash) WHERE id = \(kim.id)")
            #expect(try await service.signups.reread(kim).values == kim.values)
        }
    }

    @Test func `the values of an earlier revision are unreadable`() async throws {
        try await TestSignups.with { service in
            let before = try await service.fill(service.start(), through: "email")
            let after = try await service.submit(["email": "lee@example.com"], to: "email", of: before)
            #expect(after.revision == before.revision + 1)
            try session.query("UPDATE drafts SET sealed = \(before.sealed) WHERE id = \(before.id)")
            #expect(await outcome { try await service.signups.reread(after) } == "unreadable")
        }
    }

    @Test func `a draft sealed with a v1 key is readable, and its next write uses format v2`() async throws {
        let old = "old:" + Data(repeating: 11, count: 32).base64EncodedString()
        let draft = try await TestSignups.with(keys: old) { try await $0.fill($0.start(), through: "email") }
        #expect(try sealingVersion() == 1)
        try await TestSignups.with(keys: "\(TestSignups.keys),\(old)") { service in
            let current = try await service.signups.reread(draft)
            #expect(current.values == draft.values)
            _ = try await service.submit(["email": "lee@example.com"], to: "email", of: current)
            #expect(try sealingVersion() == 2)
        }
    }

    @Test func `a draft whose lifetime an operator extends stays readable`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            #expect(try await Operator(service.signups, name: "mina").extend(draft.id) != nil)
            #expect(try await service.signups.reread(draft).values == draft.values)
        }
    }
}
