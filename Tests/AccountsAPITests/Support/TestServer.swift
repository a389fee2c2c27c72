import Accounts
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TestSupport

@testable import accounts_api

/// The service as clients meet it, through the router alone or over a socket, on the database of the running test.
struct TestServer: Sendable {
    let service: TestSignups
    let client: any TestClientProtocol
    let log: CapturedLog
    private let contract: Contract

    enum Way: CaseIterable, Sendable {
        case router, socket
    }

    /// Starts the server, lends it, and stops it.
    static func with(
        _ way: Way = .router,
        publicURL: String = "http://localhost:8080",
        allowedOrigins: Set<String> = [],
        conninfo: String? = nil,
        keys: String = TestSignups.keys,
        hashing: HashingPool? = nil,
        flow: String? = nil,
        limits: Limits? = .lavish,
        trustedProxies: [IPBlock] = [],
        connections: ConnectionLimits = ConnectionLimits(),
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestSignups.with(flow: flow, keys: keys, conninfo: conninfo, hashing: hashing, limits: limits) {
            service in
            let log = CapturedLog()
            let routes = Routes(
                signups: service.signups,
                database: service.database,
                publicURL: publicURL,
                allowedOrigins: allowedOrigins,
                trustedProxies: trustedProxies
            )
            let contract = try Contract(routes.description)
            let app = Application(
                router: routes.router(),
                server: routes.server(within: connections),
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                logger: log.logger
            )
            try await app.test(way == .router ? .router : .live) { client in
                try await body(TestServer(service: service, client: client, log: log, contract: contract))
            }
        }
    }

    /// Sends a request, and holds the answer against the contract.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        bytes: [UInt8]? = nil,
        _ headers: HTTPFields = [:]
    ) async throws -> Answer {
        let answer = try await client.execute(
            uri: path,
            method: method,
            headers: headers,
            body: bytes.map { ByteBuffer(bytes: $0) }
        ) { Answer($0) }
        let isJSON = headers[.contentType] == "application/json"
        let text = bytes.map { String(decoding: $0, as: UTF8.self) }
        try contract.check(method, path, text, answer, isJSON: isJSON)
        answer.checkAgainstReference()
        return answer
    }

    /// Somebody with a client of their own, and no sign-up yet.
    func visitor(_ transport: Visitor.Transport = .cookie, headers: HTTPFields = [:]) -> Visitor {
        Visitor(site: self, transport: transport, headers: headers)
    }
}
