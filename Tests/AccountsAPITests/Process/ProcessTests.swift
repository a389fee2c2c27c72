import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The server as a process", .freshDatabase, .timeLimit(.minutes(5)))
struct ProcessTests {
    @Test func `SIGTERM ends the server with status 0, and the next server has the saved values`() async throws {
        let mails = Mails()
        let first = try await ServerProcess.start(database: FreshDatabase.current.conninfo, mails: mails)
        let kim = SignupClient("kim@example.com", mails: mails)
        try await kim.begin(at: first.port)
        try await kim.step("email", at: first.port)
        #expect(await first.end(by: SIGTERM) == 0)
        let second = try await ServerProcess.start(database: FreshDatabase.current.conninfo, mails: mails)
        #expect(try await kim.draft(at: second.port)["values"]?["email"] == "kim@example.com")
        #expect(await second.end(by: SIGINT) == 0)
    }

    @Test func `a server with the wrong keys says why it is not ready, and is ready again with the right ones`()
        async throws
    {
        func start(_ settings: [String: String] = [:]) async throws -> ServerProcess {
            try await ServerProcess.start(database: FreshDatabase.current.conninfo, settings: settings)
        }
        func ready(_ server: ServerProcess) throws -> String {
            try RawClient(port: server.port).exchange(
                "GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            )
        }
        let first = try await start()
        #expect(try ready(first).hasPrefix("HTTP/1.1 200"))
        #expect(await first.end(by: SIGTERM) == 0)

        let wrong = try await start(["ACCOUNTS_KEYS": "other:" + Data(repeating: 8, count: 32).base64EncodedString()])
        let reason = #"ACCOUNTS_KEYS lacks the key \"test\" of this database"#
        let response = try ready(wrong)
        #expect(response.hasPrefix("HTTP/1.1 503") && response.contains(reason))
        #expect(wrong.log.contains(#""message":"the keys do not fit the database""#) && wrong.log.contains(reason))
        #expect(await wrong.end(by: SIGTERM) == 0)

        let right = try await start()
        #expect(try ready(right).hasPrefix("HTTP/1.1 200"))
        #expect(await right.end(by: SIGTERM) == 0)
    }

    @Test func `no level of the log shows the keys`() async throws {
        let keys = "k1:v2:" + Data((0..<32).map { $0 * 7 }).base64EncodedString()
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["ACCOUNTS_KEYS": keys, "LOG_LEVEL": "trace"]
        )
        let kim = SignupClient("kim@example.com", mails: Mails())
        try await kim.begin(at: server.port)
        #expect(await server.end(by: SIGTERM) == 0)
        let pepper = try #require(KeyRing(keys).peppers.first)
        for bytes in [pepper.key, pepper.id] {
            #expect(!server.log.contains("\(bytes)") && !server.log.contains(Data(bytes).base64EncodedString()))
        }
        for word in ["SymmetricKey", "Pepper(", "KeyRing(", keys] { #expect(!server.log.contains(word), "\(word)") }
    }

    @Test func `hundreds of clients connect at the same moment, and none has to try again`() async throws {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        // A stopped server accepts no connection, as a busy one for a moment. The system keeps the connections for it.
        kill(server.pid, SIGSTOP)
        let clients = try await onThread { try (1...300).map { _ in try RawClient(port: server.port) } }
        kill(server.pid, SIGCONT)
        try clients[0].send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(clients[0].readResponse().hasPrefix("HTTP/1.1 200"))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `a code that arrives over SMTP completes a sign-up`() async throws {
        let catcher = try await MailCatcher.start()
        let mails = Mails()
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["SMTP_URL": catcher.url, "MAIL_FROM": "no-reply@acme.example", "SERVICE_NAME": "Acme"]
        )
        let kim = SignupClient("kim@example.com", mails: mails)
        try await kim.begin(at: server.port)
        try await kim.step("email", at: server.port)
        let mail = try await catcher.next()
        #expect(mail.to == ["kim@example.com"])
        #expect(mail.from == "no-reply@acme.example")
        let code = try #require(Mailbox.code(in: mail.text))
        #expect(try await kim.put("code", ["code": .string(code)], at: server.port).status == 200)
        for step in ["password", "profile", "contact", "terms"] { try await kim.step(step, at: server.port) }
        #expect(try await kim.commit(at: server.port).status == 201)
        #expect(try await catcher.next().text.contains("kim@example.com"))
        #expect(await server.end(by: SIGTERM) == 0)
        try await catcher.stop()
    }

    @Test func `a server without SMTP_URL logs at its start that it prints codes`() async throws {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        #expect(server.log.contains(#""message":"mail is printed with its codes; set a mail server""#))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `a server that cannot confine image processes says so at its start, and refuses images`() async throws {
        let script = Repository.root.appending(path: "Tests/AccountsTests/Images/without-seccomp.py").path
        let python = ProcessInfo.processInfo.environment["PYTHON"] ?? "python3"
        let mails = Mails()
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            mails: mails,
            by: ["/usr/bin/env", python, script]
        )
        while !server.log.contains("images cannot be processed") {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(server.log.contains("the kernel refuses the seccomp filter of the image process"))
        let kim = SignupClient("kim@example.com", mails: mails)
        try await kim.begin(at: server.port)
        for step in ["email", "code", "password"] { try await kim.step(step, at: server.port) }
        let image = Repository.root.appending(path: "Tests/Fuzzing/corpus/image/plain.png")
        let refused = try await kim.put(Array(Data(contentsOf: image)), in: "/signup/profile/photo", at: server.port)
        #expect(refused.status == 503 && refused.slug == "unavailable")
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `the server writes no core dump`() async throws {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        let limits = try String(contentsOfFile: "/proc/\(server.pid)/limits", encoding: .utf8)
        #expect(limits.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("Max core file size 0 0"))
        #expect(!server.log.contains("cannot forbid core dumps"))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `another process of the same user cannot read the memory and the settings of the server`() async throws {
        let user = try Self.unprivilegedUser()
        func opens(_ file: String, of process: pid_t) async throws -> Bool {
            let command = user + ["/bin/sh", "-c", #": <"$1""#, "sh", "/proc/\(process)/\(file)"]
            return try await CommandRun.status(of: command) == 0
        }
        let other = Process()
        let command = user + ["/bin/cat"]
        other.executableURL = URL(filePath: command[0])
        other.arguments = Array(command.dropFirst())
        other.standardInput = Pipe()
        other.standardOutput = FileHandle.nullDevice
        try other.run()
        defer { other.terminate() }
        // Until the process has become that user.
        while try await !opens("environ", of: other.processIdentifier) { try Task.checkCancellation() }
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo, by: user)
        #expect(try await opens("stat", of: server.pid))
        for file in ["mem", "environ", "maps"] { #expect(try await !opens(file, of: server.pid), "\(file)") }
        #expect(!server.log.contains("cannot forbid core dumps"))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    /// A command that runs the program in its last arguments as a user without privileges, who may connect to the
    /// database: root can read everything. Empty if the tests have no privileges.
    private static func unprivilegedUser() throws -> [String] {
        if geteuid() != 0 { return [] }
        // Only the owner of a private cluster can use its socket.
        let data = try Session().query("SHOW data_directory").only.decode(String.self)
        let owner = (try? FileManager.default.attributesOfItem(atPath: data))?[.ownerAccountID] as? NSNumber
        let id = owner?.intValue ?? 65_534
        return ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(id)", "--clear-groups"]
    }

    @Test func `a stalled client does not block the shutdown`() async throws {
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["SHUTDOWN_TIMEOUT": "1"]
        )
        let stalled = try RawClient(port: server.port)
        try stalled.send(
            "PUT /signup/email HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        // The server has received the stalled request when it responds to a later one.
        #expect(
            try RawClient(port: server.port).exchange(
                "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            )
            .hasPrefix("HTTP/1.1 200")
        )
        let status = await server.end(by: SIGTERM)
        #expect(status == 0)
    }

    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(Int32, Int32)])
    func `a second signal ends the server at once`(signal: Int32, status: Int32) async throws {
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["SHUTDOWN_TIMEOUT": "3600"]
        )
        let stalled = try RawClient(port: server.port)
        try stalled.send(
            "PUT /signup/email HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        // The server has received the stalled request when it responds to a later one.
        let live = try RawClient(port: server.port)
        try live.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(live.readResponse().hasPrefix("HTTP/1.1 200"))
        kill(server.pid, SIGTERM)
        while !server.log.contains(#""message":"stopping""#) { await Task.yield() }
        #expect(await server.end(by: signal) == status)
    }

    @Test func `serve --migrate creates the schema, and serve without it refuses to start`() async throws {
        try Session().run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        let refused = try await CommandRun.of(
            "serve",
            settings: [
                "DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys,
                "LISTEN": "127.0.0.1:0", "METRICS_LISTEN": "127.0.0.1:0",
            ]
        )
        #expect(refused.status == 1)
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            arguments: ["serve", "--migrate"]
        )
        #expect(server.log.contains("0001-signups"))
        try await SignupClient("kim@example.com", mails: Mails()).begin(at: server.port)
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test(arguments: ["ZZ\r\n{}\r\n0\r\n\r\n", "2\r\n{}"])
    func `a body with wrong or incomplete framing is not logged as an error`(body: String) async throws {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        let client = try RawClient(port: server.port)
        try client.send(
            "POST /signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
        )
        client.finish()
        let response = client.readAll()
        #expect(response.isEmpty || response.hasPrefix("HTTP/1.1 400"))
        #expect(await server.end(by: SIGTERM) == 0)
        #expect(!server.log.contains(#""level":"error""#))
    }

    @Test func `the server does not start with an unknown schema`() async throws {
        try Session().run("UPDATE migrations SET name = '9999-from-the-future' WHERE name = '0001-signups'")
        await #expect(throws: ServerProcess.Failure.self) {
            try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        }
    }

    @Test func `all mistakes in the settings are reported together`() async throws {
        let error = await #expect(throws: ServerProcess.Failure.self) {
            try await ServerProcess.start(
                database: "",
                settings: [
                    "ACCOUNTS_KEYS": "nonsense", "LISTEN": "nowhere", "ARGON2_MEMORY_KIB": "1024",
                    "PUBLIC_URL": "ftp://x",
                    "FLOW_FILE": "/nowhere.yaml", "LOG_LEVEL": "loud",
                ]
            )
        }
        for name in [
            "DATABASE_URL", "ACCOUNTS_KEYS", "LISTEN", "ARGON2_MEMORY_KIB", "PUBLIC_URL", "FLOW_FILE", "LOG_LEVEL",
        ] {
            #expect(error?.description.contains(name) == true, "\(name) is not mentioned")
        }
        #expect(error?.description.contains("nonsense") == false, "a secret is quoted")
    }

    @Test func `a password leaves no trace in memory once it is hashed`() async throws {
        let mails = Mails()
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo, mails: mails)
        let kim = SignupClient("kim@example.com", mails: mails)
        try await kim.begin(at: server.port)
        try await kim.step("email", at: server.port)
        try await kim.step("code", at: server.port)
        // One password has escapes, because the parser makes another copy of a string with escapes.
        let passwords = ["plain canary of memory 41", "escaped canary of memory 42", "캐너리 canary of memory 43"]
        for (index, password) in passwords.enumerated() {
            let text = index == 1 ? password.utf8.map { String(format: "\\u%04x", $0) }.joined() : password
            let body: JSON = ["password": .string(text), "confirmation": .string(text)]
            #expect(try await kim.put("password", body, at: server.port).status == 200)
        }
        let memory = try Memory(of: server.pid)
        // These texts are in the memory, so the search works.
        #expect(try memory.contains("signup.yaml"))
        #expect(memory.hasStack)
        for password in passwords { #expect(try !memory.contains(password), "\(password) is still there") }
        #expect(await server.end(by: SIGTERM) == 0)
    }
}

/// The writable memory of another process.
private struct Memory {
    private let pid: pid_t
    private let regions: [Range<UInt64>]
    /// True if the list of memory regions contains the stack. The stack is one of the last regions, so the list is then
    /// complete.
    let hasStack: Bool

    init(of pid: pid_t) throws {
        self.pid = pid
        // String(contentsOfFile:) reads only the first page of such a file.
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(pid)/maps"))
        let maps = String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
        hasStack = maps.contains("[stack]")
        regions = maps.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            let ends = parts[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            return parts[1].hasPrefix("r") && !line.hasSuffix("[vvar]") && !line.hasSuffix("[vsyscall]")
                ? ends[0]..<ends[1] : nil
        }
    }

    func contains(_ text: String) throws -> Bool {
        let memory = open("/proc/\(pid)/mem", O_RDONLY)
        guard memory >= 0 else { throw ServerProcess.Failure(description: "the memory cannot be read") }
        defer { close(memory) }
        let needle = Array(text.utf8)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        for region in regions {
            var offset = region.lowerBound
            while offset < region.upperBound {
                let count = pread(memory, &buffer, min(buffer.count, Int(region.upperBound - offset)), off_t(offset))
                if count <= 0 { break }
                if Self.find(needle, in: buffer[..<count]) { return true }
                // The reads overlap, so that the search also finds a text at their boundary.
                offset += UInt64(count == buffer.count ? count - needle.count : count)
            }
        }
        return false
    }

    private static func find(_ needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while rest.count >= needle.count,
                let hit = memchr(rest.rebased.baseAddress!, Int32(needle[0]), rest.count - needle.count + 1)
            {
                if memcmp(hit, needle, needle.count) == 0 { return true }
                rest = rest[(UnsafeRawPointer(hit) - bytes.baseAddress! + 1)...]
            }
            return false
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var rebased: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self) }
}
