import Accounts
import ArgumentParser
import Foundation
import Logging

/// The table of all settings, in the order of the documentation. Apart from the variables of these settings
/// (``SettingSource``), the server takes settings only from the variables of libpq, such as `PGPASSFILE`.
struct SettingTable: Sendable {
    let databaseURL = Setting(
        "DATABASE_URL",
        default: .required,
        mask: withoutPassword,
        """
        libpq connection string or URI of the PostgreSQL database; a host that is not loopback needs \
        sslmode=verify-full, or a weaker sslmode in the string itself, with which the server logs a warning
        """,
        parse: connectionString
    )
    let keys = Setting(
        "ACCOUNTS_KEYS",
        default: .required,
        hasFlag: false,
        """
        encryption keys as id:v2:base64(32 bytes)[,others…], where an id has 1 to 32 letters and digits; the first \
        key encrypts new data; the others only decrypt, and verify passwords. A key as id:base64(32 bytes) is a v1 \
        key, without a pepper for passwords
        """,
        parse: { try KeyRing($0) }
    )
    let listen = Setting(
        "LISTEN",
        default: .text("127.0.0.1:8080"),
        "host:port that the server listens on",
        parse: address
    )
    let metricsListen = Setting(
        "METRICS_LISTEN",
        default: .text("127.0.0.1:9090"),
        "host:port, other than LISTEN, that serves the metrics to Prometheus; the value off disables the metrics",
        parse: { $0 == "off" ? nil : try address($0) }
    )
    let publicURL = Setting(
        "PUBLIC_URL",
        default: .text("http://localhost:8080"),
        """
        URL at which clients reach the service, with only a scheme, a host and an optional port; https unless the \
        host is loopback or INSECURE_HTTP is allowed. With https, the names of the cookies begin with __Host-, and \
        the cookies are Secure
        """,
        parse: baseURL
    )
    let insecureHTTP = Setting(
        "INSECURE_HTTP",
        default: .text("refused"),
        """
        INSECURE_HTTP=allowed permits a PUBLIC_URL with http whose host is not loopback; clients then send passwords \
        and tokens unencrypted. Otherwise such a PUBLIC_URL is refused, because it may be a typing error
        """,
        parse: oneOf(InsecureHTTP.self)
    )
    let flow = Setting(
        "FLOW_FILE",
        default: .derived("built in") { try Flow.standard(among: $0.read(\.texts)) },
        completion: .file(extensions: ["yaml", "yml"]),
        "YAML file that defines the steps and fields of a sign-up: see flow.md",
        parse: flowFile
    )
    /// The languages that the service has.
    let texts = Setting<[Language]>(
        "TEXTS_FILE",
        default: .computed("built in") { Language.builtIn },
        completion: .file(extensions: ["yaml", "yml"]),
        "YAML file with texts in place of built-in ones, and with further languages: see texts.md",
        parse: textsFile
    )
    /// The path of the applications file; nil if it is not set. Then the service has no applications.
    let applicationsFile = Setting<String?>(
        "APPLICATIONS_FILE",
        default: .empty(nil),
        completion: .file(extensions: ["yaml", "yml"]),
        """
        YAML file that registers the applications that use the accounts: see applications.md. Without it there are \
        none, and the paths for them answer 404. The server reads it again on SIGHUP
        """,
        parse: { path in
            _ = try YAMLText.read(path)
            return path
        }
    )
    let eventNetworks = Setting(
        "EVENT_NETWORKS",
        default: .empty([]),
        """
        private networks with receivers of webhooks and back-channel logouts, separated by commas: addresses and \
        blocks such as 10.20.0.0/16,fd12:3456:789a::/48. Without a value, webhooks and logouts go only to public \
        addresses and, if PUBLIC_URL is http, to loopback addresses
        """,
        parse: { try items(of: $0).map(privateBlock) }
    )
    let assets = Setting(
        "ASSETS_DIR",
        default: .computed("built in") { Assets.builtIn },
        completion: .directory,
        "directory with templates, style sheet and script of the pages; built-in files replace those that are missing",
        parse: { try Assets(directory: $0) }
    )
    /// The content of the brand file; nil if it is not set.
    let brand = Setting<Brand?>(
        "BRAND_FILE",
        default: .empty(nil),
        completion: .file(extensions: ["yaml", "yml"]),
        "YAML file with the name, logo, colours, font and links of the pages: see branding.md",
        parse: brandFile
    )
    let smtpURL = Setting<MailRoute>(
        "SMTP_URL",
        default: .empty(.unset),
        mask: withoutCredentials,
        """
        SMTP server as smtp://user:password@host:587 or smtps://…, with percent-encoded user and password; the \
        default ports are 587 and 465. smtp:// uses TLS if the mail server offers it, and requires TLS if the host is \
        not loopback, if the URL has a password, or if the URL ends with ?tls=required; with ?tls=optional, it never \
        requires TLS. SMTP_URL=terminal: (with the colon) prints mail to standard output. Without a value, the service \
        prints mail if PUBLIC_URL is http, and does not start if PUBLIC_URL is https
        """,
        parse: { $0 == "terminal:" ? .terminal : .smtp(try SMTPServer(url: $0)) }
    )
    let smtpConnections = Setting(
        "SMTP_CONNECTIONS",
        default: .text("10"),
        """
        connections from each replica to the mail server, from 1 to 64: the number of mails that a replica sends at \
        the same time; set at most the number of connections that the mail server allows
        """,
        parse: integer(in: 1...64)
    )
    let mailFrom = Setting(
        "MAIL_FROM",
        default: .text("no-reply@localhost"),
        "sender address of mail",
        parse: mailAddress
    )
    /// The name in this setting; nil if it is not set. ``Settings/serviceName`` is the name that the service uses.
    let serviceName = Setting<String?>(
        "SERVICE_NAME",
        default: .computed("the name in the flow file, otherwise Accounts") { nil },
        "name of the service in mail, on pages and in authenticator apps; a name in BRAND_FILE takes precedence",
        parse: line
    )
    let allowedOrigins = Setting(
        "ALLOWED_ORIGINS",
        default: .empty([]),
        """
        origins, separated by commas, whose pages may send requests with the cookies of this service, in addition to \
        PUBLIC_URL; if PUBLIC_URL is https, origins with http are refused unless their host is loopback
        """,
        parse: { Set(try items(of: $0).map(origin)) }
    )
    let trustedProxies = Setting(
        "TRUSTED_PROXIES",
        default: .empty([]),
        """
        proxies whose X-Forwarded-For header is trusted, separated by commas: addresses and blocks such as 10.0.0.0/8. \
        All clients behind a proxy that is not listed count as one client and share its rate limits
        """,
        parse: { try items(of: $0).map(block) }
    )
    let afterSignupURL = Setting<String?>(
        "AFTER_SIGNUP_URL",
        default: .empty(nil),
        """
        URL to which the last page of a sign-up leads, unless the sign-up leads back to an application or to a page on \
        a host of FORWARD_AUTH_HOSTS; without a value, the page leads to the account
        """,
        parse: webURL
    )
    let forwardAuthHosts = Setting(
        "FORWARD_AUTH_HOSTS",
        default: .empty([]),
        """
        hosts, separated by commas, of applications whose reverse proxies may ask the service who has sent a request; \
        write each host with its port unless the port is the default one: see forward-auth.md
        """,
        parse: { Set(try items(of: $0).map(host)) }
    )
    /// The list of breached passwords; nil if it is not set.
    let breachedPasswords = Setting<BreachedList?>(
        "BREACHED_PASSWORDS_FILE",
        default: .empty(nil),
        completion: .file(extensions: ["txt"]),
        """
        sorted file with a hash of a breached password in each line, as HASH or HASH:COUNT: SHA-1 with 40 or NTLM \
        with 32 hexadecimal digits. If the lines have only the first digits of each hash, at least 10, put the kind \
        of hash before the path, as in sha1:/srv/list.txt or ntlm:/srv/list.txt. The service refuses these passwords
        """,
        parse: { try BreachedList($0) }
    )
    let argon2Memory = Setting(
        "ARGON2_MEMORY_KIB",
        default: .text("19456"),
        """
        memory for each hash in KiB, up to 262144. Together with ARGON2_ITERATIONS, it must reach one of the minimum \
        configurations of the OWASP Password Storage Cheat Sheet, such as 19456 KiB with 2 iterations. Do not lower \
        it while accounts have hashes with more memory: then the server could not check the passwords of these accounts
        """,
        parse: integer(in: 8...Argon2Parameters.ceiling.memoryKiB)
    )
    let argon2Iterations = Setting(
        "ARGON2_ITERATIONS",
        default: .text("2"),
        "passes over the memory for each hash, up to 10; see ARGON2_MEMORY_KIB",
        parse: integer(in: 1...Argon2Parameters.ceiling.iterations)
    )
    let argon2Workers = Setting(
        "ARGON2_WORKERS",
        // If there are several cores, one remains for everything else.
        default: .computed("number of cores minus one, at least 1") { max(1, Machine.cores - 1) },
        "hashes computed at the same time, up to 256; the server allocates the memory of all of them when it starts",
        parse: integer(in: 1...256)
    )
    let argon2Queue = Setting(
        "ARGON2_QUEUE",
        default: .text("32"),
        "maximum number of passwords that wait for a hash, up to 10000; client networks share a full queue fairly",
        parse: integer(in: 1...10_000)
    )
    let argon2Wait = Setting(
        "ARGON2_WAIT",
        default: .text("5"),
        """
        maximum seconds that a password waits for a hash, from 1 to 60, estimated from the latest hashes; a password \
        that would wait longer is rejected immediately
        """,
        parse: seconds(in: 1...60)
    )
    let argon2Priority = Setting(
        "ARGON2_PRIORITY",
        default: .text("idle"),
        "with idle, all other work on the machine runs before hashing; with normal, hashing competes with it",
        parse: oneOf(DedicatedThread.Priority.self)
    )
    let imageWorkers = Setting(
        "IMAGE_WORKERS",
        default: .text("1"),
        "images processed at the same time, from 1 to 16, each in its own process, which briefly uses up to 320 MiB",
        parse: integer(in: 1...16)
    )
    let imageSandbox = Setting(
        "IMAGE_SANDBOX",
        default: .text("required"),
        """
        what happens to images if the kernel refuses the seccomp filter that confines the image decoders: with \
        required, the service refuses images with 503; with optional, it decodes them without the filter
        """,
        parse: oneOf(ImageSandbox.self)
    )
    let databaseConnections = Setting(
        "DATABASE_CONNECTIONS",
        default: .text("5"),
        """
        connections to PostgreSQL, from 2 to 64. Half of them, rounded down and at most 4, run statements that only \
        read or that write a single row, and combine several of them in one transaction; the other connections run \
        everything else
        """,
        parse: integer(in: 2...64)
    )
    let shutdownDelay = Setting(
        "SHUTDOWN_DELAY",
        default: .text("0"),
        "seconds, up to 3600, that the server keeps serving after a stop signal, so that load balancers notice it",
        parse: seconds(in: 0...3600)
    )
    let shutdownTimeout = Setting(
        "SHUTDOWN_TIMEOUT",
        default: .text("30"),
        "maximum seconds, from 1 to 3600, that the server waits for open requests to finish, after the SHUTDOWN_DELAY",
        parse: seconds(in: 1...3600)
    )
    let logLevel = Setting(
        "LOG_LEVEL",
        default: .text("info"),
        completion: .list(Logger.Level.allCases.map(\.rawValue)),
        "lowest level that is logged: trace, debug, info, notice, warning, error or critical",
        parse: oneOf(Logger.Level.self)
    )
    let logFormat = Setting(
        "LOG_FORMAT",
        default: .computed("text on a terminal, otherwise json") { isatty(STDERR_FILENO) == 1 ? .text : .json },
        "json or text; the default is text if standard error is a terminal",
        parse: oneOf(LogFormat.self)
    )

    static let shared = SettingTable()

    /// All settings, in the order of their declarations.
    static let entries = Mirror(reflecting: shared).children.map { child in
        guard let setting = child.value as? any AnySetting else {
            preconditionFailure("SettingTable has a property that is not a Setting")
        }
        return setting
    }

    /// The setting that a key path such as `\.listen` names.
    static func entry(_ setting: PartialKeyPath<SettingTable>) -> any AnySetting {
        guard let entry = shared[keyPath: setting] as? any AnySetting else { preconditionFailure("not a setting") }
        return entry
    }
}

enum LogFormat: String, CaseIterable, Sendable {
    case json
    case text
}

/// Whether `PUBLIC_URL` may be http with a host that is not loopback.
enum InsecureHTTP: String, CaseIterable, Sendable {
    case refused
    case allowed
}

/// The destination of mail.
enum MailRoute: Equatable, Sendable {
    /// `SMTP_URL` is not set. Mail is printed, which is permitted only if `PUBLIC_URL` is http.
    case unset
    /// The operator wants mail to be printed.
    case terminal
    case smtp(SMTPServer)

    /// The mail server; nil if mail is printed.
    var server: SMTPServer? {
        if case .smtp(let server) = self { server } else { nil }
    }
}

// MARK: Parsers

/// The error for a connection string that is refused. The description says why, and quotes no secret.
private struct RefusedSettingText: Error, CustomStringConvertible {
    let description: String
}

/// The error for a text that does not have the form that a setting needs.
struct InvalidSettingText: Error {
    let text: String
    /// A description of valid texts, such as "a whole number from 1 to 60".
    let expected: String

    /// The error message. Does not quote a text of more than 80 characters, or a text that may contain a secret: the
    /// content of a file, or a URL with a user or password.
    func message(isFromFile: Bool) -> String {
        let isQuoted = !isFromFile && text.count <= 80 && !(text.contains("//") && text.contains("@"))
        return isQuoted ? "\"\(text.printable)\" is invalid; use \(expected)" : "invalid; use \(expected)"
    }
}

/// Accepts a connection string that libpq can parse. Refuses a connection to a remote host with another `sslmode` than
/// `verify-full`, unless the string itself contains an `sslmode`. One in the environment or in a service file does not
/// count.
@Sendable
private func connectionString(_ text: String) throws -> String {
    guard let connection = ConnectionString(text) else {
        throw RefusedSettingText(
            description: """
                libpq cannot parse it or find its service; use keywords such as host=… dbname=…, or a URI in which \
                special characters of the password are percent-encoded
                """
        )
    }
    guard connection.isUnverified, !connection.statesSSLMode else { return text }
    // If the text has several `@`, libpq may have taken a part of the password for the host, so the host is not quoted.
    let isQuoted = text.count { $0 == "@" } <= 1
    let hosts = isQuoted ? "\"\(connection.remoteHosts.joined(separator: ",").printable)\"" : "another machine"
    throw RefusedSettingText(
        description: """
            the connection to \(hosts) with sslmode=\(connection.sslMode) does not fully verify the server; add \
            sslmode=verify-full, and sslrootcert if needed, or accept the risk by adding another sslmode
            """
    )
}

/// Returns the connection string; if it may contain a secret, only the host and the name of the database. If libpq
/// cannot parse the string, or may have taken a part of the password for the host, returns only dots.
@Sendable
private func withoutPassword(_ text: String) -> String {
    // If the text has several `@`, or one behind the first slash of a URI, libpq may have taken a part of the password
    // for the host, the port or the database.
    let path = text.firstRange(of: "://").map { text[$0.upperBound...].drop { $0 != "/" } } ?? ""
    guard let connection = ConnectionString(text), text.count(where: { $0 == "@" }) <= 1, !path.contains("@") else {
        return "•••"
    }
    let isSecret = connection.containsPassword || ["password", "secret"].contains { text.lowercased().contains($0) }
    return isSecret ? "••• \(connection.destination)" : text
}

@Sendable
private func withoutCredentials(_ text: String) -> String {
    if text == "terminal:" { return text }
    guard let server = try? SMTPServer(url: text) else { return "•••" }
    return text.contains("@") ? server.url.replacing("://", with: "://•••@", maxReplacements: 1) : server.url
}

/// Reads the flow file, which may have texts in the languages of the texts file. If the texts file has mistakes, the
/// flow file cannot be validated: throws the mistakes of the texts file or, if the flow file cannot be read, the error
/// that says so.
@Sendable
private func flowFile(_ path: String, _ source: SettingSource) throws -> Flow {
    let languages: [Language]
    do throws(SettingMistakes) {
        languages = try source.read(\.texts)
    } catch {
        if !FileManager.default.isReadableFile(atPath: path) { return try Flow(contentsOf: path) }
        throw error
    }
    do throws(YAMLFileError) {
        return try Flow(contentsOf: path, among: languages)
    } catch {
        throw SettingMistakes(all: error.all.map { "FLOW_FILE: \($0)" })
    }
}

/// Reports each mistake of the file as a mistake of the setting.
@Sendable
private func textsFile(_ path: String) throws -> [Language] {
    do throws(TextsFileError) {
        return try TextsFile(contentsOf: path).languages
    } catch {
        throw SettingMistakes(all: error.mistakes.map { "TEXTS_FILE: \($0)" })
    }
}

/// Reports each mistake of the file as a mistake of the setting.
@Sendable
private func brandFile(_ path: String) throws -> Brand? {
    do throws(BrandFileError) {
        return try Brand(contentsOf: path)
    } catch {
        throw SettingMistakes(all: error.mistakes.map { "BRAND_FILE: \($0)" })
    }
}

/// Accepts one line without control characters.
@Sendable
private func line(_ text: String) throws -> String {
    guard text.unicodeScalars.allSatisfy(\.isAllowedInLine) else {
        throw InvalidSettingText(text: text, expected: "one line without control characters")
    }
    return text
}

/// The items of a list that is separated by commas.
private func items(of text: String) -> [String] {
    text.split(separator: ",").map { String($0.trimmingWhitespace()) }
}

private func integer(in range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
    { text in
        guard let number = Int(text), range.contains(number) else {
            throw InvalidSettingText(
                text: text,
                expected: "a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }
}

private func seconds(in range: ClosedRange<Int>) -> @Sendable (String) throws -> Duration {
    { .seconds(try integer(in: range)($0)) }
}

private func oneOf<Word: RawRepresentable<String> & CaseIterable & SendableMetatype>(
    _: Word.Type
) -> @Sendable (String) throws -> Word {
    { text in
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue)
            let all = words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
            throw InvalidSettingText(text: text, expected: all)
        }
        return word
    }
}

@Sendable
private func address(_ text: String) throws -> Address {
    guard let address = Address(text) else {
        throw InvalidSettingText(text: text, expected: "host:port with a port from 0 to 65535")
    }
    return address
}

@Sendable
private func mailAddress(_ text: String) throws -> String {
    guard Mail.isAddress(text) else {
        throw InvalidSettingText(text: text, expected: "an address such as no-reply@example.com")
    }
    return text
}

@Sendable
private func block(_ text: String) throws -> IPBlock {
    guard let block = IPBlock(text) else {
        throw InvalidSettingText(text: text, expected: "an address or a block such as 10.0.0.0/8")
    }
    return block
}

@Sendable
private func privateBlock(_ text: String) throws -> IPBlock {
    guard let block = IPBlock(text), block.isPrivate else {
        let networks = "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 or fc00::/7"
        throw InvalidSettingText(text: text, expected: "an address or a block within \(networks)")
    }
    return block
}

/// Accepts a host with an optional port. Returns it in lower case, as browsers send it in `Host`.
@Sendable
private func host(_ text: String) throws -> String {
    let marks = Set(".-:[]".utf8)
    guard text.utf8.allSatisfy({ $0.isASCIIAlphanumeric || marks.contains($0) }), isOrigin("https://\(text)") else {
        throw InvalidSettingText(text: text, expected: "a host such as app.example.com or localhost:8000")
    }
    return text.lowercased()
}

/// Accepts an absolute http or https URL without a user.
@Sendable
private func webURL(_ text: String) throws -> String {
    let url = URLComponents(string: text)
    guard let url, ["http", "https"].contains(url.scheme), url.host?.isEmpty == false, url.user == nil else {
        throw InvalidSettingText(text: text, expected: "http:// or https:// with a host and without a user")
    }
    return text
}

/// Accepts a URL that has only a scheme, a host and an optional port. Removes a slash at its end.
@Sendable
private func baseURL(_ text: String) throws -> String {
    let base = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard isOrigin(base) else {
        throw InvalidSettingText(text: text, expected: "http:// or https:// with only a host and an optional port")
    }
    return base
}

/// Accepts a scheme, a host and an optional port. Returns them in lower case and without a default port, as browsers
/// write them in `Origin`.
@Sendable
private func origin(_ text: String) throws -> String {
    guard isOrigin(text) else {
        throw InvalidSettingText(text: text, expected: "an origin such as https://app.example.com")
    }
    return ApplicationURIRules.origin(of: text) ?? text
}

private func isOrigin(_ text: String) -> Bool {
    guard let url = URLComponents(string: text) else { return false }
    // Browsers write a name in its ASCII form, and a port without leading zeros.
    let hasUsualPort = url.port.map { text.hasSuffix(":\($0)") } ?? !text.hasSuffix(":")
    return ["http", "https"].contains(url.scheme) && url.host?.isEmpty == false && url.path.isEmpty
        && url.query == nil && url.fragment == nil && url.user == nil && text.utf8.allSatisfy { $0 < 0x80 }
        && hasUsualPort
}
