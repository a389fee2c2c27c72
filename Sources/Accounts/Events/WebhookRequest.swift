internal import Foundation

extension EventRequest {
    /// The request that delivers an event to a webhook (Standard Webhooks 1.0). Its id is the same in each attempt, and
    /// its timestamp is the time of the attempt.
    static func webhook(
        _ event: AccountEvent,
        about account: Account?,
        to endpoint: Webhook,
        of subscriber: EventSubscriber,
        at now: Date
    ) -> EventRequest {
        let body = JSON.object(event.members(about: account, for: subscriber)).bytes
        let (id, time) = (event.id.description, "\(Int(now.timeIntervalSince1970))")
        let content = Array("\(id).\(time).".utf8) + body
        let signatures = endpoint.secrets.map { $0.signature(of: content) }
        return EventRequest(
            url: endpoint.url,
            headers: [
                "Content-Type: application/json", "webhook-id: \(id)", "webhook-timestamp: \(time)",
                "webhook-signature: \(signatures.joined(separator: " "))", "traceparent: \(event.makeTraceParent())",
            ],
            body: body
        )
    }

    /// The request that tells an application of a logout (Back-Channel Logout 1.0, section 2.5). The token is a JWT,
    /// whose characters need no form encoding.
    static func logout(_ token: String, to url: String) -> EventRequest {
        EventRequest(
            url: url,
            headers: ["Content-Type: application/x-www-form-urlencoded"],
            body: Array("logout_token=\(token)".utf8)
        )
    }
}
