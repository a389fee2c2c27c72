import Accounts
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// A client that keeps all cookies, as a browser does, and sends JSON.
final class Browser: Sendable {
    let site: TestServer
    private let headers: HTTPFields
    private let jar = Mutex<[String: String]>([:])

    init(_ site: TestServer, userAgent: String? = nil) {
        self.site = site
        var headers: HTTPFields = [:]
        if let userAgent { headers[.userAgent] = userAgent }
        self.headers = headers
    }

    subscript(cookie: String) -> String? {
        get { jar.withLock { $0[cookie] } }
        set { jar.withLock { $0[cookie] = newValue } }
    }

    @discardableResult
    func send(_ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil) async throws -> Response {
        try await send(method, path, body?.bytes, [.contentType: "application/json"])
    }

    /// Sends a form with files.
    @discardableResult
    func send(_ method: HTTPRequest.Method, _ path: String, _ form: Multipart) async throws -> Response {
        try await send(method, path, form.bytes, [.contentType: Multipart.type, .origin: "http://localhost:8080"])
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [UInt8]?,
        _ extra: HTTPFields
    ) async throws -> Response {
        var headers = headers
        let cookies = jar.withLock { $0.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } }
        if !cookies.isEmpty { headers[.cookie] = cookies.joined(separator: "; ") }
        if body != nil { for field in extra { headers[field.name] = field.value } }
        let response = try await site.send(method, path, bytes: body, headers)
        for cookie in response.headers[values: .setCookie] {
            let parts = cookie.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            let pair = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let isDeleted = parts.contains("Max-Age=0")
            jar.withLock { $0[pair[0]] = isDeleted ? nil : pair[1] }
        }
        return response
    }

    /// Signs up with the standard flow.
    ///
    /// - Parameter hasAuthenticator: whether to set up an authenticator app, too.
    @discardableResult
    func signUp(
        _ email: String = "kim@example.com",
        _ username: String = "kim",
        hasAuthenticator: Bool = false
    ) async throws -> SignedUp {
        try await send(.post, "/signup", [:])
        try await send(.put, "/signup/email", ["email": .string(email)])
        let code = try await site.service.readCode(for: email)
        try await send(.put, "/signup/code", ["code": .string(code)])
        let password: JSON = ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
        try await send(.put, "/signup/password", password)
        try await send(.put, "/signup/profile", ["username": .string(username), "display_name": "Kim"])
        try await send(.put, "/signup/contact", ["birth_date": "2001-02-28"])
        var signedUp = SignedUp()
        if hasAuthenticator {
            let step = try await send(.get, "/signup/totp")
            signedUp.secret = step.json["secret"]?.string?.base32Bytes ?? []
            let enrolled = try await send(.put, "/signup/totp", ["totp": .string(signedUp.code)])
            signedUp.recoveryCodes = enrolled.strings("recovery_codes")
            // Tests use them by their number, which would end the program if they were missing.
            try #require(signedUp.recoveryCodes.count == 10, "\(enrolled.status): \(enrolled.body)")
        } else {
            try await send(.put, "/signup/totp", [:])
        }
        try await send(.put, "/signup/terms", ["terms": true])
        signedUp.commit = try await send(.post, "/signup/commit")
        return signedUp
    }

    func signIn(
        _ identifier: String = "kim@example.com",
        _ password: String = "a pass phrase of mine",
        keep: Bool? = nil
    ) async throws -> Response {
        var members: [JSON.Member] = [
            .init("identifier", .string(identifier)), .init("password", .string(password)),
        ]
        if let keep { members.append(.init("keep", .bool(keep))) }
        return try await send(.post, "/session", .object(members))
    }
}

/// The response to the commit of a sign-up, and the secret and the recovery codes of its authenticator.
struct SignedUp {
    var commit: Response!
    var secret: [UInt8] = []
    var recoveryCodes: [String] = []

    /// The code that the app shows now.
    var code: String { TOTP.code(secret, step: TOTP.timeStep(at: Date())) }

    /// Six digits that the app does not show within five time steps (150 seconds) of now.
    var wrongCode: String {
        let now = TOTP.timeStep(at: Date())
        let right = Set((now - 5...now + 5).map { TOTP.code(secret, step: $0) })
        return (0...11).map { String(repeating: "\($0 % 10)", count: 5) + "\($0 / 10)" }.first { !right.contains($0) }!
    }
}

extension TestServer {
    /// Makes the server forget the last accepted code of every app, so that the current code is accepted again.
    func forgetUsedCodes() throws {
        try DatabaseSession().run("UPDATE authenticators SET last_step = 0")
    }
}

/// The error if a response lacks a member that the test reads.
struct Missing: Error {}
