import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The command that shows an account", .freshDatabase, .timeLimit(.minutes(30)))
struct AccountShowCommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `an account is shown by its address and by its id`() async throws {
        try await TestSignups.with { service in
            let account = try await service.signups.commit(service.readyDraft()).account
            for key in ["KIM@example.com", "\(account.id)"] {
                let shown = try await command("accounts", "show", key)
                #expect(shown.status == 0 && shown.output.contains("\(account.id)"))
                #expect(shown.output.contains("k•••@e•••.com") && shown.output.contains("factor    password"))
                for value in ["kim@", "2001-02-28", "argon2"] { #expect(!shown.output.contains(value)) }
            }
            let revealed = try await command(
                "accounts",
                "show",
                "kim@example.com",
                "--reveal",
                "--operator",
                "jun",
                "--json"
            )
            let json = try JSON.read(Array(revealed.output.utf8))
            #expect(json["values"]?["birth_date"] == "2001-02-28" && json["credentials"] == ["password"])
            #expect(
                try audit() == [
                    "mina: find account \(account.id)", "jun: find account \(account.id)",
                    "jun: reveal account \(account.id)",
                ]
            )
            let missing = try await command("accounts", "show", "lee@example.com")
            #expect(missing.status == 1 && missing.output.isEmpty)
            #expect(try audit().last == "mina: find account", "a search without a result is recorded, too")
            let invalid = try await command("accounts", "show", "no address@")
            #expect(invalid.status == 2 && invalid.errorOutput.contains("invalid e-mail address \"no address@\""))
        }
    }

    @Test func `an account is shown with the rows of every kind`() async throws {
        try await TestSignups.with { service in
            let id = try await service.signups.commit(service.readyDraft()).account.id
            try session.run(
                """
                UPDATE accounts SET created_at = now() - interval '3 h', email_proved_at = now() - interval '4 h';
                UPDATE consents SET given_at = now() - interval '2 h';
                INSERT INTO consents (account, field, accepted, version, document, locale, given_at)
                SELECT account, 'marketing', false, '2025-01', document, locale, given_at FROM consents;
                INSERT INTO authenticators (account, sealed, last_step) VALUES ('\(id)', '', 0);
                INSERT INTO recovery_codes (account, digest) VALUES ('\(id)', '1'), ('\(id)', '2');
                INSERT INTO photos (account, field, type, image) VALUES ('\(id)', 'photo', 'image/jpeg', '123')
                """
            )
            #expect(
                try await command("accounts", "show", "\(id)").output == """
                    account   \(id)
                    flow      default@1
                    created   3 h ago
                    verified  4 h ago
                    factor    password
                    factor    authenticator, 2 recovery codes left

                    FIELD         VALUE
                    email         k•••@e•••.com
                    username      k•••
                    birth_date    •••
                    display_name  K•••
                    photo         photo, 3 bytes
                    marketing     not accepted 2 h ago, version 2025-01
                    terms         accepted 2 h ago, version 2026-11

                    """
            )

            let (created, proved, given) = try session.query(
                """
                SELECT created_at, email_proved_at, (SELECT given_at FROM consents WHERE field = 'terms') FROM accounts
                """
            )
            .only.decode(Date.self, Date.self, Date.self)
            let shown: JSON = [
                "id": .string("\(id)"), "flow": "default@1", "created_at": .string(created.timestamp),
                "proved_at": .string(proved.timestamp), "credentials": ["password"], "authenticator": true,
                "recovery_codes": 2, "disabled_at": nil, "sessions": 0, "devices": 0,
                "address_changes": [],
                "values": [
                    "email": "k•••@e•••.com", "username": "k•••", "birth_date": "•••", "display_name": "K•••",
                ],
                "consents": [
                    [
                        "field": "marketing", "version": "2025-01", "accepted": false, "at": .string(given.timestamp),
                    ],
                    ["field": "terms", "version": "2026-11", "accepted": true, "at": .string(given.timestamp)],
                ],
                "past_consents": [], "photos": ["photo": 3],
            ]
            #expect(try await command("accounts", "show", "\(id)", "--json").output == shown.text + "\n")

            for table in ["credentials", "authenticators", "recovery_codes", "consents", "photos"] {
                try session.run("DELETE FROM \(table)")
            }
            let bare = try JSON.read(Array(await command("accounts", "show", "\(id)", "--json").output.utf8))
            #expect(bare["credentials"] == [] && bare["authenticator"] == false && bare["recovery_codes"] == 0)
            #expect(bare["consents"] == [] && bare["photos"] == [:])
        }
    }
}
