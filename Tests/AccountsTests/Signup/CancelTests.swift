import TestSupport
import Testing

@testable import Accounts

@Suite("Cancelling a sign-up", .freshDatabase, .timeLimit(.minutes(30)))
struct CancelTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `cancelling deletes the draft with its values, proofs and leases`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            try await service.signups.cancel(draft)
            for table in ["drafts", "proofs", "leases"] {
                #expect(try session.number(of: table) == 0)
            }
            #expect(await outcome { try await service.signups.reread(draft) } == "cancelled")
            let ending = try session.query("SELECT token_hash, reason FROM endings").only.decode(
                [UInt8].self,
                String.self
            )
            #expect(ending == (draft.tokenHash, "cancelled"))
        }
    }

    @Test func `cancelling does not affect other drafts`() async throws {
        try await TestSignups.with { service in
            let other = try await service.readyDraft(username: "lee")
            try await service.signups.cancel(service.readyDraft())
            #expect(service.signups.progress(of: try await service.signups.reread(other)).isReady)
        }
    }

    @Test func `a cancelled or expired draft can be cancelled`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.start()
            for _ in 0..<2 { #expect(await outcome { try await service.signups.cancel(draft) } == "done") }
            #expect(try session.number(of: "endings") == 1)

            let expired = try await service.start()
            try session.letPass("1 day")
            #expect(await outcome { try await service.signups.cancel(expired) } == "done")
            #expect(try session.number(of: "drafts") == 0)
        }
    }

    @Test func `concurrent cancellations end a draft once`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let outcomes = try await atOnce(20) { _ in await outcome { try await service.signups.cancel(draft) } }
            #expect(outcomes.tally == ["done": 20])
            #expect(try session.number(of: "endings") == 1)
        }
    }

    @Test func `a committed draft cannot be cancelled`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            _ = try await service.signups.commit(draft)
            let before = try session.dump()
            for draft in [draft, try await service.signups.reread(draft)] {
                #expect(await outcome { try await service.signups.cancel(draft) } == "committed")
            }
            #expect(try session.dump() == before)
        }
    }

    @Test func `a cancellation during a commit reports the commit`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.readyDraft()
            let holder = try DatabaseSession()
            try holder.run("BEGIN")
            try holder.query(
                """
                WITH account AS (
                    INSERT INTO accounts (id, profile, locale, flow)
                    VALUES (gen_random_uuid(), '{}', 'en', \(draft.flow)) RETURNING id
                )
                UPDATE drafts SET account_id = account.id, sealed = '' FROM account WHERE drafts.id = \(draft.id)
                """
            )
            let cancellation = Task { await outcome { try await service.signups.cancel(draft) } }
            try await session.waitUntilSomebodyIsBlocked()
            try holder.run("COMMIT")
            #expect(await cancellation.value == "committed")
            #expect(try session.number(of: "endings") == 0)
        }
    }

    @Test func `either a commit or a concurrent cancellation takes effect, and both report which`() async throws {
        try await TestSignups.with { service in
            for person in 0..<10 {
                let draft = try await service.readyDraft(email: "kim\(person)@example.com", username: "kim\(person)")
                let outcomes = try await atOnce(2) { number in
                    number == 0
                        ? await outcome { try await service.signups.commit(draft) }
                        : await outcome { try await service.signups.cancel(draft) }
                }
                let isAccount = try session.isTrue("EXISTS (SELECT FROM accounts WHERE username = \("kim\(person)"))")
                #expect(outcomes == (isAccount ? ["done", "committed"] : ["cancelled", "done"]))
            }
        }
    }
}
