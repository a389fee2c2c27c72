package import Foundation

/// A row of `events list`: an event and, if an application has not received it, its delivery to that application.
package struct EventRow: Sendable {
    package let event: AccountEvent
    package let now: Date
    /// The delivery to one application; nil if all applications that want the event have received it.
    package let waiting: Waiting?

    package struct Waiting: Sendable {
        package let application: String
        /// `waiting` for the next attempt, or `failed` after the last one.
        package let state: String
        package let attempts: Int
        package let dueAt: Date
        package let lastError: String?
    }
}

extension Operator {
    /// Returns the newest events, newest first. An event has one row for each application that has not received it, or
    /// one row if there is no such application.
    ///
    /// - Parameters:
    ///   - isUndelivered: whether to leave out events that all applications have received.
    ///   - limit: the maximum number of rows.
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
