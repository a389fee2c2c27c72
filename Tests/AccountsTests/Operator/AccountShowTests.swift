import TestSupport
import Testing

@testable import Accounts

@Suite("An account as an operator sees it", .freshDatabase)
struct AccountShowTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// The names of the tables that refer to accounts, except `identifiers`, which belongs to no kind of field.
    private func tables() throws -> [String] {
        try session.query(
            """
            SELECT conrelid::regclass::text FROM pg_constraint
             WHERE contype = 'f' AND confrelid = 'accounts'::regclass AND conrelid <> 'identifiers'::regclass
             ORDER BY 1
            """
        )
        .map { try $0.decode(String.self) }
    }

    @Test func `the rows of every table are shown`() async throws {
        try await TestSignups.with { service in
            let id = try await service.signups.commit(service.readyDraft()).account.id
            try session.run(
                """
                INSERT INTO authenticators (account, sealed, last_step) VALUES ('\(id)', '', 0);
                INSERT INTO recovery_codes (account, digest) VALUES ('\(id)', '1');
                INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
                VALUES (gen_random_uuid(), '\(id)', '', 1, 'pwd', false, '1 day', now() + interval '1 day', '');
                INSERT INTO address_changes (id, account, token_hash, sealed, expires_at)
                VALUES (gen_random_uuid(), '\(id)', '', '', now() + interval '1 day');
                INSERT INTO devices (account, digest) VALUES ('\(id)', '');
                INSERT INTO past_consents (account, field, accepted, version, document, locale, given_at, ended_at)
                VALUES ('\(id)', 'terms', true, '1', '', 'en', now(), now());
                INSERT INTO photos (account, field, type, image) VALUES ('\(id)', 'photo', 'image/jpeg', '1')
                """
            )
            let mina = Operator(service.signups, name: "mina")
            let tables = try tables()
            #expect(tables.count >= 5)
            for table in tables {
                let shown = try await mina.account(id)?.sections.flatMap(\.members)
                let deleted = try session.query(SQL(stringLiteral: "DELETE FROM \(table) RETURNING 1"))
                #expect(!deleted.isEmpty, "this test needs a row in \(table)")
                let rest = try await mina.account(id)?.sections.flatMap(\.members)
                #expect(shown != rest, "the operator does not see the rows of \(table)")
                #expect(
                    shown?.map(\.name) == rest?.map(\.name),
                    "the names of the members do not depend on the rows of \(table)"
                )
            }
        }
    }

    @Test func `the rows of a field are shown although the flow does not have it`() async throws {
        let id = try await TestSignups.with { service in
            try await service.signups.commit(service.readyDraft()).account.id
        }
        let flow = """
            flow: other
            version: 1
            steps:
              - name: all
                title: All
                fields: [{name: nick, kind: text, label: Name}]
            """
        try await TestSignups.with(flow: flow) { service in
            let account = try #require(try await Operator(service.signups, name: "mina").account(id))
            #expect(account.sections.flatMap(\.entries).map(\.text) == ["accepted", "password"])
        }
    }

    @Test func `an account that does not exist is not shown`() async throws {
        try await TestSignups.with { service in
            let account = try await Operator(service.signups, name: "mina").account(ID())
            #expect(account == nil)
        }
    }
}
