import Accounts
import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves sign-ups until it is told to stop (SIGTERM, SIGINT).",
        discussion: "Settings come from flags or the environment; NAME_FILE reads a secret from a file."
    )

    @OptionGroup var flags: SettingFlags
    @Flag(help: "Brings the database to the schema of this version first; for a service of one node.")
    var migrate = false

    func run() async throws {
        let settings = try Settings(flags.source)
        // A reader that went away is an error of the write, not the end of the server.
        signal(SIGPIPE, SIG_IGN)
        let level = settings.logging.level
        let isJSON = settings.logging.isJSON
        LoggingSystem.bootstrap { _ in LineLogger(isJSON: isJSON, logLevel: level) }
        let logger = Logger(label: "accounts")
        if migrate {
            for name in try Migrations().apply(to: settings.databaseURL) {
                logger.notice("migrated", metadata: ["migration": "\(name)"])
            }
        }
        try await Server(settings, logger: logger).run()
    }
}

/// The running service: what stands on what, from the database up.
struct Server {
    private let settings: Settings
    private let logger: Logger

    init(_ settings: Settings, logger: Logger) {
        self.settings = settings
        self.logger = logger
    }

    func run() async throws {
        try Argon2.selfTest()
        let database = Database(settings.databaseURL, connections: settings.databaseConnections, logger: logger)
        do {
            try await Migrations().check(database)
            for setting in try await database.settingsThatLogValues() {
                logger.warning("PostgreSQL may log what people type; set it to 0", metadata: ["setting": "\(setting)"])
            }
            try await serve(on: database)
        } catch {
            await database.shutdown()
            throw error
        }
    }

    private func serve(on database: Database) async throws {
        let hashing = try HashingPool(
            parameters: settings.argon2,
            workers: settings.argon2Workers,
            queue: settings.argon2Queue
        )
        let outbox = Outbox(keys: settings.keys)
        let smtp = try settings.smtpURL.map { try SMTPMailer(url: $0) }
        let sender = OutboxSender(
            outbox: outbox,
            database: database,
            mailer: smtp ?? TerminalMailer(),
            from: settings.mailFrom,
            serviceName: settings.serviceName,
            publicURL: settings.publicURL,
            logger: logger
        )
        let signups = Signups(
            flow: settings.flow,
            serviceName: settings.serviceName,
            database: database,
            keys: settings.keys,
            hashing: hashing,
            outbox: outbox
        )
        var configuration = ServiceGroupConfiguration(
            services: [
                database, Partitions(database: database, logger: logger), Reaper(signups: signups, logger: logger),
                sender, application(signups, database, settings),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = settings.shutdownTimeout
        let impatience = Task { await endAtSecondSignal() }
        defer { impatience.cancel() }
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch {
            await smtp?.shutdown()
            throw error
        }
        await smtp?.shutdown()
        hashing.shutdown()
    }

    /// The first signal lets requests finish. Who sends another does not want to wait for them.
    private func endAtSecondSignal() async {
        var isStopping = false
        for await signal in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
            if isStopping {
                logger.critical("stopped at once")
                _exit(128 + signal.rawValue)
            }
            logger.notice("stopping")
            isStopping = true
        }
    }

    private func application(_ signups: Signups, _ database: Database, _ settings: Settings) -> some ApplicationProtocol
    {
        let routes = Routes(
            signups: signups,
            database: database,
            publicURL: settings.publicURL,
            allowedOrigins: settings.allowedOrigins,
            trustedProxies: settings.trustedProxies
        )
        let logger = logger
        let wire = WireLimits()
        return Application(
            router: routes.router(),
            server: routes.server(within: wire),
            configuration: .init(
                address: .hostname(settings.listen.host, port: settings.listen.port),
                serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(wire.connections)
            ),
            onServerRunning: { channel in
                logger.notice("serving", metadata: ["address": "\(channel.localAddress?.description ?? "unknown")"])
            },
            logger: logger
        )
    }
}
