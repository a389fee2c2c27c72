internal import Foundation

/// A running `scripts/webhook-receiver`. It verifies webhooks with the reference library of Standard Webhooks.
package final class WebhookReceiver: Sendable {
    /// A received request.
    package struct Request: Decodable, Sendable {
        package let path: String
        package let body: String
        /// Whether the reference library has accepted the signature and the time.
        package let valid: Bool
    }

    /// The receiver has stopped.
    package struct Stopped: Error {}

    package let port: Int
    private let process: ScriptProcess

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Starts the receiver, and returns when it accepts connections.
    ///
    /// - Parameter secret: the secret of the webhook: `whsec_` and Base64.
    package static func start(secret: String) async throws -> WebhookReceiver {
        let process = try ScriptProcess("webhook-receiver", arguments: ["--secret", secret])
        for await line in process.lines {
            let port = try JSONDecoder().decode([String: Int].self, from: line)["port"]
            if let port { return WebhookReceiver(port: port, process: process) }
        }
        throw Stopped()
    }

    private init(port: Int, process: ScriptProcess) {
        (self.port, self.process) = (port, process)
    }

    /// Stops the receiver, and returns the requests that have arrived.
    package func stop() async throws -> [Request] {
        process.end()
        var requests: [Request] = []
        for await line in process.lines { requests.append(try JSONDecoder().decode(Request.self, from: line)) }
        return requests
    }
}
