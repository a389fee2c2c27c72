internal import Foundation

@testable import Accounts

/// The released executable at work on the database of `DATABASE_URL`, with one client that knows no hurry.
///
/// Unchecked, because the connection and the client are the main thread's; others have clients of their own.
final class Service: @unchecked Sendable {
    private let process = Process()
    let database: Connection
    let client: Client
    let port: Int

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Migrates and starts the program, and returns when it serves.
    ///
    /// - Parameter settings: beyond those that it needs, in the environment.
    init(_ settings: [String: String] = [:]) throws {
        guard let conninfo = ProcessInfo.processInfo.environment["DATABASE_URL"] else {
            throw Failure(description: "DATABASE_URL is not set; scripts/bench sets it")
        }
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "accounts-api")
        let environment = [
            "DATABASE_URL": conninfo, "ACCOUNTS_KEYS": "bench:" + Data(repeating: 7, count: 32).base64EncodedString(),
            "LISTEN": "127.0.0.1:0", "TRUSTED_PROXIES": "127.0.0.1", "LOG_FORMAT": "json", "METRICS_LISTEN": "off",
        ].merging(settings) { $1 }
        let migration = Process()
        migration.executableURL = program
        migration.arguments = ["migrate"]
        migration.environment = environment
        migration.standardOutput = FileHandle.nullDevice
        try migration.run()
        migration.waitUntilExit()

        // It ends with us, however we end.
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        process.arguments = ["--pdeathsig", "TERM", program.path, "serve"]
        process.environment = environment
        // Mail for a terminal that nobody reads.
        process.standardOutput = FileHandle.nullDevice
        let log = Pipe()
        process.standardError = log
        try process.run()
        var text = ""
        var port: Int?
        while port == nil {
            let bytes = log.fileHandleForReading.availableData
            if bytes.isEmpty { throw Failure(description: "the server did not start: \(text)") }
            text += String(decoding: bytes, as: UTF8.self)
            port = text.firstMatch(of: /127\.0\.0\.1:([0-9]+)"/).flatMap { Int($0.1) }
        }
        // Whoever writes a log has to have a reader.
        let reader = log.fileHandleForReading
        Thread { while !reader.availableData.isEmpty {} }.start()
        database = try Connection(to: conninfo)
        self.port = port!
        client = Client(port: port!)
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
            // A thread may end while we look.
            guard let text = try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8),
                let time = text.split(separator: " ").first.flatMap({ Int64($0) })
            else { continue }
            nanoseconds += time
        }
        return .nanoseconds(nanoseconds)
    }

    /// Begins a sign-up; each comes from a network of its own.
    func start(_ number: Int) throws -> String {
        let answer = try client.ask(
            "POST",
            "/signup",
            "{\"transport\":\"bearer\"}",
            ["X-Forwarded-For": Self.address(number)]
        )
        guard answer.status == 201, let token = answer.body.firstMatch(of: /"token":"([^"]+)"/) else {
            throw Failure(description: "no sign-up: \(answer.status) \(answer.body)")
        }
        return String(token.1)
    }

    static func address(_ number: Int) -> String {
        "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    }
}

/// HTTP/1.1 on one connection that stays, blocking.
final class Client {
    private let port: Int
    private var descriptor: Int32 = -1
    private var buffer: [UInt8] = []

    struct Answer {
        let status: Int
        let body: String
    }

    init(port: Int) {
        self.port = port
    }

    deinit {
        hangUp()
    }

    func ask(_ method: String, _ path: String, _ body: String? = nil, _ headers: [String: String] = [:]) throws
        -> Answer
    {
        var headers = headers
        if let body {
            headers["Content-Length"] = headers["Content-Length"] ?? "\(body.utf8.count)"
            headers["Content-Type"] = headers["Content-Type"] ?? "application/json"
        }
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        return try send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n\(body ?? "")")
    }

    /// The server hangs up after some refusals, which is noticed with the next request.
    private func send(_ text: String) throws -> Answer {
        if descriptor >= 0, let answer = try? exchange(text) { return answer }
        hangUp()
        try connect()
        return try exchange(text)
    }

    private func hangUp() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        buffer = []
    }

    private func exchange(_ text: String) throws -> Answer {
        guard Foundation.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count else {
            throw Service.Failure(description: "the connection is gone")
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
        if header.contains(/(?i)connection: close/) { hangUp() }
        return Answer(status: Int(header.dropFirst(9).prefix(3)) ?? 0, body: body)
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
        guard count > 0 else { throw Service.Failure(description: "the server hung up") }
        buffer += piece[..<count]
    }
}
