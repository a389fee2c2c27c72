import Accounts
import Foundation
import TestSupport
import Testing

/// A server whose resolver gives another address for a registered host than at the time when the applications file was
/// checked (DNS rebinding). A library that is loaded into the server replaces the resolver.
@Suite("A name of an application that changes", .freshDatabase, .timeLimit(.minutes(30)))
struct ChangingNameTests {
    @Test(arguments: ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"])
    func `an event is not sent if the name has got an address that is not public`(address: String) async throws {
        try await withFile("", named: "apps.yaml") { file in
            let folder = URL(filePath: file).deletingLastPathComponent()
            func write(_ text: String, to name: String) throws -> String {
                let file = folder.appending(path: name)
                try Data(text.utf8).write(to: file)
                return file.path
            }
            let applications = """
                applications:
                  - id: shop
                    name: {en: Shop, ko: 상점}
                    redirect_uris: ['https://shop.example/callback']
                    webhook: {url: 'https://hooks.example/', events: [account.created], secret_file: hooks}
                """
            _ = try write(applications, to: "apps.yaml")
            _ = try write("whsec_" + Data(repeating: 1, count: 32).base64EncodedString(), to: "hooks")
            let answer = try write("1.1.1.1", to: "address")
            let server = try await ServerProcess.start(
                database: FreshDatabase.current.conninfo,
                settings: [
                    "APPLICATIONS_FILE": file, "CHANGING_ADDRESS": answer,
                    "LD_PRELOAD": try await Self.library(in: folder),
                    // Over http, loopback addresses would be allowed.
                    "PUBLIC_URL": "https://accounts.example", "SMTP_URL": "smtps://u:p@mail.example",
                ]
            )
            _ = try write(address, to: "address")
            let session = try DatabaseSession()
            try await session.wait(for: "SELECT FROM applications")
            try session.run(
                "INSERT INTO accounts (id, profile, locale, flow) VALUES ('\(ID<Account>())', '{}', 'en', 'x')"
            )
            // The event waits for the open transactions of other tests.
            let failure = try await session.wait(
                for: "SELECT last_error FROM deliveries WHERE last_error IS NOT NULL",
                atMost: .seconds(300)
            )
            #expect(try failure.decode(String.self) == "the address is not allowed")
            #expect(await server.end(by: SIGTERM) == 0)
        }
    }

    /// Compiles the library. Swift needs clang, too.
    private static func library(in folder: URL) async throws -> String {
        let library = folder.appending(path: "changing-name.so").path
        let source = Repository.root.appending(path: "Tests/AccountsAPITests/Events/changing-name.c").path
        return try await onThread {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["clang", "-shared", "-fPIC", "-o", library, source]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
            return library
        }
    }
}
