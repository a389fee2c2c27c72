import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("The reaper", .freshDatabase, .timeLimit(.minutes(30)))
struct ReaperTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `an expired draft is deleted with all its rows`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "contact")
            try await service.signups.handOff(draft)
            let answers: Answers = ["totp": "000000"]
            _ = await outcome { try await service.submit(answers, to: "totp", of: draft) }
            let belongings = ["drafts", "proofs", "leases", "enrolments", "handoffs"]
            #expect(try belongings.map { try session.number(of: $0) } == [1, 1, 1, 1, 1])
            try session.age("25 hours")
            #expect(try await service.sweep().drafts == 1)
            #expect(try belongings.map { try session.number(of: $0) } == [0, 0, 0, 0, 0])
            #expect(try session.number(of: "endings") == 0)
        }
    }

    @Test(
        arguments: [
            (0.0, "unknown"), (23.9, "unknown"), (24.1, "expired"), (191.9, "expired"),
            (192.1, "unknown"),
        ] as [(Double, String)]
    )
    func `the age of a token decides whether a missing draft is reported as expired`(hours: Double, ending: String)
        async throws
    {
        try await TestSignups.with { service in
            let token = Token(for: ID<Draft>(at: Date() - hours * 3600))
            #expect(await outcome { try await service.signups.find(token) } == ending)
        }
    }

    @Test func `the ending of a draft with an extended lifetime is recorded`() async throws {
        try await TestSignups.with { service in
            let (draft, token) = try await service.signups.start(in: .english)
            try session.run(
                "UPDATE drafts SET ends_at = ends_at + interval '3 days', updated_at = now() - interval '2 days'"
            )
            try session.run("UPDATE drafts SET id = '00000000-0000-7000-8000-000000000000' WHERE id = '\(draft.id)'")
            #expect(try await service.sweep().drafts == 1)
            #expect(await outcome { try await service.signups.find(token) } == "expired")
            try session.age("11 days")
            _ = try await service.sweep()
            #expect(try session.number(of: "endings") == 0)
            #expect(await outcome { try await service.signups.find(token) } == "unknown")
        }
    }

    @Test func `a recently changed draft and a committed draft are kept`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            let ready = try await service.readyDraft(email: "lee@example.com", username: "lee")
            let account = try await service.signups.commit(ready).account
            try session.age("3 days")
            try session.run("UPDATE drafts SET updated_at = now() WHERE account_id IS NULL")
            #expect(try await service.sweep().drafts == 0)
            #expect(try session.number(of: "drafts") == 2)
            #expect(try session.number(of: "proofs") == 1)
            #expect(
                try session.query("SELECT account_id FROM drafts WHERE account_id IS NOT NULL").only.decode(
                    ID<Account>.self
                ) == account.id
            )
            #expect(try session.isTrue("EXISTS (SELECT FROM drafts WHERE revision = \(draft.revision))"))
        }
    }

    @Test func `one sweep deletes several batches`() async throws {
        try await TestSignups.with { service in
            _ = try await service.start()
            try session.run(
                """
                INSERT INTO drafts (id, token_hash, ends_at, locale, flow, step, sealed)
                SELECT (left(id::text, 24) || lpad(to_hex(number), 12, '0'))::uuid, sha256(number::text::bytea), ends_at,
                       locale, flow, step, sealed FROM drafts, generate_series(1, 1700) AS number
                """
            )
            try session.age("25 hours")
            #expect(try await service.sweep().drafts == 1701)
            #expect(try session.number(of: "drafts") == 0)
        }
    }

    @Test func `a locked draft is left for the next sweep`() async throws {
        try await TestSignups.with { service in
            _ = try await service.start()
            try session.age("25 hours")
            try session.lockDrafts()
            #expect(try await service.sweep().drafts == 0)
            try session.releaseDrafts()
            #expect(try await service.sweep().drafts == 1)
        }
    }

    @Test func `sweeps of limited duration delete many drafts and count them`() async throws {
        try await TestSignups.with { service in
            for _ in 0..<65 { _ = try await service.start() }
            try session.age("25 hours")
            let hurried = Reaper(signups: service.signups, restFactor: 0, maximumDuration: .zero, logger: .silent)
            #expect(try await hurried.sweep().drafts == 50)
            #expect(try await hurried.sweep().drafts == 15)
            let text = Monitor(of: service.signups, version: "1").exposition()
            #expect(text.contains("accounts_reaper_erased_total{what=\"drafts\"} 65\n"))
        }
    }

    @Test func `concurrent sweeps delete every draft once`() async throws {
        try await TestSignups.with(connections: 11) { service in
            for _ in 0..<20 { _ = try await service.start() }
            try session.age("25 hours")
            _ = try await atOnce(6) { _ in try await service.sweep() }
            _ = try await service.sweep()
            #expect(try session.number(of: "drafts") == 0)
            try await service.signups.funnel.flush(to: service.database)
            #expect(try session.number(of: "funnel_daily WHERE outcome = 'expired' AND count = 20") == 1)
        }
    }

    @Test func `limits, mails and links are deleted when they expire, and not before`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "code")
            try await service.signups.handOff(draft)
            try await service.deliver()
            service.mailbox.refuse(with: .permanent(reply: 550, reason: "no such mailbox"))
            _ = try await service.submit(["email": "lee@example.com"], to: "email", of: service.start())
            try await service.deliver()
            let before = try session.dump()
            #expect(try await service.sweep() == Reaper.Erased())
            #expect(try session.dump() == before)

            try session.letPass("25 hours")
            _ = try await service.sweep()
            for table in ["limits", "handoffs", "tickets"] { #expect(try session.number(of: table) == 0) }
            #expect(try session.query("SELECT state FROM outbox").only.decode(String.self) == "dead")
            try session.letPass("30 days")
            _ = try await service.sweep()
            #expect(try session.number(of: "outbox") == 0)
        }
    }

    @Test func `the username of a deleted draft is free again`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "profile")
            try session.age("8 days")
            _ = try await service.sweep()
            let draft = try await service.fill(service.start(), through: "password", email: "lee@example.com")
            #expect(
                try await service.submit(["username": "kim"], to: "profile", of: draft).values.json(of: "username")
                    == "kim"
            )
        }
    }

    @Test func `a partition is dropped when none of its drafts is needed any more`() async throws {
        try await TestSignups.with { service in
            let ready = try await service.readyDraft()
            _ = try await service.signups.commit(ready)
            try session.run(
                "SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date - day) FROM generate_series(2, 20) AS day"
            )
            try session.age("12 days")
            try session.run("UPDATE drafts SET ends_at = now() - interval '23 hours'")
            // The committed draft is kept until a day after the end of its lifetime.
            #expect(try await service.sweep().partitions >= 10)
            #expect(try session.number(of: "drafts") == 1)
            try session.run("UPDATE drafts SET ends_at = now() - interval '25 hours'")
            #expect(try await service.sweep().partitions == 1)
            #expect(try session.number(of: "drafts") == 0)
            #expect(try session.number(of: "accounts") == 1)
        }
    }

    @Test func `an expired draft is counted before its partition is dropped, unless that takes more than a week`()
        async throws
    {
        try await TestSignups.with { service in
            try session.run(
                "SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date - day) FROM generate_series(2, 20) AS day"
            )
            /// As if no server had run for a while: a draft is left, whose lifetime is over since that time.
            func leaveDraft(expiredFor time: String) async throws {
                _ = try await service.start()
                try session.age("12 days")
                try session.run("UPDATE drafts SET ends_at = now() - interval '\(time)'")
                let drop: SQL = "SELECT drop_past_draft_partitions(interval '0 days')"
                while try session.query(drop).only.decode(Int.self) == 1 {}
            }
            try await leaveDraft(expiredFor: "7 days")
            #expect(try session.number(of: "drafts") == 1)
            let erased = try await service.sweep()
            #expect(erased.drafts == 1 && erased.partitions == 1)
            try await service.signups.funnel.flush(to: service.database)
            #expect(try session.number(of: "funnel_daily WHERE outcome = 'expired'") == 1)

            try session.run("SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date - 12)")
            try await leaveDraft(expiredFor: "9 days")
            #expect(try session.number(of: "drafts") == 0)
        }
    }

    @Test func `a failed deletion does not prevent the others`() async throws {
        try await TestSignups.with { service in
            _ = try await service.start()
            try session.age("25 hours")
            try session.run("SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date - 20)")
            try session.refuse("DELETE", on: "limits")
            #expect(await outcome { try await service.sweep() } == "database refused: P0001")
            #expect(try session.number(of: "drafts") == 0)
            #expect(
                try session.number(
                    of:
                        "pg_inherits WHERE inhrelid::regclass::text = 'drafts_' || to_char((now() AT TIME ZONE 'UTC')::date - 20, 'YYYYMMDD')"
                ) == 0
            )
        }
    }

    @Test func `a partition that is being read is left for the next sweep`() async throws {
        try await TestSignups.with { service in
            try session.run("SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date - 20)")
            let reader = try DatabaseSession()
            try reader.run("BEGIN; SELECT FROM drafts")
            #expect(try await service.sweep().partitions == 0)
            try reader.run("COMMIT")
            #expect(try await service.sweep().partitions == 1)
        }
    }

    @Test func `expired drafts in the default partition are deleted`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(try await service.readyDraft())
            // The draft moves to the default partition, because the day of its new id has no partition.
            try session.age("40 days")
            #expect(try session.number(of: "drafts_other") == 1)
            #expect(try await service.sweep().rows > 0)
            #expect(try session.number(of: "drafts") == 0)
        }
    }
}
