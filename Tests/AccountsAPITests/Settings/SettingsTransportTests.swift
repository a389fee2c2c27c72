import Accounts
import Foundation
import Logging
import TestSupport
import Testing

@testable import accounts_api

@Suite("Settings that protect data in transit")
struct SettingsTransportTests {
    /// Settings without mistakes and warnings.
    private static let valid = [
        "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys, "SMTP_URL": "smtp://mail.example",
    ]

    private static func settings(_ changes: [String: String]) throws(SettingMistakes) -> Settings {
        try Settings(SettingSource(environment: valid.merging(changes) { $1 }))
    }

    private static func mistakes(_ changes: [String: String]) -> [String] {
        do throws(SettingMistakes) {
            _ = try settings(changes)
            return []
        } catch {
            return error.all
        }
    }

    private static func warnings(_ changes: [String: String]) throws -> [String] {
        try settings(changes).warnings.map { "\($0.message)" }
    }

    @Test func `a first key without a pepper is a warning`() throws {
        let old = "old:" + Data(repeating: 8, count: 32).base64EncodedString()
        let warning = "passwords are hashed without a pepper, which needs a v2 key (id:v2:…); put one first"
        #expect(try Self.warnings(["ACCOUNTS_KEYS": "\(old),\(TestSignups.keys)"]) == [warning])
        #expect(try Self.warnings(["ACCOUNTS_KEYS": "\(TestSignups.keys),\(old)"]).isEmpty)
    }

    @Test func `https without a mail server is refused`() {
        #expect(
            Self.mistakes(["PUBLIC_URL": "https://a.example", "SMTP_URL": ""]) == [
                """
                SMTP_URL is missing: codes would be printed although PUBLIC_URL is "https://a.example"; set it to a \
                mail server, or to "terminal:" if codes are to be printed
                """
            ]
        )
    }

    @Test func `serve reports the missing mail server together with other mistakes`() async throws {
        let run = try await CommandRun.of(
            "serve",
            settings: [
                "DATABASE_URL": "host=db.example", "ACCOUNTS_KEYS": TestSignups.keys, "LOG_LEVEL": "loud",
                "PUBLIC_URL": "https://a.example", "LOG_FORMAT": "text",
            ]
        )
        #expect(run.status == 2)
        for name in ["DATABASE_URL: ", "LOG_LEVEL: ", "SMTP_URL is missing: "] {
            #expect(run.errorOutput.split(separator: "\n").count { $0.hasPrefix(name) } == 1, "\(name)")
        }
    }

    @Test(arguments: [
        ["SMTP_URL": ""], ["SMTP_URL": "terminal:"], ["SMTP_URL": "terminal:", "PUBLIC_URL": "https://a.example"],
    ])
    func `printed mail causes a warning`(changes: [String: String]) throws {
        let settings = try Self.settings(changes)
        #expect(settings.smtpURL.server == nil)
        #expect(settings.warnings.map(\.message) == ["mail is printed with its codes; set a mail server"])
    }

    @Test func `safe settings cause no warning`() throws {
        #expect(try Self.warnings([:]) == [])
        #expect(try Self.warnings(["PUBLIC_URL": "https://a.example", "SMTP_URL": "smtps://u:p@mail.example"]) == [])
        #expect(try Self.warnings(["SMTP_URL": "smtp://localhost:1025"]) == [])
        #expect(try Self.warnings(["DATABASE_URL": "host=db.example password=x sslmode=verify-full"]) == [])
    }

    @Test func `mail that may be sent without TLS causes a warning`() throws {
        let warnings = try Self.warnings(["SMTP_URL": "smtp://mail.example?tls=optional"])
        #expect(warnings == ["mail may be sent unencrypted; remove tls=optional"])
        let withPassword = try Self.warnings(["SMTP_URL": "smtp://u:p@mail.example?tls=optional"])
        #expect(
            withPassword == ["mail and the password of the mail server may be sent unencrypted; remove tls=optional"]
        )
    }

    @Test(arguments: [
        "http://a.example", "http://192.0.2.1:8080", "http://127.a.example", "http://localhost.a.example",
        "http://[2001:db8::1]:8080", "http://0.0.0.0",
    ])
    func `http on a host that is not loopback is refused unless INSECURE_HTTP allows it`(url: String) throws {
        #expect(
            Self.mistakes(["PUBLIC_URL": url]) == [
                """
                PUBLIC_URL: with "\(url)", clients send passwords unencrypted; use https://, or set \
                INSECURE_HTTP=allowed if all clients are in a trusted network
                """
            ]
        )
        let warnings = try Self.warnings(["PUBLIC_URL": url, "INSECURE_HTTP": "allowed"])
        #expect(warnings == ["clients send passwords unencrypted; use https"])
    }

    @Test(arguments: [
        "http://localhost:8080", "http://LOCALHOST", "http://127.0.0.1:8080", "http://127.9.9.9", "http://[::1]:8080",
        "https://a.example",
    ])
    func `https, or http on a loopback host, is accepted`(url: String) throws {
        #expect(try Self.warnings(["PUBLIC_URL": url]) == [])
    }

    @Test func `an origin with http is refused beside https`() {
        let origins = [
            "ALLOWED_ORIGINS": "http://c.example, https://d.example, http://b.example, http://localhost:3000"
        ]
        #expect(
            Self.mistakes(origins.merging(["PUBLIC_URL": "https://a.example"]) { $1 })
                == ["http://b.example", "http://c.example"].map { origin in
                    """
                    ALLOWED_ORIGINS: "\(origin)" is not encrypted, but PUBLIC_URL "https://a.example" is; use https:// \
                    or remove the origin
                    """
                }
        )
        #expect(Self.mistakes(origins) == [])
    }

    @Test(arguments: [
        ("host=db.example password=hunter2", "\"db.example\""),
        ("postgresql://kim:hunter2@db.example,192.0.2.1/accounts", "\"db.example,192.0.2.1\""),
        // libpq reads the text after the first @ as the host.
        ("postgresql://kim:a@hunter2@db.example/accounts", "another machine"),
    ])
    func `a remote database without sslmode is refused`(url: String, host: String) {
        #expect(
            Self.mistakes(["DATABASE_URL": url]) == [
                """
                DATABASE_URL: the connection to \(host) with sslmode=prefer does not fully verify the server; add \
                sslmode=verify-full, and sslrootcert if needed, or accept the risk by adding another sslmode
                """
            ]
        )
    }

    @Test func `a remote database with a weaker sslmode causes a warning`() throws {
        let warnings = try Self.settings(["DATABASE_URL": "host=db.example sslmode=require"]).warnings
        #expect(warnings.map(\.message) == ["the PostgreSQL server is not fully verified; use sslmode=verify-full"])
        #expect(warnings.map(\.metadata) == [["setting": "DATABASE_URL", "sslmode": "require"]])
    }

    @Test func `a connection string that libpq cannot parse is refused without being quoted`() {
        let mistakes = Self.mistakes(["DATABASE_URL": "host=localhost password=my hunter2"])
        #expect(mistakes.count == 1 && mistakes.allSatisfy { $0.hasPrefix("DATABASE_URL: libpq cannot parse it") })
        #expect(!mistakes.joined().contains("hunter2"))
    }

    /// The address 0.0.0.0 counts as remote, and no server of this machine listens on port 1.
    @Test(
        arguments: [
            (["DATABASE_URL": "host=0.0.0.0 port=1", "PGSSLMODE": "verify-full"], 69),
            (["DATABASE_URL": "host=0.0.0.0 port=1", "PGSSLMODE": "require"], 2),
            (["DATABASE_URL": "dbname=accounts", "PGHOST": "0.0.0.0", "PGPORT": "1"], 2),
            (["DATABASE_URL": "service=verified"], 69), (["DATABASE_URL": "service=unverified"], 2),
            (["DATABASE_URL": "service=unverified sslmode=prefer"], 69),
        ] as [([String: String], Int32)]
    )
    func `the environment variables and the service file of libpq apply`(environment: [String: String], status: Int32)
        async throws
    {
        let services = """
            [verified]
            host=0.0.0.0
            port=1
            sslmode=verify-full

            [unverified]
            host=0.0.0.0
            port=1
            sslmode=require

            """
        try await withFile(services, named: "services.conf") { file in
            let run = try await CommandRun.of(
                ["migrate"],
                settings: environment.merging(["PGSERVICEFILE": file]) { $1 }
            )
            #expect(run.status == status, "\(run.errorOutput)")
            #expect(run.errorOutput.hasPrefix("DATABASE_URL: the connection to \"0.0.0.0\"") == (status == 2))
        }
    }

    @Test func `a password in a flag causes a warning, but not in the environment`() throws {
        let (database, mail) = ("host=/nowhere password=hunter2", "smtps://kim:hunter2@mail.example")
        let environment = ["DATABASE_URL": database, "SMTP_URL": mail, "ACCOUNTS_KEYS": TestSignups.keys]
        #expect(try Settings(SettingSource(environment: environment)).warnings.isEmpty)
        let source = SettingSource([\.databaseURL: database, \.smtpURL: mail], environment: environment)
        let warnings = try Settings(source).warnings
        #expect(
            warnings.map(\.metadata) == [
                ["flag": "--database-url", "variable": "DATABASE_URL", "file": "DATABASE_URL_FILE"],
                ["flag": "--smtp-url", "variable": "SMTP_URL", "file": "SMTP_URL_FILE"],
            ]
        )
        #expect(!"\(warnings)".contains("hunter2"))
        let harmless = SettingSource([\.databaseURL: "host=/nowhere"], environment: Self.valid)
        #expect(try Settings(harmless).warnings.isEmpty)
    }
}
