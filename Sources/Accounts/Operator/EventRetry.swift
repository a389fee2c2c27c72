package import Foundation

extension Operator {
    /// Makes a delivery due now, with a full set of attempts. While an attempt is under way, another one would send the
    /// event twice at once, so then it is due when this one has failed.
    private static let dueAgain: SQL = """
        state = 'waiting', attempts = 0,
        due_at = CASE WHEN deliveries.claim IS NULL THEN now() ELSE greatest(deliveries.due_at, now()) END
        """

    /// Switches the webhook of the application on, and makes all that it has not received due now, with a full set of
    /// attempts. Returns the number of events; nil if no server has stored such an application.
    package func retryEvents(of application: String) async throws(DatabaseError) -> Int? {
        let rows = try await database.transaction(
            """
            WITH changed AS (
                UPDATE applications SET state = 'on', failures = 0, paused_until = now() WHERE id = \(application)
                RETURNING id
            ), \(audited(.retryEvents, over: "changed"))
            SELECT 1 FROM changed
            """,
            """
            WITH due AS (
                UPDATE deliveries SET \(Self.dueAgain) WHERE application = \(application) RETURNING 1
            )
            SELECT count(*) FROM due
            """
        )
        return rows[0].isEmpty ? nil : try rows[1].only.decode(Int.self)
    }

    /// An application, and the events with certain ids that it has not received.
    package struct Undelivered: Sendable {
        package let isWebhookOff: Bool
        package let count: Int
        /// One of them.
        package let event: ID<AccountEvent>?
    }

    /// Finds the events that the application has not received by the first digits of their ids. Returns nil if no server
    /// has stored such an application.
    package func undelivered(
        _ prefix: IDPrefix<AccountEvent>,
        to application: String
    ) async throws(DatabaseError) -> Undelivered? {
        let row = try await database.read(
            """
            SELECT applications.state = 'off', count(event), min(event::text)::uuid
              FROM applications
              LEFT JOIN deliveries ON application = id AND event BETWEEN \(prefix.first) AND \(prefix.last)
             WHERE id = \(application) GROUP BY id
            """
        ).first
        guard let row else { return nil }
        let (isWebhookOff, count, event) = try row.decode(Bool.self, Int.self, ID<AccountEvent>?.self)
        return Undelivered(isWebhookOff: isWebhookOff, count: count, event: event)
    }

    /// Makes one event that the application has not received due now, and those that have to go before it: the waiting
    /// ones of the same account. Each gets a full set of attempts and an audit record. Returns their number.
    package func retryEvent(_ event: ID<AccountEvent>, of application: String) async throws(DatabaseError) -> Int {
        try await database.transaction(
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
            "UPDATE applications SET paused_until = now() WHERE id = \(application) AND paused_until > now()"
        )[0].only.decode(Int.self)
    }

    /// Delivers the events since that time to the application once more, as far as it wants to hear of them. Their ids stay
    /// the same. Returns their number; nil if no server has stored such an application with a webhook.
    package func replayEvents(of application: String, since time: Date) async throws(DatabaseError) -> Int? {
        let seconds = Int(time.timeIntervalSince1970)
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
                   AND events.id >= draft_id_floor(to_timestamp(\(seconds)))
                ON CONFLICT (event, application) DO UPDATE SET \(Self.dueAgain)
                RETURNING 1
            )
            SELECT count(*) FROM replayed
            """
        )
        return rows[0].isEmpty ? nil : try rows[1].only.decode(Int.self)
    }
}
