import Accounts
import TestSupport
import Testing

@testable import accounts_api

@Suite("Operator commands", .freshDatabase, .timeLimit(.minutes(30)))
struct OperatorCommandTests: OperatorCommandSuite {
    let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test(arguments: [
        ["drafts", "list"], ["keys", "rotate"], ["sessions", "list", "nobody"], ["migrate", "--status"],
    ])
    func `a command warns of a password in a flag, and of none elsewhere`(arguments: [String]) async throws {
        let conninfo = FreshDatabase.current.conninfo
        let password = conninfo.hasPrefix("postgres") ? "&password=canary" : " password=canary"
        let settings = ["ACCOUNTS_KEYS": TestSignups.keys, "USER": "mina"]
        let warned = try await CommandRun.of(
            arguments + ["--database-url", conninfo + password],
            settings: settings
        )
        let warning = "other users of this machine can read the password in --database-url"
        #expect(warned.errorOutput.hasPrefix("warning: \(warning); use DATABASE_URL or DATABASE_URL_FILE instead\n"))
        #expect(!warned.errorOutput.contains("canary"))
        let json = try await CommandRun.of(
            arguments + ["--json", "--database-url", conninfo + password],
            settings: settings
        )
        let line = try #require(json.errorOutput.split(separator: "\n").first)
        #expect(try JSON.read(Array(line.utf8))["warning"]?.string?.hasPrefix(warning) == true)
        for (flags, variable) in [(["--database-url", conninfo], nil), ([], conninfo + password)] {
            let quiet = try await CommandRun.of(
                arguments + flags,
                settings: settings.merging(variable.map { ["DATABASE_URL": $0] } ?? [:]) { $1 }
            )
            #expect(!quiet.errorOutput.contains("warning") && quiet.status == warned.status)
        }
    }

    @Test func `an audit record needs a valid operator name`() async throws {
        let id = "01a1fdb2-1117-7906-a197-83af84022e4d"
        for (name, message) in [
            ("", "pass --operator NAME: this command writes an audit record"),
            ("mi\u{1B}na", "invalid operator name \"mi\u{FFFD}na\""),
        ] {
            let refused = try await command("drafts", "expire", id, "--operator", name)
            #expect(refused.status == 2 && refused.errorOutput.contains(message))
        }
        let unnamed = try await CommandRun.of(
            ["drafts", "expire", id],
            settings: ["DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys]
        )
        #expect(unnamed.status == 2 && unnamed.errorOutput.contains("--operator"))
    }

    @Test func `a search for an address writes an audit record with the role of the database`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            for address in ["kim@example.com", "lee@example.com"] {
                #expect(try await command("drafts", "list", "--email", address).status == 0)
            }
            #expect(try await command("drafts", "list").status == 0)
            #expect(try audit() == ["mina: find drafts \(kim.id)", "mina: find drafts"])
            let isKnown = try session.query("SELECT bool_and(role = session_user) FROM audit").only.decode(Bool.self)
            #expect(isKnown)
        }
    }

    @Test(arguments: [
        (["drafts", "show", "none"], 2), (["drafts", "list", "--state", "stuck"], 2),
        (["drafts", "list", "--limit", "0"], 2),
        (["drafts", "show", "01a1fdb2-1117-7906-a197-83af84022e4d"], 1),
        (["drafts", "list", "--older-than", "soon"], 2),
        (["outbox", "retry", "01a1fdb2-1117-7906-a197-83af84022e4d", "--operator", "mina"], 1),
        (["drafts", "list", "--email", "kim@example.com"], 2), (["accounts", "show", "kim@example.com"], 2),
        (["drafts", "purge", "--email", "kim@example.com", "--dry-run"], 2),
    ])
    func `a failed command writes only to standard error`(arguments: [String], status: Int) async throws {
        let run = try await CommandRun.of(
            arguments,
            settings: ["DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys]
        )
        #expect(Int(run.status) == status && run.output.isEmpty && !run.errorOutput.isEmpty)
    }

    @Test(arguments: [
        (["drafts", "list", "--email", "x"], "drafts list"), (["accounts", "show", "a@"], "accounts show"),
        (["keys", "signing", "rotate"], "keys signing rotate"),
    ])
    func `an error about a value leads to the help of the command`(arguments: [String], path: String) async throws {
        let run = try await command(arguments: arguments)
        #expect(run.status == 2 && !run.errorOutput.contains("Usage:"))
        #expect(run.errorOutput.hasSuffix("\nSee 'accounts-api \(path) --help' for more information.\n"))
    }

    @Test func `help of an unknown command is an error`() async throws {
        for arguments in [["help", "nosuch"], ["help", "drafts", "nosuch"]] {
            let run = try await CommandRun.of(arguments, settings: [:])
            #expect(run.status == 2 && run.errorOutput.contains("unknown command \"nosuch\""))
        }
        #expect(try await CommandRun.of("help", "drafts", "list").output.contains("--older-than"))
        #expect(try await CommandRun.of("help").output.contains("SUBCOMMANDS"))
    }

    @Test func `an outage is one message, with the reason beside it`() async throws {
        let log = CapturedLog()
        let database = Database("host=/nowhere", connections: 2, logger: log.logger)
        await #expect(throws: DatabaseError.self) { try await database.read("SELECT 1") }
        await database.shutdown()
        let line = try #require(log.lines.first { $0["level"] == "error" })
        #expect(line["message"] == "database unavailable")
        #expect(line["reason"]?.string?.contains("/nowhere") == true)
    }

    @Test func `no line of the help of the program is wrapped in an example`() async throws {
        let help = try await CommandRun.of("--help").output
        #expect(help.contains("\n  accounts-api --generate-completion-script bash >accounts-api.bash\n"))
    }

    @Test(arguments: [["drafts", "show"], ["outbox", "show"], ["keys", "rotate"]])
    func `no sentence of the help has a line break before its line is full`(command: [String]) async throws {
        let help = try await CommandRun.of(command + ["--help"], settings: ["COLUMNS": "80"]).output
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0 != "EXAMPLE" }
        #expect(lines.count > 4)
        for (line, next) in zip(lines, lines.dropFirst()) where !line.isEmpty {
            guard let word = next.split(separator: " ").first else { continue }
            #expect(line.count + 1 + word.count >= 80, "\(line)")
        }
    }

    @Test func `the help of the program names a variable whose file may be unreadable`() async throws {
        #expect(try await CommandRun.of("--help").output.contains("DATABASE_URL_FILE"))
    }

    @Test func `an unknown step is a usage error, unless a draft of an earlier flow is there`() async throws {
        for arguments in [["drafts", "list", "--step", "cod"], ["drafts", "purge", "--step", "cod", "--yes"]] {
            let run = try await CommandRun.byMina(arguments)
            #expect(run.status == 2)
            #expect(run.errorOutput.contains(#"unknown step "cod": the flow default@1 has email, code, password, "#))
        }
        for step in ["review", "recovery/code"] {
            #expect(try await command("drafts", "list", "--step", step).output == "no drafts\n")
        }
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            try session.run("UPDATE drafts SET step = 'cod'")
            #expect(try await command("drafts", "list", "--step", "cod").output.contains("\(kim.id)"))
        }
    }

    @Test func `a step without the name of a flow is one of the sign-up`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.readyDraft()
            try session.run("UPDATE drafts SET step = 'recovery/review'")
            #expect(try await command("drafts", "list", "--step", "review").output == "no drafts\n")
            for arguments in [["--step", "recovery/review"], ["--state", "review"]] {
                #expect(try await CommandRun.byMina(["drafts", "list"] + arguments).output.contains("\(kim.id)"))
            }
        }
        for name in ["list", "purge"] {
            let help = try await CommandRun.of("drafts", name, "--help").output
            #expect(help.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("review for sign-ups"))
        }
    }

    @Test func `an unavailable database is exit status 69, and missing settings are reported together`() async throws {
        let unavailable = try await command("drafts", "list", settings: ["DATABASE_URL": "host=/nowhere"])
        #expect(unavailable.status == 69)
        let missing = try await CommandRun.of(["drafts", "board"], settings: [:])
        #expect(missing.status == 2)
        #expect(missing.errorOutput.contains("DATABASE_URL") && missing.errorOutput.contains("ACCOUNTS_KEYS"))
    }

    @Test func `the version of a release has its commit as build metadata`() {
        #expect(BuildVersion.text(commit: "4be1ac2d90f1") == "\(serviceVersion)+4be1ac2d90f1")
        #expect(BuildVersion.text(commit: "") == serviceVersion)
    }

    @Test func `--version lists the linked libraries`() async throws {
        let lines = try await command("--version").output.split(separator: "\n")
        #expect(lines.count == 4 && lines[0] == serviceVersion)
        #expect(lines[1].hasPrefix("libpq 1") && lines[2].hasPrefix("libcurl/") && lines[3].contains("libargon2"))
    }

    @Test func `a command is in English, whatever the locale`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "email")
            for name in ["LC_ALL", "LC_TIME", "LANG"] {
                let run = try await CommandRun.of(
                    ["drafts", "show", "\(draft.id)"],
                    settings: [
                        "DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys,
                        name: "ko_KR.UTF-8",
                    ]
                )
                #expect(run.status == 0 && run.output.contains("expires   in 24 h"), "\(run.output)")
            }
        }
    }
}
