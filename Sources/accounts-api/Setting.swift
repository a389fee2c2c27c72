/// What the operator decides: every variable of the environment that is read, and nothing else is.
enum Setting: String, CaseIterable, Sendable {
    case databaseURL = "DATABASE_URL"
    case keys = "ACCOUNTS_KEYS"
    case listen = "LISTEN"
    case metricsListen = "METRICS_LISTEN"
    case publicURL = "PUBLIC_URL"
    case flowFile = "FLOW_FILE"
    case assetsDirectory = "ASSETS_DIR"
    case smtpURL = "SMTP_URL"
    case mailFrom = "MAIL_FROM"
    case serviceName = "SERVICE_NAME"
    case allowedOrigins = "ALLOWED_ORIGINS"
    case trustedProxies = "TRUSTED_PROXIES"
    case argon2Memory = "ARGON2_MEMORY_KIB"
    case argon2Iterations = "ARGON2_ITERATIONS"
    case argon2Workers = "ARGON2_WORKERS"
    case argon2Queue = "ARGON2_QUEUE"
    case argon2Wait = "ARGON2_WAIT"
    case argon2Priority = "ARGON2_PRIORITY"
    case imageWorkers = "IMAGE_WORKERS"
    case databaseConnections = "DATABASE_CONNECTIONS"
    case shutdownDelay = "SHUTDOWN_DELAY"
    case shutdownTimeout = "SHUTDOWN_TIMEOUT"
    case logLevel = "LOG_LEVEL"
    case logFormat = "LOG_FORMAT"

    /// What holds where nothing is said; nil where something has to be, or where nothing is a value of its own.
    var standard: String? {
        switch self {
        case .databaseURL, .keys, .smtpURL, .allowedOrigins, .trustedProxies: nil
        case .listen: "127.0.0.1:8080"
        case .metricsListen: "127.0.0.1:9090"
        case .publicURL: "http://localhost:8080"
        case .flowFile, .assetsDirectory: "built in"
        case .mailFrom: "no-reply@localhost"
        case .serviceName: "the flow's, or Accounts"
        case .argon2Memory: "19456"
        case .argon2Iterations: "2"
        case .argon2Workers: "the cores but one"
        case .argon2Queue: "32"
        case .argon2Wait: "5"
        case .argon2Priority: "idle"
        case .imageWorkers: "1"
        case .databaseConnections: "5"
        case .shutdownDelay: "0"
        case .shutdownTimeout: "30"
        case .logLevel: "info"
        case .logFormat: "json, or text on a terminal"
        }
    }

    var isRequired: Bool { self == .databaseURL || self == .keys }

    /// Such as `--database-url`. Keys travel in the environment or a file, where other users of the machine cannot read
    /// them.
    var flag: String? {
        self == .keys ? nil : "--" + rawValue.lowercased().replacing("_", with: "-")
    }

    var meaning: String {
        switch self {
        case .databaseURL: "libpq connection string or URI of PostgreSQL"
        case .keys: "id:base64(32 bytes)[,older…]: the first key seals drafts, all of them open"
        case .listen: "host:port to serve on"
        case .metricsListen: "host:port of the metrics for Prometheus; off for none"
        case .publicURL: "where clients reach the service; with https the cookie is __Host-signup and Secure"
        case .flowFile: "the flow as YAML"
        case .assetsDirectory: "templates, style and script of the pages; what is not in it is built in"
        case .smtpURL: "smtp://user:password@host:587 or smtps://…; unset prints mail on the terminal"
        case .mailFrom: "sender of mail"
        case .serviceName: "how mail names the service"
        case .allowedOrigins: "other origins that may use the cookie, by comma"
        case .trustedProxies:
            """
            proxies whose X-Forwarded-For counts, by comma: addresses and blocks such as 10.0.0.0/8. Behind one that is not \
            named all clients are one, and share its limits
            """
        case .argon2Memory: "memory of a hash in KiB; nothing below the OWASP table is accepted"
        case .argon2Iterations: "iterations of a hash"
        case .argon2Workers: "hashes at once; all of their memory is taken at the start"
        case .argon2Queue: "passwords that may wait for a hash; one more is refused at once"
        case .argon2Wait:
            "seconds that one may wait, as far as hashes take what they took lately; else it is refused at once"
        case .argon2Priority: "idle lets everything else on the machine go before hashing; normal does not"
        case .imageWorkers: "images at once, each in a process of its own that may take 320 MiB for a moment"
        case .databaseConnections: "connections to PostgreSQL, 2 to 64; half of them, but four at most, for steps"
        case .shutdownDelay: "seconds to go on serving once told to stop, until whoever balances the load has noticed"
        case .shutdownTimeout: "seconds that requests under way may take then"
        case .logLevel: "trace, debug, info, notice, warning, error or critical"
        case .logFormat: "json or text"
        }
    }
}
