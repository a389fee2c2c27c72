import Accounts
import Foundation
import Logging
import TestSupport
import Testing

@testable import accounts_api

@Suite("The reference of the configuration")
struct SettingsReferenceTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

    @Test func `docs/configuration.md is what the command prints`() async throws {
        let document = try String(contentsOf: Self.root.appending(path: "docs/configuration.md"), encoding: .utf8)
        let run = try await CommandRun.of("settings", "--markdown")
        #expect(run.status == 0)
        #expect(run.output == document, "write it anew: accounts-api settings --markdown >docs/configuration.md")
    }

    @Test func `every setting but the keys is a flag of the server`() async throws {
        let help = try await CommandRun.of("serve", "--help").output
        for setting in Setting.allCases {
            if let flag = setting.flag { #expect(help.contains(flag + " "), "\(flag)") }
        }
        #expect(!help.contains("--accounts-keys"))
    }

    @Test func `what holds without a setting is what the reference says`() throws {
        let settings = try Settings(
            SettingSource(environment: ["DATABASE_URL": "host=x", "ACCOUNTS_KEYS": Stage.keys])
        )
        #expect("\(settings.listen.host):\(settings.listen.port)" == Setting.listen.standard)
        let metrics = try #require(settings.metricsListen)
        #expect("\(metrics.host):\(metrics.port)" == Setting.metricsListen.standard)
        #expect(settings.publicURL == Setting.publicURL.standard && settings.mailFrom == Setting.mailFrom.standard)
        #expect("\(settings.argon2.memoryKiB)" == Setting.argon2Memory.standard)
        #expect("\(settings.argon2.iterations)" == Setting.argon2Iterations.standard)
        #expect(settings.argon2 == Argon2Parameters())
        #expect("\(settings.argon2Queue)" == Setting.argon2Queue.standard)
        #expect("\(settings.databaseConnections)" == Setting.databaseConnections.standard)
        #expect("\(settings.shutdownDelay.seconds)" == Setting.shutdownDelay.standard)
        #expect("\(settings.shutdownTimeout.seconds)" == Setting.shutdownTimeout.standard)
        #expect(settings.logging.level.rawValue == Setting.logLevel.standard)
    }

    /// Whatever else the environment has is not read, so nothing is missing from the reference.
    @Test func `the sources read no variable beside the settings`() throws {
        let known = Set(Setting.allCases.map(\.rawValue))
        let others: Set = ["LC_ALL", "LC_TIME", "LANG", "NO_COLOR", "TERM", "SUDO_USER", "USER", "LOGNAME"]
        let sources = Self.root.appending(path: "Sources")
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

    @Test func `settings that could not work are mistakes, told together with all others`() {
        let environment = [
            "DATABASE_URL": "host=x", "ACCOUNTS_KEYS": Stage.keys, "SMTP_URL": "foo://bar",
            "METRICS_LISTEN": "nonsense",
            "MAIL_FROM": "two\nlines", "ALLOWED_ORIGINS": "nonsense, https://a.example/", "ARGON2_PRIORITY": "high",
        ]
        let mistakes = #expect(throws: SettingMistakes.self) { try Settings(SettingSource(environment: environment)) }
        for name in ["SMTP_URL", "METRICS_LISTEN", "MAIL_FROM", "ALLOWED_ORIGINS", "ARGON2_PRIORITY"] {
            #expect(mistakes?.all.count { $0.hasPrefix(name) } == 1, "\(name)")
        }
        #expect(mistakes?.all.count == 5)
    }

    @Test func `what is empty does not hide what comes after it, and a file is missed once`() {
        let environment = [
            "DATABASE_URL": "", "DATABASE_URL_FILE": "/nowhere", "ACCOUNTS_KEYS_FILE": "/nowhere",
            "LISTEN_FILE": "/nowhere",
        ]
        let mistakes = #expect(throws: SettingMistakes.self) {
            try Settings(SettingSource([.databaseURL: ""], environment: environment))
        }
        #expect(
            mistakes?.all == [
                "DATABASE_URL_FILE cannot be read", "LISTEN_FILE cannot be read", "ACCOUNTS_KEYS_FILE cannot be read",
            ]
        )
    }

    @Test(arguments: [["migrate"], ["healthcheck"], ["flow", "show"]])
    func `a command that needs little tells its mistakes as the server does`(command: [String]) async throws {
        let run = try await CommandRun.of(
            command,
            settings: ["DATABASE_URL_FILE": "/nowhere", "LISTEN_FILE": "/nowhere", "FLOW_FILE_FILE": "/nowhere"]
        )
        #expect(run.status == 2 && run.complaints.hasSuffix("_FILE cannot be read\n"))
    }

    @Test func `a secret comes whole from a pipe that gives it in pieces`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID())").path
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let writer = DedicatedThread(named: "pieces") {
            let pipe = open(path, O_WRONLY)
            for piece in [String(Stage.keys.prefix(20)), Stage.keys.dropFirst(20) + "\n"] {
                write(pipe, piece, piece.utf8.count)
                // Until it is read, so that the next piece is another reading.
                var left: Int32 = 1
                while left > 0 { _ = ioctl(pipe, UInt(FIONREAD), &left) }
            }
            close(pipe)
        }
        let settings = try await onThread {
            try OperatorSettings(SettingSource(environment: ["ACCOUNTS_KEYS_FILE": path, "DATABASE_URL": "host=x"]))
        }
        writer.join()
        #expect(settings.databaseURL == "host=x")
    }
}
