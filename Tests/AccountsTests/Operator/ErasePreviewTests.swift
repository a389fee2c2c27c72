import TestSupport
import Testing

@testable import Accounts

@Suite("What an erasure would erase", .freshDatabase)
struct ErasePreviewTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `the preview counts the rows of every table that goes with an account`() throws {
        let tables = try session.query(
            """
            WITH RECURSIVE dependent AS (
                SELECT 'accounts'::regclass::oid AS relation
                UNION
                SELECT conrelid FROM pg_constraint JOIN dependent ON confrelid = relation WHERE contype = 'f'
            )
            SELECT relation::regclass::text FROM dependent WHERE relation <> 'accounts'::regclass
            """
        )
        .map { try $0.decode(String.self) }
        let counted = Operator.belongings(of: ID()).map { $0.name.replacing(" ", with: "_") }
        #expect(Set(counted) == Set(tables + ["waiting_mails"]))
    }

    @Test func `an erasure erases the rows that the preview has counted`() async throws {
        try await TestSignups.with { service in
            let id = try await service.signups.commit(service.readyDraft()).account.id
            try session.run(
                """
                INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
                SELECT gen_random_uuid(), '\(id)', number::text::bytea, 1, 'pwd', false, '1 day', now(), ''
                  FROM generate_series(1, 3) AS number;
                INSERT INTO grants (id, session, application, account)
                SELECT gen_random_uuid(), id, 'shop', account FROM sessions;
                INSERT INTO authorizations (id, grant_id, code_digest, code_expires_at, sealed, scope, nonce)
                SELECT gen_random_uuid(), id, id::text::bytea, now(), '', '', '' FROM grants LIMIT 2;
                INSERT INTO recovery_codes (account, digest) VALUES ('\(id)', '1'), ('\(id)', '2')
                """
            )
            let mina = Operator(service.signups, name: "mina")
            let preview = try #require(try await mina.erasePreview(of: id))
            #expect(preview.address == "k•••@e•••.com" && preview.username == "k•••")
            let counts = Dictionary(uniqueKeysWithValues: preview.rows.map { ($0.name, $0.count) })
            #expect(counts["identifiers"] == 2 && counts["credentials"] == 1 && counts["recovery codes"] == 2)
            #expect(counts["sessions"] == 3 && counts["grants"] == 3 && counts["authorizations"] == 2)
            #expect(counts["photos"] == 0 && counts["waiting mails"] == 1, "the mail about the new account waits")
            #expect(try session.number(of: "audit") == 0, "nothing was done")

            #expect(try await mina.erase(id))
            for (name, _) in preview.rows where name != "waiting mails" {
                #expect(try session.number(of: name.replacing(" ", with: "_")) == 0, "\(name)")
            }
            let gone = try await mina.erasePreview(of: id)
            #expect(gone == nil)
        }
    }
}
