import Accounts
import ArgumentParser
import Foundation
import Logging

/// What the operator decides, read once from flags and environment. All mistakes are told together.
struct Settings: Sendable {
    let databaseURL: String
    let listen: Address
    /// Nil where nobody wants metrics.
    let metricsListen: Address?
    let publicURL: String
    let keys: KeyRing
    let flow: Flow
    let assets: Assets
    let smtpURL: String?
    let mailFrom: String
    let serviceName: String
    let allowedOrigins: Set<String>
    let trustedProxies: [IPBlock]
    let argon2: Argon2Parameters
    let argon2Workers: Int
    let argon2Queue: Int
    let argon2Wait: Duration
    let argon2Priority: DedicatedThread.Priority
    let imageWorkers: Int
    let databaseConnections: Int
    /// For how long the server goes on serving once it is told to stop.
    let shutdownDelay: Duration
    /// How long requests under way may take once that is over.
    let shutdownTimeout: Duration
    let logging: LogSettings

    init(_ source: SettingSource) throws(SettingMistakes) {
        var reader = SettingReader(source)
        databaseURL = reader.text(.databaseURL) ?? reader.missing(.databaseURL)
        listen = reader.address(.listen)
        metricsListen = reader.text(.metricsListen) == "off" ? nil : reader.address(.metricsListen)
        publicURL = reader.publicURL(.publicURL)
        let keys = reader.keys()
        let flow = reader.flow(.flowFile)
        assets = reader.value(.assetsDirectory) { try Assets(directory: $0) } ?? .builtIn
        smtpURL = reader.value(.smtpURL) { text in
            try SMTPMailer.check(url: text)
            return text
        }
        mailFrom = reader.standardText(.mailFrom)
        if !Mail.isAddress(mailFrom) { reader.mistake("MAIL_FROM is an address such as no-reply@example.com") }
        serviceName = reader.text(.serviceName) ?? flow?.serviceName ?? "Accounts"
        if !serviceName.unicodeScalars.allSatisfy(\.isAllowedInLine) {
            reader.mistake("SERVICE_NAME is one line, without control characters")
        }
        allowedOrigins = reader.origins(.allowedOrigins)
        trustedProxies = reader.blocks(.trustedProxies)
        let hashing = reader.hashing()
        argon2 = hashing.parameters
        argon2Workers = hashing.workers
        argon2Wait = .seconds(reader.integer(.argon2Wait, in: 1...60))
        argon2Priority = reader.priority()
        argon2Queue = reader.integer(.argon2Queue, in: 1...10_000)
        imageWorkers = reader.integer(.imageWorkers, in: 1...16)
        databaseConnections = reader.integer(.databaseConnections, in: 2...64)
        shutdownDelay = .seconds(reader.integer(.shutdownDelay, in: 0...3600))
        shutdownTimeout = .seconds(reader.integer(.shutdownTimeout, in: 1...3600))
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
        databaseURL = reader.text(.databaseURL) ?? reader.missing(.databaseURL)
        let keys = reader.keys()
        let flow = reader.flow(.flowFile)
        guard let keys, let flow, reader.mistakes.isEmpty else { throw SettingMistakes(all: reader.mistakes) }
        self.keys = keys
        self.flow = flow
    }
}

/// What hashing a password takes.
struct HashingSettings: Sendable {
    let parameters: Argon2Parameters
    let workers: Int
    let queue: Int

    init(_ source: SettingSource) throws(SettingMistakes) {
        let hashing: (parameters: Argon2Parameters, workers: Int)
        (hashing, queue) = try source.read { reader in
            (reader.hashing(), reader.integer(.argon2Queue, in: 1...10_000))
        }
        (parameters, workers) = hashing
    }
}

/// How much is logged, and in which form.
struct LogSettings: Sendable {
    let level: Logger.Level
    let isJSON: Bool
}

struct Address: Sendable {
    let host: String
    let port: Int

    /// `host:port`, with brackets around an IPv6 address.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), colon > text.startIndex
        else { return nil }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        self.host = String(isBracketed ? host.dropFirst().dropLast() : host)
        self.port = port
    }
}

extension SettingSource {
    /// For commands that need little: reads it, or throws all that is wrong with it.
    func read<Value>(_ body: (inout SettingReader) -> Value) throws(SettingMistakes) -> Value {
        var reader = SettingReader(self)
        let value = body(&reader)
        if !reader.mistakes.isEmpty { throw SettingMistakes(all: reader.mistakes) }
        return value
    }
}

struct SettingMistakes: Error, CustomStringConvertible {
    let all: [String]

    var description: String { all.joined(separator: "\n") }
}

/// Where settings come from: a flag, before the environment, before a file that the environment names.
struct SettingSource: Sendable {
    private let flags: [Setting: String]
    private let environment: [String: String]

    init(
        _ flags: [Setting: String?] = [:],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.flags = flags.compactMapValues { $0 }
        self.environment = environment
    }

    /// Nil where the setting is nowhere, or empty. A file ends with at most one line break that is not part of it.
    func text(_ setting: Setting) throws -> String? {
        let name = setting.rawValue
        for text in [flags[setting], environment[name]] {
            if let text, !text.isEmpty { return text }
        }
        guard let path = environment["\(name)_FILE"], !path.isEmpty else { return nil }
        // To the end, also where it is a pipe that gives a piece at a time.
        let data = try FileHandle(forReadingFrom: URL(filePath: path)).readToEnd() ?? Data()
        guard var text = String(validating: data, as: UTF8.self) else {
            throw CocoaError(.fileReadInapplicableStringEncoding)
        }
        if text.last?.isNewline == true { text.removeLast() }
        return text.isEmpty ? nil : text
    }
}

struct SettingReader {
    private let source: SettingSource
    private(set) var mistakes: [String] = []
    /// What was read already: a pipe has it once only, and a mistake is told once only.
    private var known: [Setting: String?] = [:]

    init(_ source: SettingSource) {
        self.source = source
    }

    mutating func mistake(_ text: String) {
        mistakes.append(text)
    }

    mutating func text(_ name: Setting) -> String? {
        if let text = known[name] { return text }
        var text: String?
        do {
            text = try source.text(name)
        } catch {
            mistake("\(name.rawValue)_FILE cannot be read")
            unreadable.insert(name)
        }
        known[name] = .some(text)
        return text
    }

    private var unreadable: Set<Setting> = []

    mutating func standardText(_ name: Setting) -> String {
        guard let text = text(name) ?? name.standard else { preconditionFailure("\(name) has no standard") }
        return text
    }

    mutating func missing(_ name: Setting) -> String {
        if !unreadable.contains(name) { mistake("\(name.rawValue) is missing") }
        return ""
    }

    /// Values of secrets are not repeated in what is said about them.
    mutating func value<Value>(_ name: Setting, _ parse: (String) throws -> Value) -> Value? {
        guard let text = text(name) else { return nil }
        do {
            return try parse(text)
        } catch {
            mistake("\(name.rawValue): \(error)")
            return nil
        }
    }

    mutating func keys() -> KeyRing? {
        guard text(.keys) != nil else {
            _ = missing(.keys)
            return nil
        }
        return value(.keys) { try KeyRing($0) }
    }

    mutating func integer(_ name: Setting, in range: ClosedRange<Int>) -> Int {
        guard let standard = name.standard.flatMap({ Int($0) }) else {
            preconditionFailure("\(name) has no standard that is a number")
        }
        return givenInteger(name, in: range) ?? standard
    }

    mutating func givenInteger(_ name: Setting, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            mistake("\(name.rawValue) is a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    mutating func list(_ name: Setting) -> [String] {
        (text(name) ?? "").split(separator: ",").map { String($0.trimmingWhitespace()) }
    }

    /// As browsers write them: scheme and host, and a port that is not the usual one.
    mutating func origins(_ name: Setting) -> Set<String> {
        let origins = list(name)
        for origin in origins {
            let url = URLComponents(string: origin)
            guard let url, ["http", "https"].contains(url.scheme), url.host?.isEmpty == false, url.path.isEmpty,
                url.query == nil, url.fragment == nil, url.user == nil
            else {
                mistake("\(name.rawValue) is a list of origins such as https://app.example.com, by comma")
                break
            }
        }
        return Set(origins)
    }

    mutating func blocks(_ name: Setting) -> [IPBlock] {
        list(name).compactMap { text in
            let block = IPBlock(text)
            if block == nil {
                mistake("\(name.rawValue) is a list of addresses and blocks such as 10.0.0.0/8, by comma")
            }
            return block
        }
    }

    mutating func address(_ name: Setting) -> Address {
        if let address = Address(standardText(name)) { return address }
        mistake("\(name.rawValue) is host:port")
        return Address("localhost:0")!
    }

    /// Scheme, host and port, without a slash at the end.
    mutating func publicURL(_ name: Setting) -> String {
        let text = standardText(name)
        guard let url = URLComponents(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false,
            ["", "/"].contains(url.path), url.query == nil, url.fragment == nil, url.user == nil
        else {
            mistake("\(name.rawValue) is http:// or https:// with a host, and a port if need be, and nothing more")
            return text
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    mutating func flow(_ name: Setting) -> Flow? {
        do throws(FlowFileError) {
            guard let path = text(name) else { return try Flow.standard() }
            return try Flow(contentsOf: path)
        } catch {
            mistake("\(name.rawValue): \(error)")
            return nil
        }
    }

    mutating func hashing() -> (parameters: Argon2Parameters, workers: Int) {
        let parameters = argon2()
        // One core is for those who do not hash.
        let workers = givenInteger(.argon2Workers, in: 1...256) ?? max(1, Machine.cores - 1)
        let (needed, room) = (workers * (parameters.memoryKiB / 1024 + 2), Machine.memory >> 20)
        if needed >= room {
            mistake("ARGON2_WORKERS times ARGON2_MEMORY_KIB is \(needed) MiB, of \(room) that there are")
        }
        return (parameters, workers)
    }

    mutating func priority() -> DedicatedThread.Priority {
        if let priority = DedicatedThread.Priority(rawValue: standardText(.argon2Priority)) { return priority }
        mistake("ARGON2_PRIORITY is idle or normal")
        return .idle
    }

    private mutating func argon2() -> Argon2Parameters {
        let parameters = Argon2Parameters(
            memoryKiB: integer(.argon2Memory, in: 8...4_194_304),
            iterations: integer(.argon2Iterations, in: 1...1000)
        )
        if !parameters.meetsFloor {
            mistake("ARGON2_MEMORY_KIB and ARGON2_ITERATIONS are below every row of the OWASP table (19456 with 2, …)")
        } else if !parameters.isWithinBounds {
            mistake("ARGON2_MEMORY_KIB and ARGON2_ITERATIONS are more than 262144 KiB or 10 iterations")
        }
        return parameters
    }

    mutating func logging() -> LogSettings {
        let level = Logger.Level(rawValue: standardText(.logLevel))
        if level == nil { mistake("LOG_LEVEL is trace, debug, info, notice, warning, error or critical") }
        let format = text(.logFormat) ?? (isatty(STDERR_FILENO) == 1 ? "text" : "json")
        if !["json", "text"].contains(format) { mistake("LOG_FORMAT is json or text") }
        return LogSettings(level: level ?? .info, isJSON: format == "json")
    }
}

/// The settings as flags, of the same names.
struct SettingFlags: ParsableArguments {
    @Option(help: .of(.databaseURL)) var databaseUrl: String?
    @Option(help: .of(.listen)) var listen: String?
    @Option(help: .of(.metricsListen)) var metricsListen: String?
    @Option(help: .of(.publicURL)) var publicUrl: String?
    @Option(help: .of(.flowFile), completion: .file(extensions: ["yaml", "yml"])) var flowFile: String?
    @Option(help: .of(.assetsDirectory), completion: .directory) var assetsDir: String?
    @Option(help: .of(.smtpURL)) var smtpUrl: String?
    @Option(help: .of(.mailFrom)) var mailFrom: String?
    @Option(help: .of(.serviceName)) var serviceName: String?
    @Option(help: .of(.allowedOrigins)) var allowedOrigins: String?
    @Option(help: .of(.trustedProxies)) var trustedProxies: String?
    @Option(help: .of(.argon2Memory)) var argon2MemoryKib: String?
    @Option(help: .of(.argon2Iterations)) var argon2Iterations: String?
    @Option(help: .of(.argon2Workers)) var argon2Workers: String?
    @Option(help: .of(.argon2Queue)) var argon2Queue: String?
    @Option(help: .of(.argon2Wait)) var argon2Wait: String?
    @Option(help: .of(.argon2Priority)) var argon2Priority: String?
    @Option(help: .of(.imageWorkers)) var imageWorkers: String?
    @Option(help: .of(.databaseConnections)) var databaseConnections: String?
    @Option(help: .of(.shutdownDelay)) var shutdownDelay: String?
    @Option(help: .of(.shutdownTimeout)) var shutdownTimeout: String?
    @Option(help: .of(.logLevel)) var logLevel: String?
    @Option(help: .of(.logFormat)) var logFormat: String?

    var source: SettingSource {
        SettingSource([
            .databaseURL: databaseUrl, .listen: listen, .metricsListen: metricsListen, .publicURL: publicUrl,
            .flowFile: flowFile, .assetsDirectory: assetsDir, .smtpURL: smtpUrl, .mailFrom: mailFrom,
            .serviceName: serviceName,
            .allowedOrigins: allowedOrigins, .trustedProxies: trustedProxies, .argon2Memory: argon2MemoryKib,
            .argon2Iterations: argon2Iterations, .argon2Workers: argon2Workers, .argon2Queue: argon2Queue,
            .argon2Wait: argon2Wait, .argon2Priority: argon2Priority, .imageWorkers: imageWorkers,
            .databaseConnections: databaseConnections, .shutdownDelay: shutdownDelay,
            .shutdownTimeout: shutdownTimeout, .logLevel: logLevel, .logFormat: logFormat,
        ])
    }
}

extension ArgumentHelp {
    static func of(_ setting: Setting) -> ArgumentHelp {
        let standard = setting.standard.map { "; \($0)" } ?? ""
        return ArgumentHelp("\(setting.meaning) (\(setting.rawValue)\(standard))")
    }
}
