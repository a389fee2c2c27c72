import Accounts
import ArgumentParser
import Foundation
import Logging

/// What the operator decides, read once from flags and environment. All mistakes are told together.
struct Settings: Sendable {
    let databaseURL: String
    let listen: (host: String, port: Int)
    let publicURL: String
    let keys: KeyRing
    let flow: Flow
    let smtpURL: String?
    let mailFrom: String
    let serviceName: String
    let allowedOrigins: Set<String>
    let trustedProxies: [IPBlock]
    let argon2: Argon2Parameters
    let argon2Workers: Int
    let argon2Queue: Int
    let databaseConnections: Int
    /// How long requests under way may take once the server is told to stop.
    let shutdownTimeout: Duration
    let logging: LogSettings

    init(_ source: SettingSource) throws(SettingMistakes) {
        var reader = SettingReader(source)
        databaseURL = reader.text("DATABASE_URL") ?? reader.missing("DATABASE_URL")
        listen = reader.address("LISTEN", default: ("127.0.0.1", 8080))
        publicURL = reader.publicURL("PUBLIC_URL", default: "http://localhost:8080")
        let keys = reader.keys()
        let flow = reader.flow("FLOW_FILE")
        smtpURL = reader.text("SMTP_URL")
        mailFrom = reader.text("MAIL_FROM") ?? "no-reply@localhost"
        serviceName = reader.text("SERVICE_NAME") ?? flow?.serviceName ?? "Accounts"
        if !serviceName.unicodeScalars.allSatisfy(\.isAllowedInLine) {
            reader.mistake("SERVICE_NAME is one line, without control characters")
        }
        allowedOrigins = Set(reader.list("ALLOWED_ORIGINS"))
        trustedProxies = reader.blocks("TRUSTED_PROXIES")
        argon2 = reader.argon2()
        argon2Workers = reader.integer("ARGON2_WORKERS", in: 1...256) ?? ProcessInfo.processInfo.activeProcessorCount
        argon2Queue = reader.integer("ARGON2_QUEUE", in: 1...10_000) ?? 32
        databaseConnections = reader.integer("DATABASE_CONNECTIONS", in: 2...64) ?? 4
        shutdownTimeout = .seconds(reader.integer("SHUTDOWN_TIMEOUT", in: 1...3600) ?? 30)
        logging = reader.logging()
        guard let keys, let flow, reader.mistakes.isEmpty else { throw SettingMistakes(all: reader.mistakes) }
        self.keys = keys
        self.flow = flow
    }
}

/// What the commands need that look at drafts and accounts.
struct OperatorSettings: Sendable {
    let databaseURL: String
    let keys: KeyRing
    let flow: Flow

    init(_ source: SettingSource) throws(SettingMistakes) {
        var reader = SettingReader(source)
        databaseURL = reader.text("DATABASE_URL") ?? reader.missing("DATABASE_URL")
        let keys = reader.keys()
        let flow = reader.flow("FLOW_FILE")
        guard let keys, let flow, reader.mistakes.isEmpty else { throw SettingMistakes(all: reader.mistakes) }
        self.keys = keys
        self.flow = flow
    }
}

/// How much is logged, and in which form.
struct LogSettings: Sendable {
    let level: Logger.Level
    let isJSON: Bool
}

struct SettingMistakes: Error, CustomStringConvertible {
    let all: [String]

    var description: String { all.joined(separator: "\n") }
}

/// Where settings come from: a flag, before the environment, before a file that the environment names.
struct SettingSource: Sendable {
    var flags: [String: String] = [:]
    var environment: [String: String] = ProcessInfo.processInfo.environment

    /// Nil where the setting is nowhere, or empty. A file ends with at most one line break that is not part of it.
    func text(_ name: String) throws -> String? {
        if let text = flags[name] ?? environment[name] { return text.isEmpty ? nil : text }
        guard let path = environment["\(name)_FILE"], !path.isEmpty else { return nil }
        var text = try String(contentsOfFile: path, encoding: .utf8)
        if text.last?.isNewline == true { text.removeLast() }
        return text.isEmpty ? nil : text
    }
}

private struct SettingReader {
    private let source: SettingSource
    private(set) var mistakes: [String] = []

    init(_ source: SettingSource) {
        self.source = source
    }

    mutating func mistake(_ text: String) {
        mistakes.append(text)
    }

    mutating func text(_ name: String) -> String? {
        do {
            return try source.text(name)
        } catch {
            mistake("\(name)_FILE cannot be read")
            return nil
        }
    }

    mutating func missing(_ name: String) -> String {
        mistake("\(name) is missing")
        return ""
    }

    /// Values of secrets are not repeated in what is said about them.
    mutating func value<Value>(_ name: String, _ parse: (String) throws -> Value) -> Value? {
        guard let text = text(name) else { return nil }
        do {
            return try parse(text)
        } catch {
            mistake("\(name): \(error)")
            return nil
        }
    }

    mutating func keys() -> KeyRing? {
        guard text("ACCOUNTS_KEYS") != nil else {
            mistake("ACCOUNTS_KEYS is missing")
            return nil
        }
        return value("ACCOUNTS_KEYS") { try KeyRing($0) }
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            mistake("\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    mutating func list(_ name: String) -> [String] {
        (text(name) ?? "").split(separator: ",").map { String($0.trimmingWhitespace()) }
    }

    mutating func blocks(_ name: String) -> [IPBlock] {
        list(name).compactMap { text in
            let block = IPBlock(text)
            if block == nil { mistake("\(name) is a list of addresses and blocks such as 10.0.0.0/8, by comma") }
            return block
        }
    }

    mutating func address(_ name: String, default standard: (String, Int)) -> (host: String, port: Int) {
        guard let text = text(name) else { return standard }
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), colon > text.startIndex
        else {
            mistake("\(name) is host:port")
            return standard
        }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        return (String(isBracketed ? host.dropFirst().dropLast() : host), port)
    }

    /// Scheme, host and port, without a slash at the end.
    mutating func publicURL(_ name: String, default standard: String) -> String {
        guard let text = text(name) else { return standard }
        guard let url = URLComponents(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false,
            ["", "/"].contains(url.path), url.query == nil, url.fragment == nil, url.user == nil
        else {
            mistake("\(name) is http:// or https:// with a host, and a port if need be, and nothing more")
            return standard
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    mutating func flow(_ name: String) -> Flow? {
        do throws(FlowFileError) {
            guard let path = text(name) else { return try Flow.standard() }
            return try Flow(contentsOf: path)
        } catch {
            mistake("\(name): \(error)")
            return nil
        }
    }

    mutating func argon2() -> Argon2Parameters {
        let standard = Argon2Parameters()
        let parameters = Argon2Parameters(
            memoryKiB: integer("ARGON2_MEMORY_KIB", in: 8...4_194_304) ?? standard.memoryKiB,
            iterations: integer("ARGON2_ITERATIONS", in: 1...1000) ?? standard.iterations
        )
        if !parameters.meetsFloor {
            mistake("ARGON2_MEMORY_KIB and ARGON2_ITERATIONS are below every row of the OWASP table (19456 with 2, …)")
        } else if !parameters.isWithinBounds {
            mistake("ARGON2_MEMORY_KIB and ARGON2_ITERATIONS are more than 262144 KiB or 10 iterations")
        }
        return parameters
    }

    mutating func logging() -> LogSettings {
        let level = text("LOG_LEVEL").map { Logger.Level(rawValue: $0) } ?? .info
        if level == nil { mistake("LOG_LEVEL is trace, debug, info, notice, warning, error or critical") }
        let format = text("LOG_FORMAT") ?? (isatty(STDERR_FILENO) == 1 ? "text" : "json")
        if !["json", "text"].contains(format) { mistake("LOG_FORMAT is json or text") }
        return LogSettings(level: level ?? .info, isJSON: format == "json")
    }
}

/// The settings as flags, of the same names.
struct SettingFlags: ParsableArguments {
    @Option(help: "libpq connection string or URI of PostgreSQL (DATABASE_URL)") var databaseUrl: String?
    @Option(help: "host:port to serve on (LISTEN; 127.0.0.1:8080)") var listen: String?
    @Option(help: "where clients reach the service (PUBLIC_URL; http://localhost:8080)") var publicUrl: String?
    @Option(help: "the flow as YAML (FLOW_FILE; built in)") var flowFile: String?
    @Option(help: "smtp://user:password@host:587 (SMTP_URL; unset prints mail on the terminal)") var smtpUrl: String?
    @Option(help: "sender of mail (MAIL_FROM; no-reply@localhost)") var mailFrom: String?
    @Option(help: "how mail names the service (SERVICE_NAME; the service of the flow file, or Accounts)")
    var serviceName: String?
    @Option(help: "other origins that may use the cookie, by comma (ALLOWED_ORIGINS)") var allowedOrigins: String?
    @Option(help: "proxies whose X-Forwarded-For counts, by comma (TRUSTED_PROXIES)") var trustedProxies: String?
    @Option(help: "memory of a hash in KiB (ARGON2_MEMORY_KIB; 19456)") var argon2MemoryKib: String?
    @Option(help: "iterations of a hash (ARGON2_ITERATIONS; 2)") var argon2Iterations: String?
    @Option(help: "hashes at once (ARGON2_WORKERS; the cores)") var argon2Workers: String?
    @Option(help: "hashes that may wait (ARGON2_QUEUE; 32)") var argon2Queue: String?
    @Option(help: "connections to PostgreSQL (DATABASE_CONNECTIONS; 4)") var databaseConnections: String?
    @Option(help: "seconds that requests may take once it stops (SHUTDOWN_TIMEOUT; 30)") var shutdownTimeout: String?
    @Option(help: "trace, debug, info, notice, warning, error, critical (LOG_LEVEL; info)") var logLevel: String?
    @Option(help: "json or text (LOG_FORMAT; text on a terminal)") var logFormat: String?

    var source: SettingSource {
        let given = [
            "DATABASE_URL": databaseUrl, "LISTEN": listen, "PUBLIC_URL": publicUrl, "FLOW_FILE": flowFile,
            "SMTP_URL": smtpUrl, "MAIL_FROM": mailFrom, "SERVICE_NAME": serviceName, "ALLOWED_ORIGINS": allowedOrigins,
            "TRUSTED_PROXIES": trustedProxies, "ARGON2_MEMORY_KIB": argon2MemoryKib,
            "ARGON2_ITERATIONS": argon2Iterations,
            "ARGON2_WORKERS": argon2Workers, "ARGON2_QUEUE": argon2Queue, "DATABASE_CONNECTIONS": databaseConnections,
            "SHUTDOWN_TIMEOUT": shutdownTimeout, "LOG_LEVEL": logLevel, "LOG_FORMAT": logFormat,
        ]
        return SettingSource(flags: given.compactMapValues { $0 })
    }
}
