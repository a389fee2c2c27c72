import Foundation
import TestSupport
import Testing

@Suite("The applications of a running server", .freshDatabase, .timeLimit(.minutes(30)))
struct ApplicationsReloadTests {
    private static let valid = """
        applications:
          - id: shop
            name: {en: Shop, ko: 상점}
            redirect_uris: ['https://shop.example/callback']

        """

    private static func start(_ file: String) async throws -> ServerProcess {
        try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["APPLICATIONS_FILE": file]
        )
    }

    private static let reloaded = #""message":"applications reloaded""#

    /// Replaces the applications file and sends SIGHUP. Waits until the server logs a line that contains `line`, and
    /// returns everything that it has logged since the change.
    private static func reload(
        _ server: ServerProcess,
        _ file: String,
        with text: String,
        until line: String = reloaded
    )
        async throws -> String
    {
        let count = server.log.utf8.count
        try Data(text.utf8).write(to: URL(filePath: file))
        kill(server.pid, SIGHUP)
        while true {
            let log = String(decoding: server.log.utf8.dropFirst(count), as: UTF8.self)
            if log.contains(line), log.hasSuffix("\n") { return log }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func `SIGHUP reads the file again, and mistakes change nothing`() async throws {
        try await withFile(Self.valid, named: "apps.yaml") { file in
            let server = try await Self.start(file)
            let second = Self.valid.replacing("applications:\n", with: "").replacing("id: shop", with: "id: wiki")
            let log = try await Self.reload(server, file, with: Self.valid + second)
            #expect(log.contains("\"applications\":2"))

            let mistaken = Self.valid.replacing("https:", with: "http:") + "    color: red\n"
            let refused = try await Self.reload(server, file, with: mistaken, until: "unknown key")
            #expect(refused.contains("\(file):4: ") && refused.contains("\(file):5: "))
            #expect(refused.contains("applications not reloaded") && !refused.contains(Self.reloaded))

            let repaired = try await Self.reload(server, file, with: Self.valid)
            #expect(repaired.contains("\"applications\":1"))
            #expect(await server.end(by: SIGTERM) == 0)
        }
    }

    @Test func `a reload drops no request`() async throws {
        try await withFile(Self.valid, named: "apps.yaml") { file in
            let server = try await Self.start(file)
            let live = try RawClient(port: server.port)
            let response = try await untilServed({ (response: String) in RawClient.isRefusedForNow(response) }) {
                let client = try RawClient(port: server.port)
                try client.send(
                    "POST /signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{"
                )
                // The server has received the unfinished request when it responds to a later one.
                try live.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(live.readResponse().hasPrefix("HTTP/1.1 200"))
                _ = try await Self.reload(server, file, with: Self.valid)
                try client.send("}")
                return client.readResponse()
            }
            #expect(response.hasPrefix("HTTP/1.1 201"))
            try live.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(live.readResponse().hasPrefix("HTTP/1.1 200"))
            #expect(await server.end(by: SIGTERM) == 0)
        }
    }

    @Test func `a server does not start with mistakes in the file, and names all of them`() async throws {
        try await withFile("applications:\n  - id: Shop\n    color: red\n", named: "apps.yaml") { file in
            let settings = [
                "APPLICATIONS_FILE": file, "DATABASE_URL": "host=/nowhere", "ACCOUNTS_KEYS": TestSignups.keys,
                "LOG_FORMAT": "text",
            ]
            let run = try await CommandRun.of("serve", settings: settings)
            #expect(run.status == 2)
            let lines = run.errorOutput.split(separator: "\n")
            #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix("APPLICATIONS_FILE: \(file):") })
        }
    }

    @Test func `a secret file that every user can read is a warning of the server`() async throws {
        try await withFile("a-secret-of-the-shop-with-32-characters\n", named: "secret") { secret in
            chmod(secret, 0o644)
            try await withFile(Self.valid + "    secret_file: \(secret)\n", named: "apps.yaml") { file in
                let server = try await Self.start(file)
                #expect(server.log.contains(#""message":"the applications file takes a risk""#))
                #expect(!server.log.contains("a-secret-of-the-shop"))
                #expect(await server.end(by: SIGTERM) == 0)
            }
        }
    }

    @Test func `a server without an applications file ends at SIGHUP, as other programs do`() async throws {
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            // The server would inherit the setting if the tests run in a session that ignores the signal.
            by: ["/usr/bin/env", "--default-signal=HUP"]
        )
        #expect(await server.end(by: SIGHUP) == -SIGHUP)
    }
}
