package import Foundation

/// An event as an operator sees it, with what has become of it at one application.
package struct EventRow: Sendable {
    package let event: AccountEvent
    package let now: Date
    /// Nil if no application waits for the event: it was delivered to those that wanted it.
    package let waiting: Waiting?

    package struct Waiting: Sendable {
        package let application: String
        /// `waiting`, or `failed` after the last attempt.
        package let state: String
        package let attempts: Int
        package let dueAt: Date
        package let lastError: String?
    }
}

extension Operator {
    /// The newest events, newest first: one row for each application that waits for it.
    ///
    /// - Parameter isUndelivered: only events for which an application waits.
    package func events(isUndelivered: Bool, limit: Int) async throws(DatabaseError) -> [EventRow] {
        let rows = try await database.read(
            """
            SELECT id, type, events.sequence, created_at, events.account, now(), application, state,
                   attempts, due_at, last_error
              FROM events LEFT JOIN deliveries ON event = id
             WHERE event IS NOT NULL OR NOT \(isUndelivered)
             ORDER BY id DESC, application LIMIT \(limit)
            """
        )
        var events: [EventRow] = []
        for row in rows {
            var columns = row.columns
            let (event, now) = (try AccountEvent(&columns), try columns.next(Date.self))
            let (application, state): (String?, String?) = (try columns.next(), try columns.next())
            let (attempts, dueAt): (Int?, Date?) = (try columns.next(), try columns.next())
            let lastError: String? = try columns.next()
            var waiting: EventRow.Waiting?
            if let application, let state, let attempts, let dueAt {
                waiting = .init(
                    application: application,
                    state: state,
                    attempts: attempts,
                    dueAt: dueAt,
                    lastError: lastError
                )
            }
            events.append(EventRow(event: event, now: now, waiting: waiting))
        }
        return events
    }
}
