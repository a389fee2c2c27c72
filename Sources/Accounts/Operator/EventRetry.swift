extension Operator {
    /// The assignments of an UPDATE that makes a delivery due now, with a full set of attempts. If a server has claimed
    /// the delivery, the server may be making an attempt now. The delivery then becomes due when that attempt fails or
    /// its claim expires, so that the event is not sent twice at the same time.
    private static let dueAgain: SQL = """
        state = 'waiting', attempts = 0,
        due_at = CASE WHEN deliveries.claim IS NULL THEN now() ELSE greatest(deliveries.due_at, now()) END
        """

    /// Switches the webhook of the application on, makes all its undelivered events due now, with a full set of
    /// attempts, and writes an audit record. Returns the number of these events; nil if no server has stored an
    /// application with that id and a webhook.
    package func retryEvents(of application: String) async throws(DatabaseError) -> Int? {
        let rows = try await database.transaction(
            .lockDeliveries(where: "application = \(application)"),
            """
            WITH due AS (
                UPDATE deliveries SET \(Self.dueAgain) WHERE application = \(application) RETURNING 1
            )
            SELECT count(*) FROM due
            """,
            """
            WITH changed AS (
                UPDATE applications SET state = 'on', failures = 0, paused_until = now()
                 WHERE id = \(application) AND has_webhook RETURNING id
            ), \(audited(.retryEvents, over: "changed"))
            SELECT 1 FROM changed
            """
        )
        return rows[2].isEmpty ? nil : try rows[1].only.decode(Int.self)
    }

    /// The state of an application's webhook, and the result of a search among the events that the application has not
    /// received.
    package struct Undelivered: Sendable {
        package let isWebhookOff: Bool
        package let count: Int
        /// One of the found events; nil if there is none.
        package let event: ID<AccountEvent>?
    }

    /// Searches the events that the application has not received for those whose ids begin with the digits. Returns nil
    /// if no server has stored an application with that id and a webhook.
    package func undelivered(
        _ prefix: IDPrefix<AccountEvent>,
        to application: String
    ) async throws(DatabaseError) -> Undelivered? {
        let row = try await database.read(
            """
            SELECT applications.state = 'off', count(event), min(event::text)::uuid
              FROM applications
              LEFT JOIN deliveries ON application = id AND event BETWEEN \(prefix.first) AND \(prefix.last)
             WHERE id = \(application) AND has_webhook GROUP BY id
            """
        ).first
        guard let row else { return nil }
        let (isWebhookOff, count, event) = try row.decode(Bool.self, Int.self, ID<AccountEvent>?.self)
        return Undelivered(isWebhookOff: isWebhookOff, count: count, event: event)
    }

    /// Makes one event that the application has not received due now, with the waiting events of the same account that
    /// must be delivered before it. Each of these gets a full set of attempts and an audit record. Later waiting events
    /// of the account become due, too, because the failed attempts of earlier events have postponed them. A pause of
    /// the webhook ends. Returns the number of events that got an audit record.
    package func retryEvent(_ event: ID<AccountEvent>, of application: String) async throws(DatabaseError) -> Int {
        let accounts: SQL = "SELECT account FROM deliveries WHERE application = \(application) AND event = \(event)"
        return try await database.transaction(
            .lockDeliveries(where: "application = \(application) AND account IN (\(accounts))"),
            """
            WITH due AS (
                UPDATE deliveries SET \(Self.dueAgain) FROM deliveries AS retried
                 WHERE retried.application = \(application) AND retried.event = \(event)
                   AND deliveries.application = retried.application AND deliveries.account = retried.account
                   AND (deliveries.event = retried.event
                        OR deliveries.state = 'waiting' AND deliveries.sequence < retried.sequence)
                RETURNING deliveries.event
            ), \(audited(.retryEvents, over: "due", of: "event"))
            SELECT count(*) FROM due
            """,
            """
            UPDATE deliveries AS later SET due_at = now() FROM deliveries AS retried
             WHERE retried.application = \(application) AND retried.event = \(event)
               AND later.application = retried.application AND later.account = retried.account
               AND later.sequence > retried.sequence
               AND later.state = 'waiting' AND later.claim IS NULL AND later.due_at > now()
            """,
            "UPDATE applications SET paused_until = now() WHERE id = \(application) AND paused_until > now()"
        )[1].only.decode(Int.self)
    }

    /// Makes all events of the last `period` due now for the application, even those that it has received, and writes
    /// an audit record. Leaves out types of event that the application does not want. The events keep their ids.
    /// Returns the number of events; nil if no server has stored an application with that id and a webhook.
    package func replayEvents(of application: String, over period: Duration) async throws(DatabaseError) -> Int? {
        // For a time before 1970, `draft_id_floor` would return an id above those of all events.
        let rows = try await database.transaction(
            """
            WITH found AS (SELECT 1 FROM applications WHERE id = \(application) AND has_webhook),
                 \(audited(.replayEvents, over: "found"))
            SELECT 1 FROM found
            """,
            """
            WITH replayed AS (
                INSERT INTO deliveries (event, application, account, sequence)
                SELECT events.id, applications.id, account, sequence FROM events, applications
                 WHERE applications.id = \(application) AND has_webhook AND type = ANY (applications.events)
                   AND events.id >= draft_id_floor(
                           to_timestamp(greatest(extract(epoch FROM now()) - \(period.seconds), 0)))
                 ORDER BY account, sequence
                ON CONFLICT (event, application) DO UPDATE SET \(Self.dueAgain)
                RETURNING 1
            )
            SELECT count(*) FROM replayed
            """
        )
        return rows[0].isEmpty ? nil : try rows[1].only.decode(Int.self)
    }
}
