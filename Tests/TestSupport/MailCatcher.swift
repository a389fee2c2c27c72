internal import Foundation
internal import Synchronization

/// `scripts/mail-catcher` at work: a real SMTP server on a port of its own that shows what it received.
package final class MailCatcher: Sendable {
    /// A mail as it arrived, decoded.
    package struct Mail: Decodable {
        package let to: [String]
        package let from: String
        package let subject: String
        package let text: String
        package let headers: [String: String]
        /// Whether it came through TLS.
        package let tls: Bool
    }

    /// A certificate and its key, both paths of PEM files.
    package struct Certificate {
        package let certificate: String
        package let key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    package enum Option {
        case starttls(Certificate)
        case smtps(Certificate)
        /// Asks for this login, and offers it without TLS too.
        case auth(user: String, password: String)
        /// Answers every recipient with 451 or 550.
        case refuse(Int)

        fileprivate var arguments: [String] {
            switch self {
            case .starttls(let pair): ["--starttls", pair.certificate, pair.key]
            case .smtps(let pair): ["--smtps", pair.certificate, pair.key]
            case .auth(let user, let password): ["--auth", user, password]
            case .refuse(let reply): ["--refuse", "\(reply)"]
            }
        }
    }

    /// Something the catcher says: a mail, or who tried to log in.
    package enum Event {
        case mail(Mail)
        case login(String)
    }

    package struct Ended: Error {}

    package let port: Int
    private let process: CatcherProcess
    private let lines: AsyncStream<Data>

    /// Where to deliver: `smtp://127.0.0.1:PORT`.
    package var url: String { "smtp://127.0.0.1:\(port)" }

    /// Starts the script with the interpreter that `PYTHON` names, and returns when it listens.
    package static func start(_ options: Option...) async throws -> MailCatcher {
        let process = try CatcherProcess(arguments: options.flatMap(\.arguments))
        let lines = process.lines
        for await line in lines {
            let port = try JSONDecoder().decode([String: Int].self, from: line)["port"]
            if let port { return MailCatcher(port: port, process: process, lines: lines) }
        }
        throw Ended()
    }

    private init(port: Int, process: CatcherProcess, lines: AsyncStream<Data>) {
        self.port = port
        self.process = process
        self.lines = lines
    }

    /// The next mail; waits for it, and throws `Ended` once the catcher has stopped.
    package func next() async throws -> Mail {
        for await line in lines {
            if case .mail(let mail) = try Self.event(line) { return mail }
        }
        throw Ended()
    }

    /// Ends the catcher, and returns what it said that nobody has read.
    @discardableResult
    package func stop() async throws -> [Event] {
        process.end()
        var events: [Event] = []
        for await line in lines {
            events.append(try Self.event(line))
        }
        return events
    }

    private static func event(_ line: Data) throws -> Event {
        if let login = try? JSONDecoder().decode([String: String].self, from: line)["login"] { return .login(login) }
        return .mail(try JSONDecoder().decode(Mail.self, from: line))
    }
}

/// The running script and the lines it prints. It ends with the last reference at the latest.
private final class CatcherProcess: Sendable {
    let lines: AsyncStream<Data>
    private let process: Mutex<Process>

    init(arguments: [String]) throws {
        let script = Repository.root.appending(path: "scripts/mail-catcher")
        let python = ProcessInfo.processInfo.environment["PYTHON"] ?? "python3"
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python, script.path] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        self.process = Mutex(process)

        let (lines, continuation) = AsyncStream.makeStream(of: Data.self)
        self.lines = lines
        let unfinished = Mutex(Data())
        output.fileHandleForReading.readabilityHandler = { handle in
            let piece = handle.availableData
            guard !piece.isEmpty else {
                handle.readabilityHandler = nil
                continuation.finish()
                return
            }
            unfinished.withLock { buffer in
                buffer.append(piece)
                while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(Data(buffer[..<end]))
                    buffer = Data(buffer[buffer.index(after: end)...])
                }
            }
        }
    }

    deinit { end() }

    /// Kills: Dispatch blocks the gentler signals on its threads, and a child started from one inherits that.
    func end() {
        process.withLock { process in
            guard process.isRunning else { return }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
}
