internal import Foundation
internal import Synchronization

@testable import Accounts

/// A server in its own process, with a connection to its database and one client.
///
/// Unchecked, because only the main thread uses the connection and the client. Other threads have their own clients.
final class Service: @unchecked Sendable {
    private let process = Process()
    let database: Connection
    let client: Client
    let port: Int
    private let codes = Mutex<[String: String]>([:])

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
    /// next mail.
    private func takeCodes(from text: String) -> String {
        var mails = text.components(separatedBy: "\n└")
        let rest = mails.removeLast()
        codes.withLock { codes in
            for mail in mails {
                guard let address = mail.firstMatch(of: /To: ([^\n]+)/), let code = mail.firstMatch(of: /\b[0-9]{6}\b/)
                else { continue }
                codes[String(address.1)] = String(code.0)
            }
        }
        return rest
    }

    /// Waits for the code that is mailed to this address, and returns it. Throws after 20 seconds.
    func code(for address: String) throws -> String {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            if let code = codes.withLock({ $0.removeValue(forKey: address) }) { return code }
            Thread.sleep(forTimeInterval: 0.002)
        }
        throw Failure(description: "no code arrived for \(address)")
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
        let tasks = "/proc/\(process.processIdentifier)/task"
        var nanoseconds: Int64 = 0
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            // A thread may end before its file is read.
            guard let text = try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8),
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
        guard response.status == 201, let token = response.body.firstMatch(of: /"token":"([^"]+)"/) else {
            throw Failure(description: "no sign-up: \(response.status) \(response.body)")
        }
        return String(token.1)
    }

    static func address(_ number: Int) -> String {
        "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    }
}

/// A blocking HTTP/1.1 client with one connection that is kept alive.
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
        let header = String(decoding: buffer[..<end!], as: UTF8.self)
        let length = header.firstMatch(of: /(?i)content-length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        while buffer.count < end! + length { try read() }
        let body = String(decoding: buffer[end!..<end! + length], as: UTF8.self)
        buffer.removeFirst(end! + length)
        if header.contains(/(?i)connection: close/) { disconnect() }
        return Response(status: Int(header.dropFirst(9).prefix(3)) ?? 0, body: body)
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
