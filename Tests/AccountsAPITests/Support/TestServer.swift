import Accounts
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import TestSupport

@testable import accounts_api

/// The service as clients meet it, through the router alone or over a socket, on the database of the running test.
struct TestServer: Sendable {
    let stage: Stage
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
        keys: String = Stage.keys,
        hashing: HashingPool? = nil,
        flow: String? = nil,
        limits: Limits? = .lavish,
        trustedProxies: [IPBlock] = [],
        connections: ConnectionLimits = ConnectionLimits(),
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await Stage.with(flow: flow, keys: keys, conninfo: conninfo, hashing: hashing, limits: limits) { stage in
            let log = CapturedLog()
            let routes = Routes(
                signups: stage.signups,
                database: stage.database,
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
                try await body(TestServer(stage: stage, client: client, log: log, contract: contract))
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

/// One person's client: keeps the token, and speaks JSON.
final class Visitor: Sendable {
    enum Transport: String, CaseIterable, Sendable {
        case cookie, bearer
    }

    let site: TestServer
    let transport: Transport
    private let headers: HTTPFields
    private let token = Mutex<String?>(nil)

    init(site: TestServer, transport: Transport, headers: HTTPFields) {
        self.site = site
        self.transport = transport
        self.headers = headers
    }

    var tokenText: String? {
        get { token.withLock { $0 } }
        set { token.withLock { $0 = newValue } }
    }

    /// Sends JSON with the token, if there is one.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: JSON,
        headers extra: HTTPFields = [:]
    ) async throws -> Answer {
        try await send(method, path, bytes: body.bytes, headers: extra)
    }

    /// Sends a text exactly as it is: a form, or JSON that the type `JSON` would not write.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ text: String,
        headers extra: HTTPFields = [:]
    ) async throws -> Answer {
        try await send(method, path, bytes: Array(text.utf8), headers: extra)
    }

    /// Sends any bytes, or no body.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        bytes body: [UInt8]? = nil,
        headers extra: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = headers
        if let tokenText {
            if transport == .cookie { headers[.cookie] = "theme=dark; signup=\(tokenText)" }
            if transport == .bearer { headers[.authorization] = "Bearer \(tokenText)" }
        }
        if body != nil { headers[.contentType] = "application/json" }
        for field in extra { headers[field.name] = field.value }
        return try await site.send(method, path, bytes: body, headers)
    }

    /// Begins a sign-up and keeps the token.
    @discardableResult
    func start(locale: String? = nil) async throws -> Answer {
        var members = [JSON.Member("transport", .string(transport.rawValue))]
        if let locale { members.append(JSON.Member("locale", .string(locale))) }
        let answer = try await send(.post, "/signup", .object(members))
        keepToken(of: answer)
        return answer
    }

    func keepToken(of answer: Answer) {
        if let cookie = answer.headers[.setCookie]?.split(separator: ";").first, let equals = cookie.firstIndex(of: "=")
        {
            tokenText = String(cookie[cookie.index(after: equals)...])
        }
        if let text = answer.json["token"]?.string { tokenText = text }
    }

    /// Submits answers to a step.
    @discardableResult
    func put(_ step: String, _ body: JSON, headers: HTTPFields = [:]) async throws -> Answer {
        try await send(.put, "/signup/\(step)", body, headers: headers)
    }

    /// Sends a text exactly as it is.
    @discardableResult
    func put(_ step: String, _ text: String, headers: HTTPFields = [:]) async throws -> Answer {
        try await send(.put, "/signup/\(step)", text, headers: headers)
    }

    func commit() async throws -> Answer { try await send(.post, "/signup/commit") }

    /// Submits everything through that step; the answer to it.
    @discardableResult
    func fill(
        through last: String = "terms",
        email: String = "kim@example.com",
        username: String = "kim"
    ) async throws -> Answer {
        var answer = try await put("email", ["email": .string(email)])
        for step in ["code", "password", "profile", "contact", "totp", "terms"] {
            if step == "email" || last == "email" { break }
            let body: JSON =
                switch step {
                case "code": ["code": .string(try await site.stage.readCode(for: email))]
                case "password":
                    ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
                case "profile": ["username": .string(username), "display_name": "Kim"]
                case "contact": ["birth_date": "2001-02-28"]
                case "totp": [:]
                default: ["terms": true]
                }
            answer = try await put(step, body)
            if step == last { break }
        }
        return answer
    }
}

/// What came back.
struct Answer: Sendable {
    let status: Int
    let headers: HTTPFields
    let bytes: [UInt8]

    init(_ response: TestClient.Response) {
        status = response.status.code
        headers = response.headers
        bytes = response.body.map { Array($0.readableBytesView) } ?? []
    }

    init(_ response: TestResponse) {
        status = response.status.code
        headers = response.headers
        bytes = Array(response.body.readableBytesView)
    }

    var body: String { String(decoding: bytes, as: UTF8.self) }

    /// The body as JSON; null where it is none.
    var json: JSON { (try? JSON.read(bytes)) ?? .null }

    var isPage: Bool { headers[.contentType]?.hasPrefix("text/html") == true }

    /// The last part of a problem's type.
    var slug: String? { json["type"]?.string?.split(separator: "/").last.map(String.init) }

    /// The codes of the refused fields, such as `email:bad_format`.
    var refusals: [String] {
        guard case .array(let errors)? = json["errors"] else { return [] }
        return errors.map { "\($0["field"]?.string ?? "?"):\($0["code"]?.string ?? "?")" }
    }

    var nextStep: String? { json["next"]?["step"]?.string }

    var missing: [String] { strings("missing") }

    /// The strings of a list in the body.
    func strings(_ member: String) -> [String] {
        guard case .array(let items)? = json[member] else { return [] }
        return items.compactMap(\.string)
    }

    /// The states of the steps in order.
    var states: [String] {
        guard case .array(let steps)? = json["steps"] else { return [] }
        return steps.compactMap { $0["state"]?.string }
    }
}

/// Every line that the service logs, as it would be written.
final class CapturedLog: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    var lines: [JSON] { text.split(separator: "\n").map { (try? JSON.read(Array($0.utf8))) ?? .null } }

    var logger: Logger {
        Logger(label: "test") { _ in
            LineLogger(isJSON: true, logLevel: .trace, sink: { line in self.bytes.withLock { $0 += line } })
        }
    }
}
