import Accounts
import HTTPTypes
import Synchronization
import TestSupport

/// The client of one person. It keeps the token and sends JSON.
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
    ) async throws -> Response {
        try await send(method, path, bytes: body.bytes, headers: extra)
    }

    /// Sends a text exactly as it is: a form, or JSON that the type `JSON` would not write.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ text: String,
        headers extra: HTTPFields = [:]
    ) async throws -> Response {
        try await send(method, path, bytes: Array(text.utf8), headers: extra)
    }

    /// Sends any bytes, or no body.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        bytes body: [UInt8]? = nil,
        headers extra: HTTPFields = [:]
    ) async throws -> Response {
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
    func start(locale: String? = nil) async throws -> Response {
        var members = [JSON.Member("transport", .string(transport.rawValue))]
        if let locale { members.append(JSON.Member("locale", .string(locale))) }
        let response = try await send(.post, "/signup", .object(members))
        keepToken(of: response)
        return response
    }

    func keepToken(of response: Response) {
        if let cookie = response.headers[.setCookie]?.split(separator: ";").first,
            let equals = cookie.firstIndex(of: "=")
        {
            tokenText = String(cookie[cookie.index(after: equals)...])
        }
        if let text = response.json["token"]?.string { tokenText = text }
    }

    /// Submits answers to a step.
    @discardableResult
    func put(_ step: String, _ body: JSON, headers: HTTPFields = [:]) async throws -> Response {
        try await send(.put, "/signup/\(step)", body, headers: headers)
    }

    /// Sends a text exactly as it is.
    @discardableResult
    func put(_ step: String, _ text: String, headers: HTTPFields = [:]) async throws -> Response {
        try await send(.put, "/signup/\(step)", text, headers: headers)
    }

    func commit() async throws -> Response { try await send(.post, "/signup/commit") }

    /// Submits every step up to this one. Returns the last response.
    @discardableResult
    func fill(
        through last: String = "terms",
        email: String = "kim@example.com",
        username: String = "kim"
    ) async throws -> Response {
        var response = try await put("email", ["email": .string(email)])
        for step in ["code", "password", "profile", "contact", "totp", "terms"] {
            if step == "email" || last == "email" { break }
            let body: JSON =
                switch step {
                case "code": ["code": .string(try await site.service.readCode(for: email))]
                case "password":
                    ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
                case "profile": ["username": .string(username), "display_name": "Kim"]
                case "contact": ["birth_date": "2001-02-28"]
                case "totp": [:]
                default: ["terms": true]
                }
            response = try await put(step, body)
            if step == last { break }
        }
        return response
    }
}
