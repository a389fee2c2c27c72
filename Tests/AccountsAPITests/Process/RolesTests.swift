import Foundation
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The roles of the database", .timeLimit(.minutes(30)))
struct RolesTests {
    private func isRefused(_ statement: String, _ session: DatabaseSession) -> Bool {
        do {
            try session.query(SQL(stringLiteral: statement))
            return false
        } catch {
            return (error as? DatabaseError)?.sqlState == "42501"
        }
    }

    // MARK: - Serving

    @Test func `the serving role can sign people up in every way`() async throws {
        try await Installation.with { installation in
            let conninfo = installation.conninfo(as: "accounts_server")
            try await withDatabase(conninfo) { database in
                try await Migrations().check(database)
                let rights = try await database.rightsBeyondServing()
                #expect(rights == [])
                let mismatch = try await KeyRing(TestSignups.keys).mismatch(with: database)
                #expect(mismatch == nil)
            }
            try await TestServer.with(conninfo: conninfo) { site in
                let kim = site.visitor()
                try await kim.start()
                try await kim.fill(through: "email")
                let code = try await site.service.readCode(for: "kim@example.com")
                #expect(try await kim.put("code", ["code": code == "000000" ? "000001" : "000000"]).status == 422)
                try await kim.fill(through: "profile")
                let photo = try await kim.send(
                    .put,
                    "/signup/profile/photo",
                    bytes: image("plain.png"),
                    headers: [.contentType: "image/png"]
                )
                #expect(photo.status == 204)
                try await kim.put("contact", ["birth_date": "2001-02-28"])
                let totp = try await kim.send(.get, "/signup/totp")
                let wrong = kim.code(of: totp) == "000000" ? "000001" : "000000"
                #expect(try await kim.put("totp", ["totp": .string(wrong)]).refusals == ["totp:code_wrong"])
                #expect(try await kim.put("totp", ["totp": .string(kim.code(of: totp))]).status == 200)
                #expect(try await kim.send(.post, "/signup/handoff").status == 202)
                try await kim.put("terms", ["terms": true])
                #expect(try await kim.commit().status == 201)

                let lee = site.visitor()
                try await lee.start()
                try await lee.fill(through: "profile", email: "lee@example.com", username: "lee")
                #expect(try await lee.put("email", ["email": "park@example.com"]).status == 200)
                #expect(try await lee.send(.delete, "/signup").status == 204)
                let browser = Browser(site)
                #expect(try await browser.signIn("kim@example.com").status == 201)
                #expect(try await browser.send(.put, "/session/totp", ["code": "000000"]).status == 422)
                #expect(try await browser.send(.post, "/session/code", ["identifier": "kim"]).status == 201)
                #expect(try await browser.send(.put, "/session/code", ["code": "000000"]).status == 422)
                try await browser.signUp("sam@example.com", "sam")
                #expect(try await browser.signIn("sam").status == 201)
                let password: JSON = ["password": "a pass phrase of mine"]
                #expect(try await browser.send(.put, "/session/confirm", password).status == 200)
                let new: JSON = ["password": "another phrase of mine", "confirmation": "another phrase of mine"]
                #expect(try await browser.send(.put, "/account/password", new).status == 200)
                var app = SignedUp()
                app.secret = try await browser.send(.get, "/account/totp").json["secret"]?.string?.base32Bytes ?? []
                #expect(try await browser.send(.put, "/account/totp", ["code": .string(app.code)]).status == 200)
                #expect(try await browser.send(.post, "/account/recovery-codes").status == 200)
                #expect(try await browser.send(.delete, "/account/totp").status == 200)
                #expect(try await browser.send(.get, "/account").status == 200)
                #expect(try await browser.send(.delete, "/account/sessions").status == 204)
                #expect(try await browser.send(.delete, "/account").status == 204)
                try await site.service.signups.funnel.flush(to: site.service.database)
            }
            // This deletes no account, because no account was inserted by the same transaction.
            try installation.session(as: "accounts_server").run("SELECT undo_account(id) FROM accounts")
            let tables = [
                "accounts", "authenticators", "recovery_codes", "photos", "endings", "funnel_daily", "outbox",
            ]
            for table in tables {
                let exists = try installation.session(as: "accounts_owner")
                    .query(SQL(stringLiteral: "SELECT EXISTS (SELECT FROM \(table))")).only.decode(Bool.self)
                #expect(exists, "\(table)")
            }
        }
    }

    @Test func `the serving role creates partitions, and erases what has expired with its partitions`() async throws {
        try await Installation.with { installation in
            let owner = try installation.session(as: "accounts_owner")
            try owner.run(
                """
                DO $$ BEGIN
                    EXECUTE 'DROP TABLE drafts_' || to_char((now() AT TIME ZONE 'UTC')::date + 3, 'YYYYMMDD');
                END $$;
                SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date - 20)
                """
            )
            try await TestSignups.with(conninfo: installation.conninfo(as: "accounts_server")) { service in
                let partitions = Partitions(
                    database: service.database,
                    days: service.signups.partitions,
                    logger: .silent
                )
                try await partitions.prepare()
                _ = try await service.fill(service.start(), through: "profile")
                try owner.letPass("2 days")
                // The day of a draft is in its id.
                try owner.run("UPDATE drafts SET id = '00000000-0000-7000-8000-000000000000'")
                let erased = try await Reaper(signups: service.signups, restFactor: 0, logger: .silent).sweep()
                #expect(erased.drafts == 1 && erased.partitions == 1)
            }
            // A statement that names the new partition needs the privileges of `drafts` on it.
            let isGranted = try owner.query(
                """
                SELECT bool_and(has_table_privilege('accounts_server', inhrelid, 'INSERT')
                                AND has_table_privilege('mina', inhrelid, 'DELETE')), count(*)
                  FROM pg_inherits WHERE inhparent = 'drafts'::regclass
                """
            ).only.decode(Bool.self, Int.self)
            #expect(isGranted.0 && isGranted.1 >= 9)
        }
    }

    // MARK: - Operating

    @Test func `the operating role can run every command of an operator`() async throws {
        try await Installation.with { installation in
            try await TestSignups.with(conninfo: installation.conninfo(as: "accounts_server")) { service in
                #expect(try await service.signups.keys.mismatch(with: service.database) == nil)
                let kim = try await service.fill(service.start(), through: "profile")
                let account = try await service.signups.commit(
                    service.readyDraft(email: "lee@example.com", username: "lee")
                ).account.id
                service.mailbox.refuse(with: .temporary(reply: 451, reason: "greylisted"))
                _ = try await service.fill(service.start(), through: "email", email: "park@example.com")
                try await service.deliver()
                try await service.signups.funnel.flush(to: service.database)
                let waiting = try installation.session(as: "mina").query(
                    "SELECT id::text FROM outbox WHERE state = 'waiting'"
                )
                let mail = try #require(waiting.first).decode(String.self)

                for arguments in [
                    ["drafts", "list"], ["drafts", "list", "--email", "kim@example.com"],
                    ["drafts", "show", "\(kim.id)", "--reveal"], ["drafts", "why", "\(kim.id)"], ["drafts", "board"],
                    ["drafts", "funnel"], ["drafts", "extend", "\(kim.id)"],
                    ["drafts", "purge", "--email", "kim@example.com", "--dry-run"],
                    ["accounts", "show", "lee@example.com", "--reveal"], ["accounts", "show", "\(account)"],
                    ["accounts", "disable", "lee@example.com"], ["accounts", "enable", "lee@example.com"],
                    ["accounts", "remove-authenticator", "lee", "--yes"],
                    ["accounts", "list"], ["accounts", "list", "--username", "lee"], ["accounts", "why", "lee"],
                    ["accounts", "export", "\(account.description.prefix(13))"], ["audit", "list"],
                    ["sessions", "list", "lee@example.com"], ["sessions", "end", "lee@example.com"],
                    ["outbox", "list"], ["outbox", "list", "--email", "park@example.com"], ["outbox", "show", mail],
                    ["drafts", "why", "park@example.com"], ["outbox", "retry", mail], ["outbox", "flush"],
                    ["keys", "rotate"], ["drafts", "expire", "\(kim.id)"],
                    ["drafts", "purge", "--email", "park@example.com", "--yes"], ["migrate", "--status"],
                    ["accounts", "erase", "lee@example.com", "--dry-run"],
                    ["accounts", "erase", "lee@example.com", "--yes"],
                ] {
                    let run = try await installation.command(arguments)
                    #expect(run.status == 0, "\(arguments): \(run.errorOutput)")
                }
            }
            let roles = try installation.session(as: "mina").query("SELECT DISTINCT role FROM audit")
            let names = try roles.map { try $0.decode(String.self) }
            #expect(names == ["mina"])
        }
    }

    @Test func `a role that may only read, and has no keys, sees sign-ups and mail with sealed values`() async throws {
        try await Installation.with { installation in
            try installation.addSupport()
            func run(_ arguments: String...) async throws -> CommandRun {
                let settings = ["DATABASE_URL": installation.conninfo(as: "support"), "USER": "sam"]
                return try await CommandRun.of(arguments, settings: settings)
            }
            try await TestSignups.with(conninfo: installation.conninfo(as: "accounts_server")) { service in
                let park = try await service.readyDraft(email: "park@example.com", username: "park")
                _ = try await service.signups.commit(park)
                let lee = try await service.readyDraft(email: "lee@example.com", username: "lee")
                let kim = try await service.fill(service.start(), through: "email")
                let warning = "warning: ACCOUNTS_KEYS is not set: encrypted values are shown as sealed\n"

                let list = try await run("drafts", "list")
                #expect(list.status == 0 && list.errorOutput == warning, "\(list.errorOutput)")
                let rows = list.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
                #expect(rows[1].prefix(5) == ["\(kim.id)", "open", "code", "sealed", "0"])
                #expect(rows[2].prefix(5) == ["\(lee.id)", "review", "review", "sealed", "0"])
                #expect(rows[3].prefix(4) == ["\(park.id)", "committed", "committed", "0"])

                let show = try await run("drafts", "show", String("\(kim.id)".prefix(18)))
                #expect(show.status == 0 && show.errorOutput == warning, "\(show.errorOutput)")
                #expect(show.output.hasPrefix("draft     \(kim.id)\n"))
                #expect(show.output.contains("\nnext      code\nvalues    sealed\n\nTIME"))
                #expect(show.output.contains("code: new code, 0 of 5 guesses wrong"))
                #expect(show.output.contains("verification-code: waits to be sent"))
                let json = try await run("drafts", "show", "\(kim.id)", "--json")
                #expect(try json.json["values"] == .null && json.json["steps"] == [] && json.json["next"] == "code")
                #expect(try json.json["codes"]?.texts(of: "state") == ["not entered yet"])
                #expect(try json.errorJSON["warning"]?.string?.hasPrefix("ACCOUNTS_KEYS is not set") == true)

                let expected: [(Draft, [String?])] = [
                    (kim, ["code_waiting", "sealed"]), (lee, ["sealed"]), (park, []),
                ]
                for (draft, reasons) in expected {
                    let why = try await run("drafts", "why", "\(draft.id)", "--json")
                    #expect(try why.json["obstacles"]?.texts(of: "reason") == reasons, "\(why.errorOutput)")
                }
                let mails = try await run("outbox", "list", "--draft", "\(kim.id)")
                #expect(mails.status == 0 && mails.errorOutput == warning && mails.output.contains("  sealed  "))
                let found = try await run("outbox", "list", "--draft", "\(kim.id)", "--json").json["mails"]
                #expect(found?.texts(of: "to") == [nil])
                let ids = try #require(found?.texts(of: "id").compactMap { $0 })
                let mail = try await run("outbox", "show", try #require(ids.first))
                #expect(mail.status == 0 && mail.output.contains("\nrecipient  sealed\n"))
                for output in [list.output, show.output, mails.output, mail.output] {
                    #expect(!output.contains("•") && !output.contains("example"))
                }

                let search = "ACCOUNTS_KEYS is missing: without it, sign-ups and mail cannot be found"
                for arguments in [
                    ["drafts", "show", "kim"], ["drafts", "why", "kim@example.com"],
                    ["drafts", "list", "--email", "kim@example.com"], ["outbox", "list", "--email", "kim@example.com"],
                    ["outbox", "list", "--draft", "kim"],
                ] {
                    let settings = ["DATABASE_URL": installation.conninfo(as: "support"), "USER": "sam"]
                    let refused = try await CommandRun.of(arguments, settings: settings)
                    #expect(refused.status == 2 && refused.output.isEmpty && refused.errorOutput.hasPrefix(search))
                }
                let revealed = try await run("drafts", "show", "\(kim.id)", "--reveal")
                #expect(revealed.status == 2 && revealed.errorOutput == "ACCOUNTS_KEYS is missing\n")
                let expired = try await run("drafts", "expire", "\(kim.id)")
                #expect(expired.status == 1 && expired.errorOutput.hasPrefix("permission denied: the role support"))
            }
            let support = try installation.session(as: "support")
            for statement in ["DELETE FROM drafts", "SELECT email FROM accounts", "SELECT FROM sessions"] {
                #expect(isRefused(statement, support), "\(statement)")
            }
        }
    }

    @Test func `the operating role can rotate the keys of every table`() async throws {
        let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
        try await Installation.with { installation in
            try await TestServer.with(conninfo: installation.conninfo(as: "accounts_server")) { site in
                #expect(try await site.service.signups.keys.mismatch(with: site.service.database) == nil)
                for (index, name) in ["kim", "lee"].enumerated() {
                    let visitor = site.visitor()
                    try await visitor.start()
                    try await visitor.fill(through: "profile", email: "\(name)@example.com", username: name)
                    let photo = try await visitor.send(
                        .put,
                        "/signup/profile/photo",
                        bytes: image("plain.png"),
                        headers: [.contentType: "image/png"]
                    )
                    #expect(photo.status == 204)
                    if index == 1 { break }
                    try await visitor.put("contact", ["birth_date": "2001-02-28"])
                    let totp = try await visitor.send(.get, "/signup/totp")
                    try await visitor.put("totp", ["totp": .string(visitor.code(of: totp))])
                    try await visitor.put("terms", ["terms": true])
                    #expect(try await visitor.commit().status == 201)
                }
            }
            let run = try await installation.command(["keys", "rotate", "--json"], keys: "\(new),\(TestSignups.keys)")
            #expect(run.status == 0, "\(run.errorOutput)")
            let rotated = try JSON.read(Array(run.output.utf8))
            #expect(rotated["drafts"] == 1 && rotated["photos"] == 1 && rotated["authenticators"] == 1)
            #expect(rotated["unreadable"] == 0)
        }
    }

    @Test func `commands of the version before can write audit records, which lack the machine and the reason`()
        async throws
    {
        try await Installation.with { installation in
            let account = "01a1fdb2-1117-7906-a197-83af84022e4d"
            try installation.session(as: "accounts_owner").run(
                """
                INSERT INTO accounts (id, profile, locale, flow) VALUES ('\(account)', '{}', 'en', 'default@1');
                INSERT INTO authenticators (account, sealed, last_step) VALUES ('\(account)', '', 0)
                """
            )
            let entry = """
                {"id": "01a1fdb2-1117-7906-a197-83af84022e4e", "username": "lee", "profile": {}, "locale": "en",
                 "created_at": "2024-05-01T12:00:00Z"}
                """
            let mina = try installation.session(as: "mina")
            try mina.run("INSERT INTO audit (operator, act) VALUES ('mina', 'flush')")
            try mina.run("SELECT remove_authenticator('\(account)', 'mina', '{}', 50, now())")
            try mina.run("SELECT import_accounts('[\(entry)]', 'mina')")
            let records = try mina.query(
                "SELECT act, role = 'mina' AND host IS NULL AND reason IS NULL FROM audit ORDER BY number"
            ).map { try $0.decode(String.self, Bool.self) }
            #expect(records.map(\.0) == ["flush", "remove authenticator", "import account"])
            #expect(records.allSatisfy { $0.1 })
        }
    }

    // MARK: - Refusals

    @Test func `neither role can change the audit, a table or the schema`() async throws {
        try await Installation.with { installation in
            try installation.session(as: "mina").run("INSERT INTO audit (operator, act) VALUES ('mina', 'expire')")
            let partitions = try installation.session(as: "accounts_owner")
                .query("SELECT count(*) FROM pg_inherits WHERE inhparent = 'drafts'::regclass").only.decode(Int.self)
            for role in ["accounts_server", "mina"] {
                let session = try installation.session(as: role)
                for statement in [
                    "UPDATE audit SET operator = 'jun'", "DELETE FROM audit", "TRUNCATE audit", "DROP TABLE audit",
                    "INSERT INTO audit (operator, act, at) VALUES ('mina', 'expire', now())",
                    "INSERT INTO audit (operator, act, role) VALUES ('mina', 'expire', 'jun')",
                    "DROP TABLE drafts", "TRUNCATE drafts", "TRUNCATE accounts", "DELETE FROM accounts",
                    "UPDATE accounts SET email = NULL", "UPDATE credentials SET secret = ''",
                    "CREATE TABLE extra (number int)", "CREATE TEMP TABLE extra (number int)",
                    "CREATE FUNCTION extra() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                    "ALTER TABLE audit DISABLE TRIGGER ALL", "INSERT INTO migrations (name, checksum) VALUES ('x', '')",
                    "DROP FUNCTION create_draft_partition", "CREATE ROLE jun", "SET ROLE accounts_owner",
                ] {
                    #expect(isRefused(statement, session), "\(role): \(statement)")
                }
            }
            let server = try installation.session(as: "accounts_server")
            #expect(isRefused("INSERT INTO audit (operator, act) VALUES ('mina', 'expire')", server))
            #expect(isRefused("SELECT FROM audit", server))
            for change in ["type = 'account.erased'", "account = id", "sequence = 0"] {
                #expect(isRefused("UPDATE events SET \(change)", server))
            }
            #expect(isRefused("SELECT * FROM credentials", server))
            #expect(isRefused("DELETE FROM photos", server))
            for statement in [
                "UPDATE consents SET accepted = true", "DELETE FROM consents", "DELETE FROM past_consents",
                "INSERT INTO past_consents DEFAULT VALUES",
            ] {
                #expect(isRefused(statement, server), "\(statement)")
            }
            for call in ["create_draft_partition('2031-05-06')", "drop_past_draft_partitions('-30 days')"] {
                try? server.run("SELECT \(call)")
            }
            let days = try installation.session(as: "accounts_owner").query(
                "SELECT count(*) FROM pg_inherits WHERE inhparent = 'drafts'::regclass"
            )
            #expect(try days.only.decode(Int.self) == partitions)
            let mina = try installation.session(as: "mina")
            #expect(isRefused("SELECT secret FROM credentials", mina))
            #expect(isRefused("SELECT create_draft_partition('2031-05-06')", mina))
            #expect(isRefused("SELECT drop_past_draft_partitions('1 day')", mina))
            #expect(isRefused("SELECT undo_account(gen_random_uuid())", mina))
            #expect(isRefused("SELECT password_hash(gen_random_uuid())", mina))
            #expect(isRefused("SELECT has_password(gen_random_uuid(), '')", mina))
            #expect(isRefused("SELECT replace_password(gen_random_uuid(), '', '')", mina))
            #expect(isRefused("SELECT imported_kinds()", mina))
            #expect(isRefused("SELECT replace_photo(gen_random_uuid(), '', '', NULL)", mina))
            #expect(isRefused("SELECT record_consent(gen_random_uuid(), '', true, '', '', '')", mina))
            #expect(isRefused("INSERT INTO credentials VALUES (gen_random_uuid(), 'password', '')", mina))
            #expect(try mina.query("SELECT import_accounts('[]', 'mina')").isEmpty)
            for authors in ["'mina'", "'mina', NULL, NULL"] {
                let removal = "remove_authenticator(gen_random_uuid(), \(authors), '{}', 50, now())"
                #expect(isRefused("SELECT import_accounts('[]', \(authors))", server))
                #expect(isRefused("SELECT \(removal)", server))
            }
            #expect(isRefused("UPDATE accounts SET disabled_at = NULL", server))
            #expect(isRefused("UPDATE recovery_codes SET digest = ''", server))
            let records = try mina.query("SELECT operator, role FROM audit").only.decode(String.self, String.self)
            #expect(records == ("mina", "mina"))
        }
    }

    @Test func `a command without the privileges names the role and the remedy`() async throws {
        try await Installation.with { installation in
            for arguments in [["audit", "list"], ["drafts", "expire", "01a1fdb2-1117-7906-a197-83af84022e4d"]] {
                let run = try await CommandRun.of(
                    arguments,
                    settings: ["DATABASE_URL": installation.conninfo(as: "accounts_server"), "USER": "mina"]
                )
                #expect(run.status == 1 && run.output.isEmpty)
                #expect(
                    run.errorOutput
                        == "permission denied: the role accounts_server may not do this; see docs/operating.md, "
                        + "\"A role for each task\"\n"
                )
            }
        }
    }

    @Test func `an import without the privilege names the role and the remedy after its report`() async throws {
        try await Installation.with { installation in
            let line = #"{"username": "lee", "created_at": "2024-05-01T12:00:00Z"}"#
            let run = try await withFile(line, named: "users.jsonl") { file in
                try await CommandRun.of(
                    ["accounts", "import", file],
                    settings: [
                        "DATABASE_URL": installation.conninfo(as: "accounts_server"), "USER": "mina",
                        "ACCOUNTS_KEYS": TestSignups.keys, "ARGON2_MEMORY_KIB": "7168", "ARGON2_ITERATIONS": "5",
                    ]
                )
            }
            #expect(run.status == 1)
            #expect(run.output == "imported 0 accounts, skipped 0 that were imported before, refused 0 lines\n")
            #expect(run.errorOutput.hasPrefix("permission denied: the role accounts_server may not do this; see "))
        }
    }

    /// An operator can disable an account, but can give nobody access to it, except with the function that removes a
    /// lost authenticator.
    @Test func `the operating role cannot let anybody into an account`() async throws {
        try await Installation.with { installation in
            let mina = try installation.session(as: "mina")
            for table in [
                "credentials", "authenticators", "recovery_codes", "sessions", "sign_ins", "devices", "identifiers",
                "accounts", "address_changes", "sign_in_failures",
            ] {
                #expect(isRefused("INSERT INTO \(table) DEFAULT VALUES", mina), "\(table)")
            }
            for statement in [
                "UPDATE sessions SET token_hash = ''", "UPDATE sessions SET ends_at = now()",
                "UPDATE sign_ins SET attempts = 0", "UPDATE authenticators SET last_step = 0",
                "UPDATE recovery_codes SET digest = ''", "UPDATE identifiers SET value = ''",
                "DELETE FROM credentials", "DELETE FROM authenticators", "DELETE FROM recovery_codes",
                "UPDATE address_changes SET token_hash = ''",
                "SELECT move_address(gen_random_uuid(), '', now())",
                "SELECT restore_address(gen_random_uuid(), '', now())", "SELECT rename_account(gen_random_uuid(), '')",
            ] {
                #expect(isRefused(statement, mina), "\(statement)")
            }
        }
    }

    @Test func `functions that run as the owner ignore temporary tables`() async throws {
        try await Installation.with { installation in
            let settings = try installation.session(as: "accounts_owner").query(
                "SELECT proconfig = '{\"search_path=public, pg_temp\"}' FROM pg_proc WHERE prosecdef"
            )
            let arePinned = try settings.map { try $0.decode(Bool.self) }
            #expect(arePinned == Array(repeating: true, count: 22))
        }
    }

    // MARK: - Granting

    @Test func `every table has a role that can read it`() async throws {
        try await Installation.with { installation in
            let others = try installation.session(as: "accounts_owner").query(
                """
                SELECT relname::text FROM pg_class
                 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                   AND NOT has_table_privilege('accounts_server', oid, 'SELECT')
                   AND NOT has_any_column_privilege('mina', oid, 'SELECT')
                """
            )
            let names = try others.map { try $0.decode(String.self) }
            #expect(names == [], "add new tables to sql/functions/grant_to_roles.sql")
        }
    }

    @Test func `another migration gives the roles exactly their privileges, whatever they had before`() async throws {
        try await Installation.with(isMigrated: false) { installation in
            let administrator = try installation.session(as: "accounts")
            try administrator.run(
                "ALTER ROLE accounts_serve RENAME TO later; ALTER ROLE accounts_operate RENAME TO other"
            )
            // The roles are missing, and the owner may not create roles, so the migration grants nothing.
            try await installation.migrate()
            let server = try installation.session(as: "accounts_server")
            #expect(isRefused("SELECT FROM migrations", server))

            try administrator.run(
                "ALTER ROLE later RENAME TO accounts_serve; ALTER ROLE other RENAME TO accounts_operate"
            )
            try await installation.migrate()
            try server.run("SELECT FROM migrations")
            try administrator.run("GRANT ALL ON audit, accounts TO accounts_serve, accounts_operate")
            try await installation.migrate()
            #expect(isRefused("DELETE FROM audit", server) && isRefused("DELETE FROM accounts", server))
        }
    }

    @Test func `one role can own and serve, and the server logs a warning`() async throws {
        try await Installation.with { installation in
            for (role, reason) in [("accounts_owner", "owns the tables"), ("accounts", "is a superuser")] {
                try await withDatabase(installation.conninfo(as: role)) { database in
                    let rights = try await database.rightsBeyondServing()
                    #expect(rights.first?.rawValue == reason)
                }
            }
            let mails = Mails()
            let owning = try await ServerProcess.start(
                database: installation.conninfo(as: "accounts_owner"),
                arguments: ["serve", "--migrate"],
                mails: mails
            )
            #expect(owning.log.matches(of: /the database role may do more than serve/).count == 1)
            let kim = SignupClient("kim@example.com", mails: mails)
            try await kim.begin(at: owning.port)
            for step in ["email", "code", "password", "profile", "contact", "terms"] {
                try await kim.step(step, at: owning.port)
            }
            try await kim.createAccount(at: owning.port)
            #expect(await owning.end(by: SIGTERM) == 0)

            let serving = try await ServerProcess.start(database: installation.conninfo(as: "accounts_server"))
            #expect(!serving.log.contains("may do more than serve"))
            #expect(await serving.end(by: SIGTERM) == 0)
        }
    }
}
