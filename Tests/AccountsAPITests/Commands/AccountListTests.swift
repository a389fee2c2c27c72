import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("The list of accounts", .freshDatabase)
struct AccountListTests {
    private static let (first, second) = (
        "01000000-0000-7000-8000-000000000001", "01000000-0000-7000-8000-000000000002"
    )

    /// Adds two accounts that are older than all others. The first one is disabled.
    private func addOldAccounts() throws {
        try DatabaseSession().run(
            """
            INSERT INTO accounts (id, profile, locale, flow, created_at, disabled_at)
            VALUES ('\(Self.first)', '{}', 'en', 'default@1', now() - interval '3 days', now()),
                   ('\(Self.second)', '{}', 'en', 'default@1', now() - interval '3 days', NULL);
            INSERT INTO authenticators (account, sealed, last_step) VALUES ('\(Self.second)', '', 0);
            INSERT INTO sessions
                   (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed, last_seen_at)
            VALUES (gen_random_uuid(), '\(Self.second)', '', 1, 'pwd', false, '1 day', now(), '', now() - interval '2 h')
            """
        )
    }

    private func list(_ options: String...) async throws -> JSON {
        try await CommandRun.byMina(["accounts", "list", "--json"] + options).json
    }

    @Test func `accounts are listed with masked values, newest first`() async throws {
        #expect(try await CommandRun.byMina("accounts", "list").output == "no accounts\n")
        try await TestSignups.with { service in
            try addOldAccounts()
            let kim = try await service.signups.commit(service.readyDraft()).account.id
            let list = try await CommandRun.byMina("accounts", "list")
            #expect(list.status == 0 && !list.output.contains("example") && !list.output.contains("kim"))
            let lines = list.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
            #expect(lines[0] == "ID CREATED STATE ADDRESS USERNAME FACTORS LAST USED")
            #expect(lines[1].hasPrefix("\(kim) ") && lines[1].hasSuffix(" ago enabled k•••@e•••.com k••• password"))
            #expect(
                lines.dropFirst(2) == [
                    "\(Self.second) 3 d ago enabled totp 2 h ago", "\(Self.first) 3 d ago disabled",
                    "3 of 3 accounts",
                ]
            )
            #expect(
                try await self.list()["accounts"]?.texts(of: "id") == ["\(kim)", Self.second, Self.first]
            )
        }
    }

    @Test func `a page ends with the cursor of the next one`() async throws {
        try await TestSignups.with { _ in
            try addOldAccounts()
            let one = try await CommandRun.byMina("accounts", "list", "--limit", "1")
            #expect(one.output.hasSuffix("\n\n1 of 2 accounts; next page: --after \(Self.second)\n"))
            let two = try await CommandRun.byMina("accounts", "list", "--limit", "1", "--after", Self.second)
            #expect(two.output.contains(Self.first) && two.output.hasSuffix("\n\n1 of 2 accounts\n"))
            let first = try await list("--limit", "1")
            #expect(first["total"] == 2 && first["next"] == .string(Self.second))
            let last = try await list("--after", Self.first)
            #expect(last["accounts"] == [] && last["total"] == 2 && last["next"] == .null)
            try DatabaseSession().run(
                """
                INSERT INTO accounts (id, profile, locale, flow)
                SELECT gen_random_uuid(), '{}', 'en', 'default@1' FROM generate_series(1, 1232)
                """
            )
            let many = try await CommandRun.byMina("accounts", "list", "--limit", "1000")
            #expect(many.output.contains("\n1,000 of 1,234 accounts; next page: --after "))
        }
    }

    @Test func `accounts are selected by state, age, address and username`() async throws {
        try await TestSignups.with { service in
            try addOldAccounts()
            let kim = "\(try await service.signups.commit(service.readyDraft()).account.id)"
            for (options, found) in [
                (["--state", "disabled"], [Self.first]), (["--state", "enabled"], [kim, Self.second]),
                (["--since", "2d"], [kim]), (["--since", "4d", "--limit", "2"], [kim, Self.second]),
                (["--email", "Kim@Example.COM"], [kim]), (["--username", "KIM"], [kim]),
                (["--username", "kim", "--email", "lee@example.com"], []),
                (["--email", "kim@example.com", "--state", "disabled"], []),
            ] {
                let run = try await CommandRun.byMina(["accounts", "list", "--json"] + options)
                #expect(try run.json["accounts"]?.texts(of: "id") == found, "\(options)")
            }
            let records = try DatabaseSession().query(
                "SELECT act || coalesce(' ' || subject::text, '') FROM audit ORDER BY number"
            )
            let audit = try records.map { try $0.decode(String.self) }
            #expect(audit == ["find account \(kim)", "find account \(kim)", "find account", "find account"])
        }
    }

    @Test(arguments: [
        ["--limit", "0"], ["--limit", "10001"], ["--state", "gone"], ["--after", "1"], ["--email", "kim"],
        ["--username", "kim@example.com"], ["--since", "soon"],
    ])
    func `wrong options are usage errors`(options: [String]) async throws {
        #expect(try await CommandRun.byMina(["accounts", "list"] + options).status == 2)
    }
}
