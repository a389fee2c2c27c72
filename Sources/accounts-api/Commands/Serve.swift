import Accounts
import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the server until SIGTERM or SIGINT.",
        discussion: """
            Settings come from flags or environment variables; NAME_FILE names a file to read the value of NAME from.

            EXAMPLES
              accounts-api serve
              accounts-api serve --migrate --listen 127.0.0.1:8080
            """
    )

    @OptionGroup var flags: SettingFlags
    @Flag(help: "Applies pending migrations first; for a service with one server.")
    var migrate = false
    @Flag(help: "Starts even if the flow ends, and so erases, more than a tenth of the unfinished sign-ups.")
    var accept = false

    /// If the log format is JSON, logs at level critical why the server did not start, or why it failed.
    func run() async throws {
        do {
            try await start()
        } catch let error where !(error is ExitCode) && isLoggedAsJSON {
            let failure = CommandFailure(error, of: Self.self)
            let logger = Logger(label: "accounts") { _ in LineLogger(isJSON: true, logLevel: .critical) }
            for reason in (error as? SettingMistakes)?.all ?? [failure.message] {
                logger.critical(
                    "the server ended",
                    metadata: ["reason": "\(reason)", "exit": .stringConvertible(Int(failure.exit))]
                )
            }
            throw ExitCode(failure.exit)
        }
    }

    private var isLoggedAsJSON: Bool {
        if case .json? = try? flags.source.read(\.logFormat) { true } else { false }
    }

    private func start() async throws {
        let dumpError = MemoryDumps.forbid()
        let settings = try Settings(flags.source)
        try await settings.awaitPorts()
        // So that writing to a closed connection returns an error instead of killing the server.
        signal(SIGPIPE, SIG_IGN)
        // If the parent process has set SIGCHLD to ignored, the exit status of image processes would be lost.
        signal(SIGCHLD, SIG_DFL)
        // SIGHUP asks the server to reload the applications. Until the server can do that, the signal must not end it.
        if settings.applications != nil { signal(SIGHUP) { _ in } }
        let level = settings.logLevel
        let isJSON = settings.logFormat == .json
        LoggingSystem.bootstrap { _ in LineLogger(isJSON: isJSON, logLevel: level) }
        let logger = Logger(label: "accounts")
        for warning in settings.warnings { logger.warning(warning.message, metadata: warning.metadata) }
        if let dumpError { logger.warning("cannot forbid core dumps", metadata: ["reason": "\(dumpError)"]) }
        if migrate {
            for script in try Migrations().apply(to: settings.databaseURL) {
                logger.notice("migrated", metadata: ["migration": "\(script.name)"])
            }
        }
        try await Server(settings, logger: logger, acceptsLoss: accept).run()
    }
}

/// Makes the parts of the service in the order of their dependencies, and runs them.
struct Server {
    private let settings: Settings
    private let logger: Logger
    private let acceptsLoss: Bool

    /// - Parameter acceptsLoss: whether the server starts even if its flow ends more than a tenth of the unfinished
    ///   sign-ups.
    init(_ settings: Settings, logger: Logger, acceptsLoss: Bool = false) {
        self.settings = settings
        self.logger = logger
        self.acceptsLoss = acceptsLoss
    }

    func run() async throws {
        let metrics = Metrics()
        let database = Database(
            settings.databaseURL,
            connections: settings.databaseConnections,
            metrics: metrics,
            logger: logger
        )
        try await run(on: database, metrics)
    }

    /// Checks the database, and runs the service until it stops. Closes the connections to the database before it
    /// returns or throws.
    func run(on database: Database, _ metrics: Metrics) async throws {
        do {
            try Argon2.selfTest()
            let newer = try await Migrations().check(database)
            if !newer.isEmpty {
                logger.notice("the schema is newer", metadata: ["scripts": "\(newer.joined(separator: ", "))"])
            }
            let excess = try await database.rightsBeyondServing()
            if !excess.isEmpty {
                logger.warning(
                    "the database role may do more than serve",
                    metadata: ["reason": "it \(excess.map(\.rawValue).joined(separator: " and "))"]
                )
            }
            for setting in try await database.settingsThatLogValues() {
                logger.warning(
                    "PostgreSQL may log what people type; change this setting to 0 or off",
                    metadata: ["setting": "\(setting)"]
                )
            }
            let keyMismatch = try await settings.keys.mismatch(with: database)
            if let keyMismatch {
                logger.error("the keys do not fit the database", metadata: ["reason": "\(keyMismatch)"])
            }
            try await serve(on: database, metrics, keyMismatch)
        } catch {
            await database.shutdown()
            throw error
        }
    }

    /// - Parameter keyMismatch: the reason why the keys do not fit the database; nil if they do. If they do not, the
    ///   server refuses requests that need the keys, and sends neither mail nor events, but it erases expired data.
    private func serve(on database: Database, _ metrics: Metrics, _ keyMismatch: KeyMismatch?) async throws {
        // Trap signals before anything serves, so that no signal is missed.
        let reloads: [UnixSignal] = settings.applications == nil ? [] : [.sighup]
        let signals = await UnixSignalsSequence(trapping: [.sigterm, .sigint] + reloads)
        let shutdown = ShutdownSignal()
        let hashing = try HashingPool(
            parameters: settings.argon2,
            workers: settings.argon2Workers,
            queue: settings.argon2Queue,
            maximumWait: settings.argon2Wait,
            priority: settings.argon2Priority,
            metrics: metrics
        )
        let breached = settings.breachedPasswords.map { BreachedPasswords($0, logger: logger) }
        let images = ImagePool(
            // This path works even if the file of the executable has been replaced since the start.
            program: "/proc/self/exe",
            sandbox: settings.imageSandbox,
            workers: settings.imageWorkers,
            metrics: metrics,
            logger: logger
        )
        let outbox = Outbox(keys: settings.keys, languages: settings.texts)
        let smtp = settings.smtpURL.server.map { server in
            (0..<settings.smtpConnections).map { _ in SMTPMailer(to: server) }
        }
        let outboxSender = OutboxSender(
            outbox: outbox,
            database: database,
            mailers: smtp ?? [TerminalMailer()],
            from: settings.mailFrom,
            serviceName: settings.serviceName,
            publicURL: settings.publicURL,
            recoversSignIn: settings.flow.recoversSignIn,
            contact: settings.brand?.url(of: .help),
            metrics: metrics,
            logger: logger
        )
        let signups = Signups(
            flow: settings.flow,
            serviceName: settings.serviceName,
            database: database,
            keys: settings.keys,
            hashing: hashing,
            breached: breached,
            images: images,
            outbox: outbox,
            metrics: metrics
        )
        try await checkLoss(signups)
        // At the level debug, ServiceLifecycle would log all properties of each service.
        var lifecycle = logger
        lifecycle.logLevel = max(logger.logLevel, .info)
        var configuration = ServiceGroupConfiguration(
            services: [
                // Services stop in reverse order, so the funnel writer still writes what the reaper counts in its last
                // batch.
                database, Partitions(database: database, days: signups.partitions, metrics: metrics, logger: logger),
                FunnelWriter(signups: signups, logger: logger), Reaper(signups: signups, logger: logger),
            ],
            logger: lifecycle
        )
        if keyMismatch == nil { configuration.services.append(.init(service: outboxSender)) }
        // Transactions write only the events of the subscriptions in the database. Without an applications file, an
        // empty list is stored, which deletes the subscriptions of an earlier start.
        try await database.store(settings.applications?.current.subscribers ?? [])
        let transport = settings.applications.map { _ in
            CurlTransport(
                allowsLoopback: settings.publicURL.hasPrefix("http://"),
                networks: settings.eventNetworks
            )
        }
        let check = SubscriptionCheck(
            subscribers: { settings.applications?.current.subscribers ?? [] },
            database: database,
            logger: logger
        )
        configuration.services.append(.init(service: check))
        if keyMismatch == nil, let applications = settings.applications, let transport {
            let sender = eventSender(to: applications, over: transport, database, metrics)
            configuration.services.append(.init(service: sender))
        }
        if let address = settings.metricsListen {
            let monitor = Monitor(of: signups, version: BuildVersion.text, keyMismatch: keyMismatch)
            configuration.services += [.init(service: monitor), .init(service: metricsServer(monitor, at: address))]
        }
        let sessions = Sessions(signups: signups, failureTime: try await failureTime(), logger: logger)
        configuration.services.append(.init(service: sessions.importedKinds))
        configuration.services.append(
            .init(service: application(signups, sessions, database, settings, shutdown, keyMismatch))
        )
        configuration.maximumGracefulShutdownDuration = settings.shutdownTimeout
        let group = ServiceGroup(configuration: configuration)
        do {
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { await handle(signals, shutdown, group, database) }
                tasks.addTask { await tryImages(images) }
                try await group.run()
                tasks.cancelAll()
            }
        } catch {
            await shutDown(smtp ?? [])
            throw error
        }
        await shutDown(smtp ?? [])
        hashing.shutdown()
        breached?.shutdown()
        images.shutdown()
        transport?.shutdown()
    }

    /// Throws if the flow would end more than a tenth of the unfinished sign-ups, unless the operator accepts that.
    /// Otherwise logs a warning if the flow ends any, or if the database cannot count the sign-ups now.
    private func checkLoss(_ signups: Signups) async throws {
        let loss: Signups.EndedByFlow
        do throws(DatabaseError) {
            loss = try await signups.endedByFlow()
        } catch {
            guard error.isTemporary else { throw error }
            logger.warning(
                "cannot count the sign-ups that the flow ends",
                metadata: ["reason": "\(error)"]
            )
            return
        }
        if loss.ended == 0 { return }
        if loss.isTooMany, !acceptsLoss {
            throw Refused(
                description: "the flow \(settings.flow.id) would end \(loss.ended) of "
                    + "\(counted(loss.drafts, "unfinished sign-up")) now, because its \"idle\" is shorter than before: "
                    + "see accounts-api flow diff, and pass --accept once to erase them"
            )
        }
        logger.warning(
            "the flow ends sign-ups",
            metadata: [
                "ended": .stringConvertible(loss.ended), "drafts": .stringConvertible(loss.drafts),
                "flow": "\(settings.flow.id)",
            ]
        )
    }

    private func eventSender(
        to applications: ApplicationRegistry,
        over transport: CurlTransport,
        _ database: Database,
        _ metrics: Metrics
    ) -> EventSender {
        let keys = SigningKeys(database: database, keys: settings.keys)
        return EventSender(
            subscribers: { applications.current.subscribers },
            database: database,
            transport: transport,
            issuer: settings.publicURL,
            signLogout: { claims, application in
                let algorithm = applications.current[application]?.signingAlgorithm ?? .es256
                return try await keys.sign(claims, type: .logoutToken, by: algorithm)
            },
            metrics: metrics,
            logger: logger
        )
    }

    /// Returns the minimum duration of a failed sign-in: three times the measured duration of a hash, and at least
    /// 300 ms. The check of a stored hash usually takes less time than that, even if the hash was made with more costly
    /// parameters.
    private func failureTime() async throws -> Duration {
        try await max(
            .milliseconds(300),
            Calibration.measure(settings.argon2, workers: 1, samples: 1, for: .zero).time * 3
        )
    }

    /// Shuts all mailers down at the same time, because each may have to wait until its connection is closed.
    private func shutDown(_ mailers: [SMTPMailer]) async {
        await withDiscardingTaskGroup { tasks in
            for mailer in mailers { tasks.addTask { await mailer.shutdown() } }
        }
    }

    /// If the flow has images, processes a test image while the server starts. If that fails, logs the reason, so that
    /// the operator knows it before the first upload. Logs nothing if the pool rejects the image, because the pool is
    /// busy or the server stops.
    private func tryImages(_ images: ImagePool) async {
        guard settings.flow.fields.contains(where: \.kind.takesFile), let error = await images.trial() else { return }
        if case .rejected = error { return }
        logger.error(
            "images cannot be processed; requests with an image get 503",
            metadata: ["reason": "\(error)"]
        )
    }

    /// Reloads the applications on each SIGHUP. On the first other signal, starts a graceful shutdown after the
    /// shutdown delay. On a later one, exits immediately, unless ``StopSignals`` ignores the signal.
    private func handle(
        _ signals: UnixSignalsSequence,
        _ shutdown: ShutdownSignal,
        _ group: ServiceGroup,
        _ database: Database
    ) async {
        var stops = StopSignals()
        await withDiscardingTaskGroup { tasks in
            for await signal in signals {
                if signal == .sighup {
                    tasks.addTask { await settings.applications?.reload(logger, storingIn: database) }
                    continue
                }
                switch stops.receive(at: .now) {
                case .ignored: continue
                case .end:
                    logger.critical("stopped immediately")
                    _exit(128 + signal.rawValue)
                case .shutDown: shutdown.begin()
                }
                logger.notice("stopping")
                tasks.addTask {
                    try? await Task.sleep(for: settings.shutdownDelay)
                    await group.triggerGracefulShutdown()
                }
            }
        }
    }

    private func metricsServer(_ monitor: Monitor, at address: Address) -> some ApplicationProtocol {
        Application(
            router: MetricsRoutes(monitor: monitor).router(),
            configuration: .init(address: .hostname(address.host, port: address.port), serverName: nil),
            onServerRunning: { [logger] channel in
                logger.notice("serving metrics", metadata: Self.listenAddress(of: channel))
            },
            logger: logger
        )
    }

    private func application(
        _ signups: Signups,
        _ sessions: Sessions,
        _ database: Database,
        _ settings: Settings,
        _ shutdown: ShutdownSignal,
        _ keyMismatch: KeyMismatch?
    ) -> some ApplicationProtocol {
        let routes = Routes(
            signups: signups,
            sessions: sessions,
            database: database,
            publicURL: settings.publicURL,
            allowedOrigins: settings.allowedOrigins,
            trustedProxies: settings.trustedProxies,
            assets: settings.assets.branded(by: settings.brand),
            shutdown: shutdown,
            keyMismatch: keyMismatch,
            applications: settings.applications,
            forwardAuth: forwardAuth(database),
            afterSignupURL: settings.afterSignupURL
        )
        let limits = ConnectionLimits()
        return Application(
            responder: routes.responder(),
            server: routes.server(within: limits),
            configuration: .init(
                address: .hostname(settings.listen.host, port: settings.listen.port),
                serverName: nil,
                // The length of the queue of new connections. If it is full, the client's system tries to connect
                // again after a second.
                backlog: limits.connections,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections)
            ),
            onServerRunning: { [logger, description] channel in
                logger.notice("serving", metadata: description.merging(Self.listenAddress(of: channel)) { $1 })
            },
            logger: logger
        )
    }

    /// The metadata of the log line about the start of the server.
    private var description: Logger.Metadata {
        [
            "version": "\(BuildVersion.text)", "flow": "\(settings.flow.id)", "public_url": "\(settings.publicURL)",
            "database": "\(ConnectionString(settings.databaseURL)?.destination ?? "")",
            "mail": "\(settings.smtpURL.server?.url ?? "printed")",
        ]
    }

    private func forwardAuth(_ database: Database) -> ForwardAuth? {
        if settings.forwardAuthHosts.isEmpty { return nil }
        return ForwardAuth(
            hosts: ForwardAuthHosts(settings.forwardAuthHosts, publicURL: settings.publicURL),
            keys: SigningKeys(database: database, keys: settings.keys)
        )
    }

    private static func listenAddress(of channel: any Channel) -> Logger.Metadata {
        guard let address = channel.localAddress, let host = address.ipAddress, let port = address.port else {
            return [:]
        }
        return ["address": host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"]
    }
}
