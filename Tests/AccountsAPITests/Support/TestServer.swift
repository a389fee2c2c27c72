import Accounts
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TestSupport

@testable import accounts_api

/// The service with its routes, called through the router or over a socket, on the database of the running test.
struct TestServer: Sendable {
    let service: TestSignups
    let client: any TestClientProtocol
    let log: CapturedLog
    /// The connection of ``send(_:_:bytes:_:)``; nil if requests go to the router.
    private let connection: TestClient?
    private let contract: Contract

    /// How requests reach the service.
    enum Mode: CaseIterable, Sendable {
        case router, socket
    }

    /// Runs the server while the body runs.
    static func with(
        _ mode: Mode = .router,
        publicURL: String = "http://localhost:8080",
        allowedOrigins: Set<String> = [],
        conninfo: String? = nil,
        keys: String = TestSignups.keys,
        hashing: HashingPool? = nil,
        breached: BreachedPasswords? = nil,
        flow: String? = nil,
        languages: [Language] = Language.builtIn,
        limits: Limits? = .lavish,
        trustedProxies: [IPBlock] = [],
        connections: ConnectionLimits = .lavish,
        keyMismatch: KeyMismatch? = nil,
        hasApplications: Bool = false,
        applicationsFile: String = RelyingParty.file,
        waitingRequests: Int = .max,
        timeouts: StatementTimeouts = .lavish,
        patience: Patience = .lavish,
        forwardAuthHosts: Set<String> = [],
        signingClock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        afterSignupURL: String? = nil,
        brand: Brand? = nil,
        metrics: Metrics = Metrics(),
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestSignups.with(
            flow: flow,
            languages: languages,
            keys: keys,
            conninfo: conninfo,
            hashing: hashing,
            breached: breached,
            limits: limits,
            waitingRequests: waitingRequests,
            timeouts: timeouts,
            metrics: metrics
        ) { service in
            let log = CapturedLog()
            let routes = try Routes(
                signups: service.signups,
                sessions: Sessions(signups: service.signups, failureTime: .zero),
                database: service.database,
                publicURL: publicURL,
                allowedOrigins: allowedOrigins,
                trustedProxies: trustedProxies,
                assets: Assets.builtIn.branded(by: brand),
                keyMismatch: keyMismatch,
                applications: hasApplications
                    ? RelyingParty.registry(service.signups.flow, publicURL: publicURL, file: applicationsFile) : nil,
                patience: patience,
                forwardAuth: forwardAuthHosts.isEmpty
                    ? nil
                    : ForwardAuth(
                        hosts: ForwardAuthHosts(forwardAuthHosts, publicURL: publicURL),
                        keys: SigningKeys(database: service.database, keys: try KeyRing(keys), now: signingClock)
                    ),
                afterSignupURL: afterSignupURL
            )
            let contract = try Contract(routes.description)
            let app = Application(
                responder: routes.responder(),
                server: routes.server(within: connections),
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                logger: log.logger
            )
            // The client of `.live` gives up after 20 seconds, and opens a connection before its first request. That of
            // `.ahc` opens none unless it is used.
            try await app.test(mode == .router ? .router : .ahc()) { client in
                @Sendable func run(_ connection: TestClient?) async throws {
                    try await body(
                        TestServer(
                            service: service,
                            client: client,
                            log: log,
                            connection: connection,
                            contract: contract
                        )
                    )
                }
                guard let port = client.port else { return try await run(nil) }
                try await TestClient.withClient(
                    host: "localhost",
                    port: port,
                    configuration: .init(timeout: .seconds(300)),
                    operation: { try await run($0) }
                )
            }
        }
    }

    /// Sends a request, and validates the response against the contract and the problem reference.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        bytes: [UInt8]? = nil,
        _ headers: HTTPFields = [:]
    ) async throws -> Response {
        let response = try await respond(to: method, path, bytes.map { ByteBuffer(bytes: $0) }, headers)
        let isJSON = headers[.contentType] == "application/json"
        let text = bytes.map { String(decoding: $0, as: UTF8.self) }
        try contract.check(method, path, text, response, isJSON: isJSON)
        response.checkAgainstReference()
        return response
    }

    private func respond(
        to method: HTTPRequest.Method,
        _ path: String,
        _ body: ByteBuffer?,
        _ headers: HTTPFields
    ) async throws -> Response {
        guard let connection else {
            return try await client.execute(uri: path, method: method, headers: headers, body: body) { Response($0) }
        }
        var headers = headers
        headers[.connection] = "keep-alive"
        return Response(
            try await connection.execute(
                TestClient.Request(path, method: method, authority: "localhost", headers: headers, body: body)
            )
        )
    }

    /// A new client without a sign-up.
    func visitor(_ transport: Visitor.Transport = .cookie, headers: HTTPFields = [:]) -> Visitor {
        Visitor(site: self, transport: transport, headers: headers)
    }
}

extension Patience {
    /// Longer than any test takes, except tests of deadlines.
    static let lavish = Patience(request: .seconds(3600), readiness: .seconds(3600))
}

extension ConnectionLimits {
    /// With longer times than any test takes. The test client connects before the body of a test, which may need more
    /// than the ten seconds of a real first request on a busy machine.
    static let lavish = {
        var limits = ConnectionLimits()
        (limits.firstHeader, limits.nextHeader) = (.hours(1), .hours(1))
        (limits.body, limits.answer) = (.hours(1), .hours(1))
        return limits
    }()
}
