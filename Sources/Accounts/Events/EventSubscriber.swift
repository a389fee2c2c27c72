/// An application, with the settings that decide which events and logouts it receives.
package struct EventSubscriber: Sendable {
    package let id: String
    /// Nil for an application without a webhook.
    package let webhook: Webhook?
    package let backchannelLogoutURI: String?
    /// Returns the claims about an account that the application gets, besides the id of the account.
    package let claims: @Sendable (Account) -> [JSON.Member]

    package init(
        id: String,
        webhook: Webhook? = nil,
        backchannelLogoutURI: String? = nil,
        claims: @escaping @Sendable (Account) -> [JSON.Member] = { _ in [] }
    ) {
        self.id = id
        self.webhook = webhook
        self.backchannelLogoutURI = backchannelLogoutURI
        self.claims = claims
    }

    /// The types of events that the application receives; none without a webhook.
    var eventTypes: [String] { webhook?.events ?? [] }
}

extension Database {
    /// Stores which events and logouts each application receives. Later transactions read these settings, and write
    /// only the events and logouts that an application wants. Deletes all other stored applications. Also deletes the
    /// deliveries, waiting or failed, to applications without a webhook, and the logouts of those without a logout URI.
    package func store(_ subscribers: [EventSubscriber]) async throws(DatabaseError) {
        let table = Self.configured(subscribers)
        let isUnwanted: SQL = "application NOT IN (SELECT id FROM \(table) WHERE has_webhook)"
        _ = try await transaction(
            .lockDeliveries(where: isUnwanted),
            "DELETE FROM deliveries WHERE \(isUnwanted)",
            """
            INSERT INTO applications (id, events, has_webhook, backchannel_logout)
            SELECT id, events, has_webhook, backchannel_logout FROM \(table) ORDER BY id
            ON CONFLICT (id) DO UPDATE
               SET events = excluded.events, has_webhook = excluded.has_webhook,
                   backchannel_logout = excluded.backchannel_logout
             WHERE (applications.events, applications.has_webhook, applications.backchannel_logout)
                   IS DISTINCT FROM (excluded.events, excluded.has_webhook, excluded.backchannel_logout)
            """,
            "DELETE FROM applications WHERE id NOT IN (SELECT id FROM \(table))",
            "DELETE FROM logouts WHERE application NOT IN (SELECT id FROM \(table) WHERE backchannel_logout)"
        )
    }

    /// Returns the ids of at most ten applications that are not stored, are stored with other settings, or are stored
    /// but not among `subscribers`.
    func applications(unlike subscribers: [EventSubscriber]) async throws(DatabaseError) -> [String] {
        let rows = try await read(
            """
            SELECT id FROM applications FULL JOIN \(Self.configured(subscribers)) USING (id)
             WHERE (applications.events, applications.has_webhook, applications.backchannel_logout)
                   IS DISTINCT FROM (configured.events, configured.has_webhook, configured.backchannel_logout)
             ORDER BY id LIMIT 10
            """
        )
        var ids: [String] = []
        for row in rows { ids.append(try row.decode(String.self)) }
        return ids
    }

    /// The applications as an SQL table `configured`, with those columns of `applications` whose values come from
    /// `APPLICATIONS_FILE`.
    private static func configured(_ subscribers: [EventSubscriber]) -> SQL {
        let list = JSON.array(
            subscribers.map { subscriber in
                [
                    "id": .string(subscriber.id), "events": .array(subscriber.eventTypes.map(JSON.string)),
                    "has_webhook": .bool(subscriber.webhook != nil),
                    "backchannel_logout": .bool(subscriber.backchannelLogoutURI != nil),
                ]
            }
        )
        return """
            jsonb_to_recordset(\(list.text)::jsonb)
                AS configured (id text, events text[], has_webhook boolean, backchannel_logout boolean)
            """
    }
}
