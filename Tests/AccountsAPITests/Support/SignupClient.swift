import Accounts
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Synchronization

@testable import accounts_api

/// A client that signs up with a bearer token. It opens a new connection for each request, repeats a request that the
/// service refuses for now, and remembers the steps that were acknowledged.
final class SignupClient: Sendable {
    struct Refused: Error, CustomStringConvertible {
        let status: Int
        let description: String
    }

    let email: String
    /// Each client has its own network, so that rate limits count it separately.
    private let network =
        "2001:db8:\(String(UInt16.random(in: 0...UInt16.max), radix: 16)):"
        + "\(String(UInt16.random(in: 0...UInt16.max), radix: 16))::1"
    private let mails: Mails
    private let token = Mutex<String?>(nil)
    private let acknowledged = Mutex<[String]>([])

    init(_ email: String, mails: Mails) {
        self.email = email
        self.mails = mails
    }

    /// The steps whose submission was answered with 200, in order.
    var acknowledgedSteps: [String] { acknowledged.withLock { $0 } }

    func begin(at port: Int) async throws {
        let response = try await send(.post, "/signup", ["transport": "bearer"], at: port)
        guard let text = response.json["token"]?.string else {
            throw Refused(status: response.status, description: "no token")
        }
        token.withLock { $0 = text }
    }

    /// Submits one step of the standard flow. For the code, it waits until the mail has arrived.
    func step(_ name: String, at port: Int) async throws {
        let body: JSON =
            switch name {
            case "email": ["email": .string(email)]
            case "code": ["code": .string(try await code())]
            case "password": ["password": "a pass phrase of mine", "confirmation": "a pass phrase of mine"]
            case "profile": ["username": .string(String(email.prefix { $0 != "@" }))]
            case "contact": ["birth_date": "2001-02-28"]
            default: ["terms": true]
            }
        let response = try await put(name, body, at: port)
        guard response.status == 200 else {
            throw Refused(status: response.status, description: "\(name): \(response.body)")
        }
        acknowledged.withLock { $0.append(name) }
    }

    func put(_ step: String, _ body: JSON, at port: Int) async throws -> Response {
        try await send(.put, "/signup/\(step)", body, at: port)
    }

    /// Sends the text as it is, with its escapes.
    func put(_ step: String, json: String, at port: Int) async throws -> Response {
        try await send(.put, "/signup/\(step)", bytes: Array(json.utf8), at: port)
    }

    /// Uploads an image to a field, once. The status of the response is 204 if it is accepted.
    func put(_ image: [UInt8], in path: String, at port: Int) async throws -> Response {
        try await sendOnce(.put, path, bytes: image, "image/png", at: port)
    }

    func draft(at port: Int) async throws -> JSON { try await send(.get, "/signup", at: port).json }

    func commit(at port: Int) async throws -> Response { try await send(.post, "/signup/commit", at: port) }

    /// Creates the account. Throws if it exists already.
    func createAccount(at port: Int) async throws {
        var attempts = 0
        let response = try await untilServed({ (response: Response) in response.isRefusedForNow }) {
            attempts += 1
            return try await sendOnce(.post, "/signup/commit", bytes: nil, "application/json", at: port)
        }
        // A commit that was refused at its deadline may have created the account nevertheless.
        guard response.status == 201 || response.status == 200 && attempts > 1 else {
            throw Refused(status: response.status, description: "commit: \(response.body)")
        }
    }

    private func code() async throws -> String {
        while true {
            try Task.checkCancellation()
            if let code = mails.code(for: email) { return code }
            await Task.yield()
        }
    }

    private func send(_ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil, at port: Int) async throws
        -> Response
    {
        try await send(method, path, bytes: body?.bytes, at: port)
    }

    private func send(_ method: HTTPRequest.Method, _ path: String, bytes body: [UInt8]?, at port: Int) async throws
        -> Response
    {
        try await untilServed({ (response: Response) in response.isRefusedForNow }) {
            let start = ContinuousClock.now
            do {
                return try await sendOnce(method, path, bytes: body, "application/json", at: port)
            } catch ChannelError.ioOnClosedChannel where ContinuousClock.now - start > .seconds(10) {
                // The server closes a connection on which no header arrives for ten seconds. On a busy machine they may
                // pass before the client sends anything.
                return try await sendOnce(method, path, bytes: body, "application/json", at: port)
            }
        }
    }

    private func sendOnce(
        _ method: HTTPRequest.Method,
        _ path: String,
        bytes body: [UInt8]?,
        _ type: String,
        at port: Int
    ) async throws -> Response {
        var headers: HTTPFields = [
            .contentType: type, .connection: "close", .forwardedFor: network,
        ]
        if let text = token.withLock({ $0 }) { headers[.authorization] = "Bearer \(text)" }
        let request = TestClient.Request(
            path,
            method: method,
            authority: "127.0.0.1:\(port)",
            headers: headers,
            body: body.map { ByteBuffer(bytes: $0) }
        )
        return try await TestClient.withClient(
            host: "127.0.0.1",
            port: port,
            configuration: .init(timeout: .seconds(300))
        ) { client in
            Response(try await client.execute(request))
        }
    }
}
