import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The server as a process", .freshDatabase, .timeLimit(.minutes(30)))
struct ProcessTests {
    @Test func `SIGTERM and SIGINT end the server with status 0, and the next one shows the saved values`() async throws
    {
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

    @Test func `a server with the wrong keys says why it is not ready, and a restart with the right keys is ready`()
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
        /// A server on a busy machine may say first that its database does not answer in time.
        func waitUntilReady(_ server: ServerProcess) async throws {
            while try !ready(server).hasPrefix("HTTP/1.1 200") { await Task.yield() }
        }
        let first = try await start()
        try await waitUntilReady(first)
        #expect(await first.end(by: SIGTERM) == 0)

        let wrong = try await start(["ACCOUNTS_KEYS": "other:" + Data(repeating: 8, count: 32).base64EncodedString()])
        let reason = #"ACCOUNTS_KEYS lacks the key \"test\" of this database"#
        let response = try ready(wrong)
        #expect(response.hasPrefix("HTTP/1.1 503") && response.contains(reason))
        #expect(wrong.log.contains(#""message":"the keys do not fit the database""#) && wrong.log.contains(reason))
        #expect(await wrong.end(by: SIGTERM) == 0)

        let right = try await start()
        try await waitUntilReady(right)
        #expect(await right.end(by: SIGTERM) == 0)
    }

    @Test(arguments: ["debug", "trace"])
    func `the log shows neither keys nor the properties of services, at any level`(level: String) async throws {
        let keys = "k1:v2:" + Data((0..<32).map { $0 * 7 }).base64EncodedString()
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["ACCOUNTS_KEYS": keys, "LOG_LEVEL": level]
        )
        let kim = SignupClient("kim@example.com", mails: Mails())
        try await kim.begin(at: server.port)
        #expect(await server.end(by: SIGTERM) == 0)
        let pepper = try #require(KeyRing(keys).peppers.first)
        // The log would show a key as an array of bytes, as base64, or as the dump of a Swift value.
        for bytes in [pepper.key, pepper.id] {
            #expect(!server.log.contains("\(bytes)") && !server.log.contains(Data(bytes).base64EncodedString()))
        }
        for word in ["SymmetricKey", "Pepper(", "KeyRing(", keys, "Signups(", "Flow("] {
            #expect(!server.log.contains(word), "\(word)")
        }
        // The properties of a service contain the whole flow, which takes tens of thousands of characters.
        let longest = server.log.split(separator: "\n").max { $0.utf8.count < $1.utf8.count } ?? ""
        #expect(longest.utf8.count < 4096, "\(longest.prefix(4096))")
    }

    @Test func `one line about the start says what the server is and where, and one about each request follows`()
        async throws
    {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        try await SignupClient("kim@example.com", mails: Mails()).begin(at: server.port)
        #expect(server.log.contains(#""level":"info","message":"request""#))
        let line = try #require(server.log.split(separator: "\n").first { $0.contains(#""message":"serving""#) })
        let members = try JSON.read(Array(line.utf8))
        #expect(members["version"] == .string(serviceVersion) && members["flow"] == "default@1")
        #expect(members["address"] == .string("127.0.0.1:\(server.port)") && members["mail"] == "printed")
        let database = try DatabaseSession().query("SELECT current_database()").only.decode(String.self)
        #expect(members["database"] == .string("local/\(database)"))
        let messages = try server.log.split(separator: "\n").map { try JSON.read(Array($0.utf8))["message"]?.string }
        #expect(messages.count { $0 == "serving" } == 1 && messages.count { $0 == "serving metrics" } == 1)
        #expect(!server.log.contains("Server started and listening"), "the framework repeats the line")
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `healthcheck --live asks the listener for monitoring`() async throws {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        _ = try await server.metrics()
        let port = try #require(server.monitoringPort)
        // On a busy machine, the server may need longer for its answer than the command waits.
        for check in [
            ["--live", "--metrics-listen", "127.0.0.1:\(port)"], ["--listen", "127.0.0.1:\(server.port)"],
            // This server has no address of IPv6.
            ["--listen", "[::]:\(server.port)"], ["--listen", "127.0.0.1:\(server.port)", "--json"],
        ] {
            let run = try await untilServed({ (run: CommandRun) in run.status != 0 }) {
                try await CommandRun.of(["healthcheck"] + check, settings: [:])
            }
            #expect(run.status == 0, "\(run.errorOutput)")
            let json = #"{"state":"ready","address":"127.0.0.1:\#(server.port)"}"#
            #expect(run.output == (check.contains("--json") ? "\(json)\n" : ""))
        }
        #expect(await server.end(by: SIGTERM) == 0)
        let gone = try await CommandRun.of("healthcheck", "--live", "--metrics-listen", "127.0.0.1:\(port)")
        #expect(gone.status == 1 && gone.errorOutput.contains("has the same METRICS_LISTEN"))
        for (listen, asked) in [("[::]", "[::1]:1 or 127.0.0.1"), ("0.0.0.0", "127.0.0.1")] {
            let gone = try await CommandRun.of("healthcheck", "--listen", "\(listen):1")
            #expect(gone.status == 1 && gone.errorOutput.hasPrefix("no answer from \(asked):1: "))
        }
        let error = try await CommandRun.of("healthcheck", "--listen", "127.0.0.1:1", "--json")
        #expect(try error.status == 1 && error.errorJSON["error"]?["code"] == "failed", "\(error.errorOutput)")
        let off = try await CommandRun.of("healthcheck", "--live", "--metrics-listen", "off")
        #expect(off.status == 2 && off.errorOutput.contains("METRICS_LISTEN is off"))
    }

    @Test func `the kernel queues 300 connections while the server cannot accept them`() async throws {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        // SIGSTOP suspends the server, so it accepts no connection. The kernel keeps them in the listen backlog.
        kill(server.pid, SIGSTOP)
        let clients = try await onThread { try (1...300).map { _ in try RawClient(port: server.port) } }
        kill(server.pid, SIGCONT)
        try clients[0].send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(clients[0].readResponse().hasPrefix("HTTP/1.1 200"))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `a code that arrives over SMTP completes a sign-up`() async throws {
        let catcher = try await MailCatcher.start()
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["SMTP_URL": catcher.url, "MAIL_FROM": "no-reply@acme.example", "SERVICE_NAME": "Acme"]
        )
        let kim = SignupClient("kim@example.com", mails: Mails())
        try await kim.begin(at: server.port)
        try await kim.step("email", at: server.port)
        let mail = try await catcher.next()
        #expect(mail.to == ["kim@example.com"])
        #expect(mail.from == "no-reply@acme.example")
        let code = try #require(Mailbox.code(in: mail.text))
        #expect(try await kim.put("code", ["code": .string(code)], at: server.port).status == 200)
        for step in ["password", "profile", "contact", "terms"] { try await kim.step(step, at: server.port) }
        try await kim.createAccount(at: server.port)
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
        try await server.waitUntilLogged("images cannot be processed")
        #expect(server.log.contains("the kernel refuses the seccomp filter of the image process"))
        let kim = SignupClient("kim@example.com", mails: mails)
        try await kim.begin(at: server.port)
        for step in ["email", "code", "password"] { try await kim.step(step, at: server.port) }
        let image = Repository.root.appending(path: "Tests/Fuzzing/corpus/image/plain.png")
        let refused = try await kim.put(Array(Data(contentsOf: image)), in: "/signup/profile/photo", at: server.port)
        #expect(refused.status == 503 && refused.slug == "unavailable")
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `the server limits core dumps to 0 bytes`() async throws {
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        let limits = try String(contentsOfFile: "/proc/\(server.pid)/limits", encoding: .utf8)
        #expect(limits.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("Max core file size 0 0"))
        #expect(!server.log.contains("cannot forbid core dumps"))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    @Test func `another process of the same user cannot read the memory and the settings of the server`() async throws {
        let launcher = try Self.unprivilegedLauncher()
        func canOpen(_ file: String, of process: pid_t) async throws -> Bool {
            // `: <FILE` opens the file and does nothing else.
            let command = launcher + ["/bin/sh", "-c", #": <"$1""#, "sh", "/proc/\(process)/\(file)"]
            return try await CommandRun.status(of: command) == 0
        }
        let other = Process()
        let command = launcher + ["/bin/cat"]
        other.executableURL = URL(filePath: command[0])
        other.arguments = Array(command.dropFirst())
        other.standardInput = Pipe()
        other.standardOutput = FileHandle.nullDevice
        try other.run()
        defer { other.terminate() }
        // Waits until setpriv has changed the user of `cat`. This also shows that `canOpen` can succeed.
        while try await !canOpen("environ", of: other.processIdentifier) { try Task.checkCancellation() }
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo, by: launcher)
        #expect(try await canOpen("stat", of: server.pid))
        for file in ["mem", "environ", "maps"] { #expect(try await !canOpen(file, of: server.pid), "\(file)") }
        #expect(!server.log.contains("cannot forbid core dumps"))
        #expect(await server.end(by: SIGTERM) == 0)
    }

    /// The beginning of a command that runs the rest of it as an unprivileged user, because root can read every process.
    /// Empty if the tests do not run as root.
    private static func unprivilegedLauncher() throws -> [String] {
        if geteuid() != 0 { return [] }
        // The socket of a private test cluster accepts only the owner of its data directory. For any other server: the
        // user nobody (65534).
        let data = try DatabaseSession().query("SHOW data_directory").only.decode(String.self)
        let owner = (try? FileManager.default.attributesOfItem(atPath: data))?[.ownerAccountID] as? NSNumber
        let id = owner?.intValue ?? 65_534
        return ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(id)", "--clear-groups"]
    }

    @Test func `a stalled client does not block the shutdown`() async throws {
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["SHUTDOWN_TIMEOUT": "1"]
        )
        let stalled = try Self.stalledClient(of: server)
        #expect(await server.end(by: SIGTERM) == 0)
        stalled.finish()
    }

    /// Sends a request whose body never ends. The response to a later request makes it likely that the server has read
    /// this one.
    private static func stalledClient(of server: ServerProcess) throws -> RawClient {
        let stalled = try RawClient(port: server.port)
        try stalled.send(
            "PUT /signup/email HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        let live = try RawClient(port: server.port).exchange(
            "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        #expect(live.hasPrefix("HTTP/1.1 200"))
        return stalled
    }

    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(Int32, Int32)])
    func `a later signal ends the server at once`(signal: Int32, status: Int32) async throws {
        let server = try await ServerProcess.start(
            database: FreshDatabase.current.conninfo,
            settings: ["SHUTDOWN_DELAY": "3600"]
        )
        kill(server.pid, SIGTERM)
        try await server.waitUntilLogged(#""message":"stopping""#)
        #expect(await server.end(byRepeated: signal) == status)
    }

    @Test func `a signal within half a second of the first is ignored`() {
        var stops = StopSignals()
        let start = ContinuousClock.now
        for (milliseconds, meaning) in [
            (0, .shutDown), (0, .ignored), (499, .ignored), (500, .end), (60_000, .end),
        ] as [(Int, StopSignals.Meaning)] {
            #expect(stops.receive(at: start + .milliseconds(milliseconds)) == meaning)
        }
    }

    @Test func `serve --migrate creates the schema, and serve without it refuses to start`() async throws {
        try DatabaseSession().run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
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

    @Test func `the server does not start on a schema with an incompatible newer migration`() async throws {
        try DatabaseSession().run("INSERT INTO migrations (name, checksum) VALUES ('9999-from-the-future', '')")
        let error = await #expect(throws: ServerProcess.Failure.self) {
            try await ServerProcess.start(database: FreshDatabase.current.conninfo)
        }
        #expect(error?.description.contains("9999-from-the-future") == true)
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
        #expect(
            error?.description.contains(
                #""level":"critical","message":"the server ended","exit":2,"reason":"FLOW_FILE"#
            )
                == true
        )
    }

    @Test func `a password leaves no trace in memory once it is hashed`() async throws {
        let mails = Mails()
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo, mails: mails)
        let kim = SignupClient("kim@example.com", mails: mails)
        try await kim.begin(at: server.port)
        try await kim.step("email", at: server.port)
        try await kim.step("code", at: server.port)
        // The parser makes another copy of a string with escapes, so one password is sent as escapes.
        let escaped = "escaped canary of memory 42"
        let canaries = [
            (password: "plain canary of memory 41", json: "plain canary of memory 41"),
            (escaped, escaped.utf8.map { String(format: "\\u%04x", $0) }.joined()),
            ("캐너리 canary of memory 43", "캐너리 canary of memory 43"),
        ]
        for (_, json) in canaries {
            let body = #"{"password": "\#(json)", "confirmation": "\#(json)"}"#
            #expect(try await kim.put("password", json: body, at: server.port).status == 200)
        }
        let memory = try Memory(of: server.pid)
        // The search works: it finds a text that every server has in memory, and the list of regions is complete.
        #expect(try memory.contains("signup.yaml"))
        #expect(memory.hasStack)
        for (password, _) in canaries { #expect(try !memory.contains(password), "\(password) is still there") }
        #expect(await server.end(by: SIGTERM) == 0)
    }
}

/// The readable memory of another process.
private struct Memory {
    private let pid: pid_t
    private let regions: [Range<UInt64>]
    /// True if the list of memory regions contains the stack. The stack is one of the last regions, so the list is then
    /// complete.
    let hasStack: Bool

    init(of pid: pid_t) throws {
        self.pid = pid
        // String(contentsOfFile:) reads only the first page of a file in /proc, whose size is reported as 0.
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
        let descriptor = open("/proc/\(pid)/mem", O_RDONLY)
        guard descriptor >= 0 else { throw ServerProcess.Failure(description: "the memory cannot be read") }
        defer { close(descriptor) }
        let needle = Array(text.utf8)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        for region in regions {
            var offset = region.lowerBound
            while offset < region.upperBound {
                let size = min(buffer.count, Int(region.upperBound - offset))
                let count = pread(descriptor, &buffer, size, off_t(offset))
                // Regions that cannot be read are skipped.
                if count <= 0 { break }
                if Self.contains(needle, in: buffer[..<count]) { return true }
                // Full reads overlap, so that the search also finds a text at their boundary.
                offset += UInt64(count == buffer.count ? count - needle.count : count)
            }
        }
        return false
    }

    private static func contains(_ needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Bool {
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
