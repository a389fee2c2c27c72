internal import Accounts
internal import Foundation
internal import Synchronization

/// A running `scripts/mail-catcher`: a real SMTP server on a free port that reports the mails that it receives.
package final class MailCatcher: Sendable {
    /// A received mail, with its encodings decoded.
    package struct Mail: Decodable {
        package let to: [String]
        package let from: String
        package let subject: String
        package let text: String
        package let headers: [String: String]
        /// Whether the mail was received over TLS.
        package let tls: Bool
    }

    /// The paths of a certificate and its key, both PEM files.
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
        /// Greets with this reply, such as `554 5.7.1 No service`.
        case greet(String)
        /// Requires this login, and offers AUTH without TLS too.
        case auth(user: String, password: String)
        /// Answers every recipient with this reply, such as `550 5.1.1 <ADDRESS>: unknown`. ADDRESS becomes the address.
        case refuse(String)
        /// Answers every mail with this reply, such as `250 2.0.0 Ok: queued as 4Zx1`.
        case accept(String)
        /// Waits this long for each mail before it reports and accepts the mail.
        case delay(milliseconds: Int)

        fileprivate var arguments: [String] {
            switch self {
            case .starttls(let pair): ["--starttls", pair.certificate, pair.key]
            case .smtps(let pair): ["--smtps", pair.certificate, pair.key]
            case .greet(let reply): ["--greet", reply]
            case .auth(let user, let password): ["--auth", user, password]
            case .refuse(let reply): ["--refuse", reply]
            case .accept(let reply): ["--accept", reply]
            case .delay(let milliseconds): ["--delay", "\(milliseconds)"]
            }
        }
    }

    /// An event that the catcher reports: a received mail, or the user name of a login.
    package enum Event {
        case mail(Mail)
        case login(String)
    }

    /// The catcher has stopped.
    package struct Stopped: Error {}

    package let port: Int
    private let process: ScriptProcess
    private let lines: AsyncStream<Data>

    /// The URL of the server: `smtp://127.0.0.1:PORT`.
    package var url: String { "smtp://127.0.0.1:\(port)" }

    /// Starts the script with the interpreter that `PYTHON` names, and returns when it accepts connections.
    package static func start(_ options: Option...) async throws -> MailCatcher {
        try await start(options)
    }

    package static func start(_ options: [Option]) async throws -> MailCatcher {
        let process = try ScriptProcess("mail-catcher", arguments: options.flatMap(\.arguments))
        let lines = process.lines
        for await line in lines {
            let port = try JSONDecoder().decode([String: Int].self, from: line)["port"]
            if let port { return MailCatcher(port: port, process: process, lines: lines) }
        }
        throw Stopped()
    }

    private init(port: Int, process: ScriptProcess, lines: AsyncStream<Data>) {
        self.port = port
        self.process = process
        self.lines = lines
    }

    /// Waits for the next mail; throws `Stopped` if the catcher has stopped.
    package func next() async throws -> Mail {
        for await line in lines {
            if case .mail(let mail) = try Self.event(line) { return mail }
        }
        throw Stopped()
    }

    /// Stops the catcher, and returns the events that were not read yet.
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

/// A running script of `scripts/`, and the lines that it prints. The script is killed when the last reference to this
/// object is released.
final class ScriptProcess: Sendable {
    let lines: AsyncStream<Data>
    private let process: Mutex<Process>

    /// Starts the script with the interpreter that `PYTHON` names.
    init(_ name: String, arguments: [String]) throws {
        let script = Repository.root.appending(path: "scripts/\(name)")
        let python = ProcessInfo.processInfo.environment["PYTHON"] ?? "python3"
        var ends: [Int32] = [-1, -1]
        // Close-on-exec, because a process that another test starts meanwhile would keep the socket open.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let (readingEnd, writingEnd) = (ends[0], FileHandle(fileDescriptor: ends[1], closeOnDealloc: true))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python, script.path] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = writingEnd
        try process.run()
        try writingEnd.close()
        self.process = Mutex(process)

        let (lines, continuation) = AsyncStream.makeStream(of: Data.self)
        self.lines = lines
        _ = DedicatedThread(named: name) {
            let file = fdopen(readingEnd, "r")
            var line: UnsafeMutablePointer<CChar>?
            var capacity = 0
            while let file, case let length = getline(&line, &capacity, file), length > 0, let line {
                continuation.yield(Data(bytes: line, count: length - 1))
            }
            free(line)
            if let file { fclose(file) }
            continuation.finish()
        }
    }

    deinit { end() }

    /// Kills the script and waits for its end. SIGKILL is necessary: Dispatch blocks other signals on its threads, and
    /// the script has inherited the signal mask of such a thread.
    func end() {
        process.withLock { process in
            guard process.isRunning else { return }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
}
