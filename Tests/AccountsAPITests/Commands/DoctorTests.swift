import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("The doctor command", .timeLimit(.minutes(30)))
struct DoctorTests {
    /// The environment of a server that is set up as the documents say.
    private static func settings(_ installation: Installation, _ mails: MailCatcher) -> [String: String] {
        [
            "DATABASE_URL": installation.conninfo(as: "accounts_server"), "ACCOUNTS_KEYS": TestSignups.keys,
            "SMTP_URL": mails.url, "PUBLIC_URL": "https://accounts.example", "TRUSTED_PROXIES": "127.0.0.0/8",
            "BRAND_FILE": "examples/brand/brand.yaml",
            "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
        ]
    }

    /// The states and texts of the findings, by the names of the checks.
    private static func examine(_ settings: [String: String]) async throws -> (status: Int32, found: [String: Found]) {
        let run = try await CommandRun.of("doctor", "--json", settings: settings)
        guard case .array(let findings)? = try run.json["findings"] else { throw RunningCommand.Ended() }
        #expect(try run.json["ok"] == .bool(run.status == 0))
        let found = findings.map { finding in
            (finding["check"]?.string ?? "", Found(finding["state"]?.string ?? "", finding["text"]?.string ?? ""))
        }
        return (run.status, Dictionary(found) { first, _ in first })
    }

    /// The line about the mail server at a URL.
    private static func mailLine(_ url: String, _ arguments: String...) async throws -> String {
        let settings = ["DATABASE_URL": "host=127.0.0.1 port=1", "ACCOUNTS_KEYS": TestSignups.keys, "SMTP_URL": url]
        let lines = try await CommandRun.of(["doctor"] + arguments, settings: settings).output.split(separator: "\n")
        return lines.first { $0.contains("  mail  ") }.map(String.init) ?? ""
    }

    private struct Found: Equatable {
        let state: String
        let text: String

        init(_ state: String, _ text: String) {
            (self.state, self.text) = (state, text)
        }
    }

    @Test func `an installation that is set up right passes every check`() async throws {
        try await Installation.with { installation in
            let mails = try await MailCatcher.start()
            let settings = Self.settings(installation, mails)
            let (status, found) = try await Self.examine(settings)
            #expect(status == 0)
            let checks = [
                "settings", "proxies", "contact", "database", "clock", "migrations", "role", "log", "keys",
                "mail",
                "images",
            ]
            for check in checks { #expect(found[check]?.state == "ok", "\(check): \(found[check]?.text ?? "missing")") }
            #expect(["ok", "warning"].contains(found["argon2"]?.state), "the tests run with either libargon2")
            #expect(found["disk"]?.state == "skipped", "the role of a server may not know the folder")
            #expect(found.count == checks.count + 2)
            let lines = try await CommandRun.of("doctor", settings: settings)
            let role = "\nok       role        it may serve, but not change the schema\n"
            #expect(lines.status == 0 && lines.output.contains(role))
            withExtendedLifetime(mails) {}
        }
    }

    @Test(arguments: [(1.9, Finding.State.ok), (-1.9, .ok), (2.1, .wrong), (-2.1, .wrong)])
    func `a clock that differs by more than two seconds is wrong`(offset: Double, state: Finding.State) {
        #expect(DatabaseCheckup.clock(offset).state == state)
    }

    @Test(
        arguments: [
            (nil, Finding.State.skipped), ((2048, 10_240), .ok), ((900, 1000), .wrong), ((2048, 102_400), .wrong),
        ] as [((Int, Int)?, Finding.State)]
    )
    func `a disk with less than 1 GiB or a tenth of it is wrong`(mebibytes: (Int, Int)?, state: Finding.State) {
        let space = mebibytes.map { (free: $0.0 << 20, total: $0.1 << 20) }
        let finding = DatabaseCheckup.disk(holding: 13 << 20, space)
        #expect(finding.state == state && finding.text.hasPrefix("the database has 13 MiB"))
        #expect((finding.remedy == nil) == (state != .wrong))
    }

    @Test func `a mail server that answers and refuses every mail is found with a test mail`() async throws {
        let refusing = try await MailCatcher.start(.refuse("550 5.7.1 <ADDRESS>: Sender not allowed"))
        #expect(try await Self.mailLine(refusing.url).hasPrefix("ok       mail"))
        let printed = try await CommandRun.of(
            "doctor",
            "--mail-to",
            "mina@example.com",
            settings: ["DATABASE_URL": "host=127.0.0.1 port=1", "ACCOUNTS_KEYS": TestSignups.keys]
        )
        #expect(printed.output.contains("mail is printed, not sent; no test mail was sent"))
        let refused = try await Self.mailLine(refusing.url, "--mail-to", "mina@example.com")
        #expect(refused.hasPrefix("wrong    mail        550 5.7.1 <address>: Sender not allowed; check MAIL_FROM"))
        let accepting = try await MailCatcher.start(.accept("250 2.0.0 Ok: queued as 4Zx1"))
        let accepted = try await Self.mailLine(accepting.url, "--mail-to", "mina@example.com")
        #expect(accepted.hasSuffix("it accepted a mail from no-reply@localhost: 250 2.0.0 Ok: queued as 4Zx1"))
        let mail = try await accepting.next()
        #expect(mail.to == ["mina@example.com"] && mail.text.contains("accounts-api doctor"))
        withExtendedLifetime(refusing) {}
    }

    @Test func `the line about the mail server says what is wrong with it, and what to do`() async throws {
        let plain = try await MailCatcher.start()
        let gone = try await Self.mailLine("smtp://127.0.0.1:1")
        #expect(gone.hasPrefix("wrong    mail        cannot connect to smtp://127.0.0.1:1: "))
        #expect(gone.hasSuffix("; check SMTP_URL, the firewall, and that the mail server runs"))
        let withoutTLS = try await Self.mailLine(plain.url + "?tls=required")
        #expect(withoutTLS.contains("\(plain.url) offers no TLS; use a port for submission"))
        let wrongScheme = try await Self.mailLine("smtps://127.0.0.1:\(plain.port)")
        #expect(wrongScheme.contains("fails to begin TLS: ") && wrongScheme.contains("; check the port and the"))
        try await plain.stop()

        let refusing = try await MailCatcher.start(.greet("554 5.7.1 No service for 192.0.2.1"))
        let refused = try await Self.mailLine(refusing.url)
        #expect(refused.contains("refuses this machine: 554 5.7.1 No service for 192.0.2.1; let the mail server"))
        try await refusing.stop()

        let locked = try await MailCatcher.start(.auth(user: "kim", password: "right"))
        let denied = try await Self.mailLine("smtp://kim:wrong@127.0.0.1:\(locked.port)?tls=optional")
        #expect(denied.contains("refuses the login: 535 5.7.8 Authentication credentials invalid; check the user"))
        #expect(!denied.contains("wrong@"))
        let entered = try await Self.mailLine("smtp://kim:right@127.0.0.1:\(locked.port)?tls=optional")
        #expect(entered == "ok       mail        the server answers, over TLS if it offers that, and accepts the login")
        try await locked.stop()

        try await MailCatcher.Certificate.with { pair in
            let stranger = try await MailCatcher.start(.starttls(pair))
            let untrusted = try await Self.mailLine(stranger.url + "?tls=required")
            #expect(untrusted.contains("is from an authority that this machine does not know; install that authority"))
            try await stranger.stop()
        }
    }

    @Test func `each check finds what is wrong, and the others go on`() async throws {
        try await Installation.with { installation in
            let mails = try await MailCatcher.start()
            let right = Self.settings(installation, mails)
            /// Runs the command with one setting changed, or removed if the value is nil.
            func examine(_ name: String, _ value: String?) async throws -> [String: Found] {
                var settings = right
                settings[name] = value
                let (status, found) = try await Self.examine(settings)
                #expect(status == 1, "\(name)")
                return found
            }
            let superuser = try await examine("DATABASE_URL", installation.administrator)
            #expect(superuser["role"] == Found("wrong", "it is a superuser") && superuser["keys"]?.state == "ok")
            let operators = try await Self.examine(
                right.merging(["DATABASE_URL": installation.conninfo(as: "mina")]) { $1 }
            )
            #expect(operators.found["role"] == Found("warning", "it lacks the privileges of a server"))
            #expect(superuser["disk"]?.text.contains(" free of ") == true, "a superuser may know the folder")
            let proxies = try await examine("TRUSTED_PROXIES", nil)
            #expect(proxies["proxies"]?.state == "wrong" && proxies["mail"]?.state == "ok")
            let unbranded = try await Self.examine(right.filter { $0.key != "BRAND_FILE" })
            #expect(unbranded.status == 0 && unbranded.found["contact"]?.state == "warning")
            let mail = try await examine("SMTP_URL", "smtp://127.0.0.1:1")
            #expect(mail["mail"]?.state == "wrong" && mail["images"]?.state == "ok")
            let away = try await examine("DATABASE_URL", "host=127.0.0.1 port=1")
            #expect(away["database"]?.state == "wrong" && away["mail"]?.state == "ok")
            #expect(["clock", "disk", "migrations", "role", "log", "keys"].allSatisfy { away[$0]?.state == "skipped" })
            let mistakes = try await examine("LISTEN", "nowhere")
            #expect(mistakes.keys.sorted() == ["settings"] && mistakes["settings"]?.state == "wrong")

            // The first server of a database decides which keys are right.
            let server = try await ServerProcess.start(
                database: installation.conninfo(as: "accounts_server"),
                settings: ["ACCOUNTS_KEYS": TestSignups.keys]
            )
            #expect(await server.end(by: SIGTERM) == 0)
            let other = "other:" + Data(repeating: 8, count: 32).base64EncodedString()
            #expect(try await examine("ACCOUNTS_KEYS", other)["keys"]?.state == "wrong")
            let file = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID())")
            try Data(other.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            var fromFile = right.filter { $0.key != "ACCOUNTS_KEYS" }
            fromFile["ACCOUNTS_KEYS_FILE"] = file.path
            let lines = try await CommandRun.of("doctor", settings: fromFile).output
            #expect(lines.contains("restore the key in \(file.path); without it"))
            let administrator = try DatabaseSession(to: installation.administrator)
            try administrator.run("ALTER DATABASE accounts SET log_parameter_max_length_on_error = 100")
            #expect(try await examine("PUBLIC_URL", right["PUBLIC_URL"])["log"]?.text.contains("on_error") == true)
            try administrator.run("DELETE FROM migrations WHERE name = (SELECT max(name) FROM migrations)")
            let pending = try await examine("PUBLIC_URL", right["PUBLIC_URL"])
            #expect(pending["migrations"]?.state == "wrong" && pending["keys"]?.state == "skipped")
            withExtendedLifetime(mails) {}
        }
    }
}
