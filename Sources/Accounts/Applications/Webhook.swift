/// The URL at which an application receives events, the types of these events, and the keys that sign them.
package struct Webhook: Sendable {
    package let url: String
    /// The types of events that the application receives. Each is one of ``eventTypes``.
    package let events: [String]
    /// The signing keys: one, or two while one replaces the other, the newer one first. Each event is signed with all
    /// of them.
    package let secrets: [WebhookSecret]

    package init(url: String, events: [String], secrets: [WebhookSecret]) {
        (self.url, self.events, self.secrets) = (url, events, secrets)
    }

    /// The types of events that an application may receive.
    package static let eventTypes = [
        "account.created", "account.updated", "account.disabled", "account.enabled", "account.erased",
        "session.created", "session.ended", "password.changed", "email.changed", "email.restored", "factor.added",
        "factor.removed", "refresh.reused",
    ]
}
