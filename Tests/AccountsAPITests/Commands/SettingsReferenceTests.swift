import Accounts
import Foundation
import Logging
import TestSupport
import Testing

@testable import accounts_api

@Suite("The configuration reference")
struct SettingsReferenceTests {
    @Test func `docs/configuration.md is the output of settings --markdown`() async throws {
        let document = try String(contentsOf: Repository.root.appending(path: "docs/configuration.md"), encoding: .utf8)
        let run = try await CommandRun.of("settings", "--markdown")
        #expect(run.status == 0)
        #expect(run.output == document, "generate it again: accounts-api settings --markdown >docs/configuration.md")
    }

    @Test func `every setting except the keys is a flag of serve`() async throws {
        let help = try await CommandRun.of("serve", "--help").output
        for setting in SettingTable.entries {
            if let flag = setting.flag { #expect(help.contains(flag + " "), "\(flag)") }
        }
        #expect(!help.contains("--accounts-keys"))
    }

    @Test func `settings --effective prints each value and where it comes from, without secrets`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "smtp-url")
        try Data("smtp://kim:S3cret@mail.example:587\n".utf8).write(to: file)
        let settings = [
            "DATABASE_URL": "postgresql://kim:S3cret@db.example/accounts?sslmode=require",
            "ACCOUNTS_KEYS": "k1:v2:S3cret", "SMTP_URL_FILE": file.path, "LISTEN": "[::]:80",
            "FLOW_FILE_FILE": "/nowhere", "LOG_LEVEL": "",
        ]
        let run = try await CommandRun.of("settings", "--effective", settings: settings)
        #expect(run.status == 0 && !run.output.contains("S3cret"))
        let json = try await CommandRun.of("settings", "--effective", "--json", settings: settings).output
        #expect(!json.contains("S3cret"))
        guard case .array(let values) = try JSON.read(Array(json.utf8)) else {
            Issue.record("not a list")
            return
        }
        #expect(values.count == SettingTable.entries.count)
        for (name, origin, value) in [
            ("DATABASE_URL", "environment", "••• db.example/accounts"), ("ACCOUNTS_KEYS", "environment", "•••"),
            ("SMTP_URL", file.path, "smtp://•••@mail.example:587"), ("LISTEN", "environment", "[::]:80"),
            ("FLOW_FILE", "FLOW_FILE_FILE: cannot read /nowhere: No such file or directory", nil),
            ("LOG_LEVEL", "default", "info"), ("BRAND_FILE", "default", nil),
        ] as [(String, String, String?)] {
            let setting = values.first { $0["name"] == .string(name) }
            #expect(setting?["from"] == .string(origin) && setting?["value"]?.string == value, "\(name)")
        }
        #expect(try await CommandRun.of("settings", "--effective").output.contains("missing"))
        for flag in ["--effective", "--json"] {
            #expect(try await CommandRun.of("settings", flag, "--markdown").status == 2, "\(flag)")
        }
        #expect(try await CommandRun.of("settings").output.contains("--database-url"), "the flags are in the reference")
    }

    @Test(arguments: [
        "postgresql://kim:Pa@S3cret.invalid@db.example/accounts", "host=db.example sslpassword=S3cret", "S3cret=",
        "host=db.example password='S3 S3cret'", "postgres://kim:ab/S3cret@db/accounts",
    ])
    func `a connection string with a secret is never shown`(text: String) {
        let setting = SettingTable.shared.databaseURL
        #expect(!setting.shown(text).contains("S3") && !setting.ifSet.shown(text).contains("S3"))
    }

    @Test func `settings that are not given have the defaults of the reference`() throws {
        let settings = try Settings(
            SettingSource(environment: ["DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys])
        )
        let table = SettingTable.shared
        #expect("\(settings.listen.host):\(settings.listen.port)" == table.listen.defaultText)
        let metrics = try #require(settings.metricsListen)
        #expect("\(metrics.host):\(metrics.port)" == table.metricsListen.defaultText)
        #expect(settings.publicURL == table.publicURL.defaultText && settings.mailFrom == table.mailFrom.defaultText)
        #expect("\(settings.argon2.memoryKiB)" == table.argon2Memory.defaultText)
        #expect("\(settings.argon2.iterations)" == table.argon2Iterations.defaultText)
        #expect(settings.argon2 == Argon2Parameters())
        #expect(settings.smtpURL == .unset && settings.allowedOrigins.isEmpty && settings.trustedProxies.isEmpty)
        #expect(settings.serviceName == "Accounts")
        #expect("\(settings.argon2Queue)" == table.argon2Queue.defaultText)
        #expect("\(settings.databaseConnections)" == table.databaseConnections.defaultText)
        #expect("\(settings.shutdownDelay.seconds)" == table.shutdownDelay.defaultText)
        #expect("\(settings.shutdownTimeout.seconds)" == table.shutdownTimeout.defaultText)
        #expect(settings.logLevel.rawValue == table.logLevel.defaultText)
    }

    @Test func `every setting of the table is read and documented`() {
        let settings = SettingTable.entries
        #expect(settings.map(\.name).prefix(3) == ["DATABASE_URL", "ACCOUNTS_KEYS", "LISTEN"])
        #expect(Set(settings.map(\.name)).count == settings.count)
        let environment = settings.map { ("\($0.name)_FILE", "/nowhere") }
        let mistakes = #expect(throws: SettingMistakes.self) {
            try Settings(SettingSource(environment: Dictionary(uniqueKeysWithValues: environment)))
        }
        let unreadable = settings.map { "\($0.name)_FILE: cannot read /nowhere: No such file or directory" }
        #expect(mistakes?.all == unreadable && mistakes?.areTemporary == true)
        let rows = SettingsReference.page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == settings.count)
        for (setting, row) in zip(settings, rows) {
            #expect(row.hasPrefix("| `\(setting.name)` |") && row.hasSuffix("| \(setting.meaning) |"))
        }
    }

    @Test func `each flag sets its setting`() async throws {
        // Every setting but the connection string rejects a tab, which may be part of the name of a database.
        let flags = SettingTable.entries.compactMap { setting in setting.flag.map { "\($0)=non\tsense" } }
        let run = try await CommandRun.of(["serve"] + flags, settings: ["ACCOUNTS_KEYS": "non\tsense"])
        #expect(run.status == 2)
        let rejected = run.errorOutput.split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(rejected.map(String.init) == SettingTable.entries.map(\.name).filter { $0 != "DATABASE_URL" })
    }

    @Test func `a flag has priority over the environment`() throws {
        let source = SettingSource([\.listen: "localhost:1"], environment: ["LISTEN": "localhost:2"])
        #expect(try source.read(\.listen).port == 1)
    }

    @Test(arguments: [
        (
            ["ARGON2_MEMORY_KIB": "300000"],
            "ARGON2_MEMORY_KIB: \"300000\" is invalid; use a whole number from 8 to 262144"
        ),
        (["LISTEN": "nonsense"], "LISTEN: \"nonsense\" is invalid; use host:port with a port from 0 to 65535"),
        (["ARGON2_WAIT": "61"], "ARGON2_WAIT: \"61\" is invalid; use a whole number from 1 to 60"),
        (["ARGON2_PRIORITY": "high"], "ARGON2_PRIORITY: \"high\" is invalid; use normal or idle"),
        (
            ["TRUSTED_PROXIES": "10.0.0.0/8, 10.0.0.0/99"],
            "TRUSTED_PROXIES: \"10.0.0.0/99\" is invalid; use an address or a block such as 10.0.0.0/8"
        ),
        (
            ["EVENT_NETWORKS": "10.20.0.0/16, 169.254.0.0/16"],
            """
            EVENT_NETWORKS: "169.254.0.0/16" is invalid; use an address or a block within 10.0.0.0/8, 172.16.0.0/12, \
            192.168.0.0/16, 100.64.0.0/10 or fc00::/7
            """
        ),
        (
            ["PUBLIC_URL": "https://a.example/x"],
            """
            PUBLIC_URL: "https://a.example/x" is invalid; use http:// or https:// with only a host and an optional port
            """
        ),
        (
            ["SERVICE_NAME": "two\nlines"],
            "SERVICE_NAME: \"two\u{FFFD}lines\" is invalid; use one line without control characters"
        ),
    ])
    func `a mistake quotes the invalid value and says what is valid`(settings: [String: String], mistake: String) {
        let environment = settings.merging(["DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys]) { $1 }
        let mistakes = #expect(throws: SettingMistakes.self) { try Settings(SettingSource(environment: environment)) }
        #expect(mistakes?.all == [mistake])
    }

    @Test func `a mistake does not quote a secret`() {
        let environment = ["ACCOUNTS_KEYS": "1:hunter2", "SMTP_URL": "foo://hunter2"]
        let mistakes = #expect(throws: SettingMistakes.self) { try Settings(SettingSource(environment: environment)) }
        #expect(mistakes?.all.count == 3 && mistakes?.description.contains("hunter2") == false)
    }

    @Test func `a mistake does not quote the content of a file or the password of a URL`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try Data("hunter2".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let environment = [
            "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "LISTEN_FILE": path,
            "PUBLIC_URL": "https://kim:hunter2@a.example",
        ]
        let mistakes = #expect(throws: SettingMistakes.self) { try Settings(SettingSource(environment: environment)) }
        #expect(mistakes?.description.contains("LISTEN: invalid; use host:port") == true)
        #expect(mistakes?.description.contains("hunter2") == false)
    }

    @Test func `the settings have the values that the environment gives`() throws {
        let settings = try Settings(
            SettingSource(environment: [
                "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "METRICS_LISTEN": "off",
                "SERVICE_NAME": "Tea",
                "PUBLIC_URL": "https://a.example/", "ALLOWED_ORIGINS": "https://B.Example:443, https://c.example:8443",
                "TRUSTED_PROXIES": "10.0.0.0/8, ::1", "SMTP_URL": "smtp://localhost:25", "ARGON2_WAIT": "7",
                "LOG_FORMAT": "text", "EVENT_NETWORKS": "10.20.0.0/16,fd00::/8",
            ])
        )
        #expect(settings.databaseURL == "host=/nowhere" && settings.metricsListen == nil)
        #expect(settings.serviceName == "Tea")
        #expect(settings.publicURL == "https://a.example")
        #expect(settings.allowedOrigins == ["https://b.example", "https://c.example:8443"])
        #expect(settings.trustedProxies == [IPBlock("10.0.0.0/8"), IPBlock("::1")])
        #expect(settings.eventNetworks == [IPBlock("10.20.0.0/16"), IPBlock("fd00::/8")])
        #expect(settings.smtpURL.server?.requiresTLS == false && settings.argon2Wait == .seconds(7))
        #expect(settings.logFormat == .text)
    }

    /// The sources read no other variables, so the reference is complete.
    @Test func `the sources read only settings and standard variables from the environment`() throws {
        let known = Set(SettingTable.entries.map(\.name))
        let others: Set = ["NO_COLOR", "TERM", "SUDO_USER", "USER", "LOGNAME"]
        let sources = Repository.root.appending(path: "Sources")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        var seen = 0
        for case let file as URL in files! where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains("processInfo.environment") || text.contains("environment[") else { continue }
            seen += 1
            for match in text.matches(of: /"([A-Z][A-Z0-9_]{3,})"/) {
                #expect(known.union(others).contains(String(match.1)), "\(file.lastPathComponent): \(match.1)")
            }
        }
        #expect(seen >= 3)
    }

    @Test func `all invalid settings are reported together`() {
        let environment = [
            "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "SMTP_URL": "foo://bar",
            "METRICS_LISTEN": "nonsense",
            "MAIL_FROM": "two\nlines", "ALLOWED_ORIGINS": "nonsense, https://a.example/", "ARGON2_PRIORITY": "high",
        ]
        let mistakes = #expect(throws: SettingMistakes.self) { try Settings(SettingSource(environment: environment)) }
        for name in ["SMTP_URL", "METRICS_LISTEN", "MAIL_FROM", "ALLOWED_ORIGINS", "ARGON2_PRIORITY"] {
            #expect(mistakes?.all.count { $0.hasPrefix(name) } == 1, "\(name)")
        }
        #expect(mistakes?.all.count == 5)
    }

    @Test func `an empty value is ignored, and each unreadable file is reported once`() {
        let environment = [
            "DATABASE_URL": "", "DATABASE_URL_FILE": "/nowhere", "ACCOUNTS_KEYS_FILE": "/nowhere",
            "LISTEN_FILE": "/nowhere",
        ]
        let mistakes = #expect(throws: SettingMistakes.self) {
            try Settings(SettingSource([\.databaseURL: ""], environment: environment))
        }
        #expect(
            mistakes?.all
                == ["DATABASE_URL", "ACCOUNTS_KEYS", "LISTEN"].map {
                    "\($0)_FILE: cannot read /nowhere: No such file or directory"
                }
        )
        let mixed = #expect(throws: SettingMistakes.self) {
            try Settings(SettingSource(environment: environment.merging(["LOG_LEVEL": "loud"]) { $1 }))
        }
        #expect(mixed?.areTemporary == false, "another attempt does not mend LOG_LEVEL")
    }

    @Test(arguments: [["migrate"], ["healthcheck"], ["flow", "show"]])
    func `a command that reads few settings reports mistakes in the same way as serve`(command: [String]) async throws {
        let run = try await CommandRun.of(
            command,
            settings: ["DATABASE_URL_FILE": "/nowhere", "LISTEN_FILE": "/nowhere", "FLOW_FILE_FILE": "/nowhere"]
        )
        #expect(
            run.status == 75 && run.errorOutput.hasSuffix("_FILE: cannot read /nowhere: No such file or directory\n")
        )
    }

    @Test func `a secret is read completely from a pipe that delivers it in parts`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID())").path
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let writer = DedicatedThread(named: "parts") {
            let pipe = open(path, O_WRONLY)
            for part in [String(TestSignups.keys.prefix(20)), TestSignups.keys.dropFirst(20) + "\n"] {
                write(pipe, part, part.utf8.count)
                // Waits until this part is read, so that the next part needs another read.
                var left: Int32 = 1
                while left > 0 { _ = ioctl(pipe, UInt(FIONREAD), &left) }
            }
            close(pipe)
        }
        let (databaseURL, _) = try await onThread {
            try SettingSource(environment: ["ACCOUNTS_KEYS_FILE": path, "DATABASE_URL": "host=/nowhere"])
                .read(\.databaseURL, \.keys)
        }
        writer.join()
        #expect(databaseURL == "host=/nowhere")
    }

    @Test(arguments: ["TEXTS_FILE_FILE", "TEXTS_FILE"])
    func `a setting on which another one depends is read once, because it may come from a pipe`(name: String) throws {
        let texts = Repository.root.appending(path: "examples/texts/ja.yaml")
        let content = name == "TEXTS_FILE" ? try Data(contentsOf: texts) : Data(texts.path.utf8)
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: content)
        try pipe.fileHandleForWriting.close()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        let (flow, languages) = try SettingSource(environment: [name: path]).read(\.flow, \.texts)
        #expect(languages.map(\.tag) == ["en", "ko", "ja"] && !flow.steps.isEmpty)
    }
}
