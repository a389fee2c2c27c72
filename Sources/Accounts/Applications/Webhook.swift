/// Where an application receives events.
package struct Webhook: Sendable {
    package let url: String
    /// Some of ``eventTypes``.
    package let events: [String]
    /// One, or two while one replaces the other: the newest first.
    package let secrets: [WebhookSecret]

    /// The types of events that an application may receive.
    package static let eventTypes = [
        "account.created", "account.updated", "account.disabled", "account.enabled", "account.erased",
        "session.created", "session.ended", "password.changed", "email.changed", "email.restored", "factor.added",
        "factor.removed", "refresh.reused",
    ]
}
