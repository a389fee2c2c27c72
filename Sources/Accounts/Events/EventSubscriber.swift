/// An application as far as events concern it.
package struct EventSubscriber: Sendable {
    package let id: String
    /// The values of ``Webhook/eventTypes`` that the application wants to hear of.
    package let events: [String]
    /// Nil for an application that only asks for its events.
    package let webhook: Webhook?
    package let backchannelLogoutURI: String?
    /// What the application may know of an account, without its id.
    package let claims: @Sendable (Account) -> [JSON.Member]

    package init(
        id: String,
        events: [String] = [],
        webhook: Webhook? = nil,
        backchannelLogoutURI: String? = nil,
        claims: @escaping @Sendable (Account) -> [JSON.Member] = { _ in [] }
    ) {
        self.id = id
        self.events = events
        self.webhook = webhook
        self.backchannelLogoutURI = backchannelLogoutURI
        self.claims = claims
    }
}

extension Database {
    /// Stores what the applications want to hear, so that transactions write these events from now on. What other
    /// applications have not received is deleted.
    package func store(_ subscribers: [EventSubscriber]) async throws(DatabaseError) {
        let listed = Self.listed(subscribers)
        _ = try await transaction(
            """
            INSERT INTO applications (id, events, has_webhook, backchannel_logout)
            SELECT id, events, has_webhook, backchannel_logout FROM \(listed) ORDER BY id
            ON CONFLICT (id) DO UPDATE
               SET events = excluded.events, has_webhook = excluded.has_webhook,
                   backchannel_logout = excluded.backchannel_logout
             WHERE (applications.events, applications.has_webhook, applications.backchannel_logout)
                   IS DISTINCT FROM (excluded.events, excluded.has_webhook, excluded.backchannel_logout)
            """,
            "DELETE FROM applications WHERE id NOT IN (SELECT id FROM \(listed))",
            "DELETE FROM deliveries WHERE application NOT IN (SELECT id FROM \(listed) WHERE has_webhook)",
            "DELETE FROM logouts WHERE application NOT IN (SELECT id FROM \(listed) WHERE backchannel_logout)"
        )
    }

    /// The ids of at most ten applications that are not stored as these are, or are not among these.
    func applications(unlike subscribers: [EventSubscriber]) async throws(DatabaseError) -> [String] {
        let rows = try await read(
            """
            SELECT id FROM applications FULL JOIN \(Self.listed(subscribers)) USING (id)
             WHERE (applications.events, applications.has_webhook, applications.backchannel_logout)
                   IS DISTINCT FROM (listed.events, listed.has_webhook, listed.backchannel_logout)
             ORDER BY id LIMIT 10
            """
        )
        var ids: [String] = []
        for row in rows { ids.append(try row.decode(String.self)) }
        return ids
    }

    /// The table `listed`, with the columns of `applications` that a file decides.
    private static func listed(_ subscribers: [EventSubscriber]) -> SQL {
        let list = JSON.array(
            subscribers.map { subscriber in
                [
                    "id": .string(subscriber.id), "events": .array(subscriber.events.map(JSON.string)),
                    "has_webhook": .bool(subscriber.webhook != nil),
                    "backchannel_logout": .bool(subscriber.backchannelLogoutURI != nil),
                ]
            }
        )
        return """
            jsonb_to_recordset(\(list.text)::jsonb)
                AS listed (id text, events text[], has_webhook boolean, backchannel_logout boolean)
            """
    }
}
