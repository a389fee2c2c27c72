package import Foundation

extension Operator {
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
                UPDATE deliveries SET state = 'waiting', attempts = 0, due_at = now()
                 WHERE application = \(application) RETURNING 1
            )
            SELECT count(*) FROM due
            """
        )
        return rows[0].isEmpty ? nil : try rows[1].only.decode(Int.self)
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
                ON CONFLICT (event, application) DO UPDATE SET state = 'waiting', attempts = 0, due_at = now()
                RETURNING 1
            )
            SELECT count(*) FROM replayed
            """
        )
        return rows[0].isEmpty ? nil : try rows[1].only.decode(Int.self)
    }
}
