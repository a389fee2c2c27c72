internal import Foundation

@testable import Accounts

/// A server in its own process, with a connection to its database and one client.
///
/// Unchecked, because only the main thread uses the connection and the client. Other threads have their own clients.
final class Service: @unchecked Sendable {
    private let process = Process()
    let database: Connection
    let client: Client
    let port: Int
    /// The mailed codes by address. Guarded by `codeArrived`.
    private var codes: [String: String] = [:]
    private let codeArrived = NSCondition()

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The database of `DATABASE_URL`.
    static var conninfo: String {
        get throws {
            guard let conninfo = ProcessInfo.processInfo.environment["DATABASE_URL"] else {
                throw Failure(description: "DATABASE_URL is not set; scripts/bench sets it")
            }
            return conninfo
        }
    }

    /// Migrates the database, starts this executable as the server, and returns when it serves.
    ///
    /// - Parameters:
    ///   - settings: environment variables in addition to those that the server needs.
    ///   - conninfo: the connection string of the database; nil for that of `DATABASE_URL`.
    convenience init(
        _ settings: [String: String] = [:],
        on conninfo: String? = nil,
        with connections: Connections = .lanes
    ) throws {
        let conninfo = try conninfo ?? Self.conninfo
        _ = try Migrations().apply(to: conninfo)
        try self.init(
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path,
            ["serve", connections.rawValue],
            settings,
            on: conninfo
        )
    }

    /// Starts this program, and returns when it serves.
    init(_ program: String, _ arguments: [String], _ settings: [String: String] = [:], on conninfo: String) throws {
        let environment = [
            "DATABASE_URL": conninfo, "ACCOUNTS_KEYS": Population.keys, "LISTEN": "127.0.0.1:0",
            "TRUSTED_PROXIES": "127.0.0.1", "LOG_FORMAT": "json", "METRICS_LISTEN": "off",
            "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
        ].merging(settings) { $1 }

        // The kernel ends the server when the thread that has started it ends, at the latest with this process.
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        process.arguments = ["--pdeathsig", "TERM", program] + arguments
        process.environment = environment
        let mail = Pipe()
        process.standardOutput = mail
        let log = Pipe()
        process.standardError = log
        let started = DispatchSemaphore(value: 0)
        Thread { [process] in
            try? process.run()
            started.signal()
            process.waitUntilExit()
        }.start()
        started.wait()
        var text = ""
        var port: Int?
        while port == nil {
            let bytes = log.fileHandleForReading.availableData
            if bytes.isEmpty { throw Failure(description: "the server did not start: \(text)") }
            text += String(decoding: bytes, as: UTF8.self)
            port = text.firstMatch(of: /127\.0\.0\.1:([0-9]+)"/).flatMap { Int($0.1) }
        }
        database = try Connection(to: conninfo)
        self.port = port!
        client = Client(port: port!)
        // Without a reader, the server would block when the pipe is full.
        let reader = log.fileHandleForReading
        Thread { while !reader.availableData.isEmpty {} }.start()
        let mails = mail.fileHandleForReading
        Thread { [weak self] in
            var text = ""
            while case let bytes = mails.availableData, !bytes.isEmpty {
                text += String(decoding: bytes, as: UTF8.self)
                text = self?.takeCodes(from: text) ?? ""
            }
        }.start()
    }

    /// Stores the codes of the complete mails in the text. Returns the text after them, which may be the start of the
    /// next mail. A code is a line of six digits.
    private func takeCodes(from text: String) -> String {
        var mails = text.components(separatedBy: "\n└")
        let rest = mails.removeLast()
        codeArrived.withLock {
            for mail in mails {
                let lines = mail.utf8.split(separator: UInt8(ascii: "\n")).map { line in
                    String(Substring(line)).trimmingCharacters(in: CharacterSet(charactersIn: "│ "))
                }
                guard let address = lines.first(where: { $0.hasPrefix("To: ") }),
                    let code = lines.first(where: { $0.utf8.count == 6 && Int($0) != nil })
                else { continue }
                codes[String(address.dropFirst(4))] = code
            }
        }
        codeArrived.broadcast()
        return rest
    }

    /// Waits for the code that is mailed to this address, and returns it. Throws after 20 seconds.
    func code(for address: String) throws -> String {
        let end = Date(timeIntervalSinceNow: 20)
        return try codeArrived.withLock {
            repeat {
                if let code = codes.removeValue(forKey: address) { return code }
            } while codeArrived.wait(until: end)
            throw Failure(description: "no code arrived for \(address)")
        }
    }

    /// The resident memory of the server now and at its peak, in MiB.
    var memory: (now: Double, peak: Double) {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        func kibibytes(_ pattern: Regex<(Substring, Substring)>) -> Double {
            status.firstMatch(of: pattern).flatMap { Double($0.1) } ?? .nan
        }
        return (kibibytes(/VmRSS:\s+([0-9]+)/) / 1024, kibibytes(/VmHWM:\s+([0-9]+)/) / 1024)
    }

    /// The process id of PostgreSQL's first process.
    static func postmaster(of database: borrowing Connection) throws -> Int32 {
        let backend = try database.query("SELECT pg_backend_pid()::bigint").only.decode(Int.self)
        let status = try String(contentsOfFile: "/proc/\(backend)/status", encoding: .utf8)
        guard let parent = status.firstMatch(of: /PPid:\s+([0-9]+)/).flatMap({ Int32($0.1) }) else {
            throw Failure(description: "the database is not on this machine")
        }
        return parent
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// The processor time of all threads of the server so far.
    func cpuTime() throws -> Duration {
        try cpuTime { _ in true }
    }

    /// The processor time so far of the threads whose names the closure accepts.
    func cpuTime(ofThreads isCounted: (String) -> Bool) throws -> Duration {
        let tasks = "/proc/\(process.processIdentifier)/task"
        var nanoseconds: Int64 = 0
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            // A thread may end before its files are read.
            guard let name = try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8), isCounted(name),
                let text = try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8),
                let time = text.split(separator: " ").first.flatMap({ Int64($0) })
            else { continue }
            nanoseconds += time
        }
        return .nanoseconds(nanoseconds)
    }

    /// Starts a sign-up from the network of this number, and returns the token.
    func start(_ number: Int) throws -> String {
        let response = try client.request(
            "POST",
            "/signup",
            ["transport": "bearer"],
            ["X-Forwarded-For": Self.address(number)]
        )
        guard response.status == 201, let token = Self.token(in: response.body) else {
            throw Failure(description: "no sign-up: \(response.status) \(response.body)")
        }
        return token
    }

    /// The token in the response to the start of a sign-up; nil if it has none.
    static func token(in body: String) -> String? {
        guard let start = body.utf8.firstRange(of: "\"token\":\"".utf8)?.upperBound,
            let end = body.utf8[start...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        return String(body[start..<end])
    }

    static func address(_ number: Int) -> String {
        "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    }
}

/// A blocking HTTP/1.1 client with one connection that is kept alive. It reads responses without regular expressions,
/// because their processor time would be missing on the other side.
final class Client {
    private let port: Int
    private var descriptor: Int32 = -1
    private var buffer: [UInt8] = []

    struct Response {
        let status: Int
        let body: String
    }

    init(port: Int) {
        self.port = port
    }

    deinit {
        disconnect()
    }

    func request(_ method: String, _ path: String, _ body: JSON?, _ headers: [String: String]) throws -> Response {
        try request(method, path, text: body?.text, headers)
    }

    /// Sends a body exactly as it is, with the media type JSON if the headers name no other.
    func request(_ method: String, _ path: String, text body: String? = nil, _ headers: [String: String] = [:]) throws
        -> Response
    {
        var headers = headers
        if let body {
            headers["Content-Length"] = headers["Content-Length"] ?? "\(body.utf8.count)"
            headers["Content-Type"] = headers["Content-Type"] ?? "application/json"
        }
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        return try send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n\(body ?? "")")
    }

    /// Sends a request, and connects again if the server has closed the connection, as it does after some refusals.
    private func send(_ text: String) throws -> Response {
        if descriptor >= 0, let response = try? exchange(text) { return response }
        disconnect()
        try connect()
        return try exchange(text)
    }

    private func disconnect() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        buffer = []
    }

    private func exchange(_ text: String) throws -> Response {
        guard Foundation.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count else {
            throw Service.Failure(description: "the connection is closed")
        }
        var end = headerEnd()
        while end == nil {
            try read()
            end = headerEnd()
        }
        var (length, closes) = (0, false)
        for field in buffer[..<end!].split(separator: UInt8(ascii: "\n")) {
            let field = String(decoding: field.dropLast(), as: UTF8.self).lowercased()
            if field.hasPrefix("content-length: ") { length = Int(field.dropFirst(16)) ?? 0 }
            if field == "connection: close" { closes = true }
        }
        while buffer.count < end! + length { try read() }
        let status = Int(String(decoding: buffer[9..<12], as: UTF8.self)) ?? 0
        let body = String(decoding: buffer[end!..<end! + length], as: UTF8.self)
        buffer.removeFirst(end! + length)
        if closes { disconnect() }
        return Response(status: status, body: body)
    }

    private func connect() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Service.Failure(description: "no connection") }
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    private func headerEnd() -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard buffer.count >= 4 else { return nil }
        return (0...buffer.count - 4).first { buffer[$0..<$0 + 4].elementsEqual(mark) }.map { $0 + 4 }
    }

    private func read() throws {
        var piece = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { throw Service.Failure(description: "the server closed the connection") }
        buffer += piece[..<count]
    }
}
