package import Foundation

/// A row of `events list`: an event and, if an application has not received it, its delivery to that application.
package struct EventRow: Sendable {
    package let event: AccountEvent
    /// The delivery to one application; nil if all applications that want the event have received it.
    package let delivery: Delivery?

    package struct Delivery: Sendable {
        package let application: String
        /// `waiting` for the next attempt, or `failed` after the final attempt.
        package let state: String
        package let attempts: Int
        package let dueAt: Date
        package let lastError: String?
    }
}

/// The place of a row in `events list`: an event and, if the row is about a delivery, its application.
package struct EventRowCursor: Sendable, CustomStringConvertible {
    package let event: ID<AccountEvent>
    package let application: String?

    /// Reads the description of a cursor, such as `01a1fdb2-1117-7906-a197-83af84022e4d` or, with an application,
    /// `01a1fdb2-1117-7906-a197-83af84022e4d/shop`.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard let id = parts.first, let event = ID<AccountEvent>(String(id)) else { return nil }
        self.init(event, parts.count > 1 ? String(parts[1]) : nil)
    }

    fileprivate init(_ event: ID<AccountEvent>, _ application: String?) {
        (self.event, self.application) = (event, application)
    }

    package var description: String { application.map { "\(event)/\($0)" } ?? "\(event)" }

    /// A condition on the rows that follow.
    fileprivate var condition: SQL {
        guard let application else { return "id < \(event)" }
        return "(id < \(event) OR id = \(event) AND application > \(application))"
    }
}

extension Operator {
    /// Returns one page of the events, newest first. An event has one row for each application that has not received
    /// it, or one row if there is no such application.
    ///
    /// - Parameters:
    ///   - isUndelivered: whether to leave out events that all applications have received.
    ///   - age: the maximum age of an event; nil for all events.
    ///   - limit: the maximum number of rows on the page.
    ///   - cursor: the last row of the previous page; nil for the first page.
    package func events(
        isUndelivered: Bool,
        since age: Duration? = nil,
        limit: Int,
        after cursor: EventRowCursor? = nil
    ) async throws(DatabaseError) -> ListPage<EventRow> {
        var matching: SQL = """
            events LEFT JOIN deliveries ON event = id WHERE (event IS NOT NULL OR NOT \(isUndelivered))
            """
        if let age { matching = "\(matching) AND created_at >= now() - make_interval(secs => \(age.seconds))" }
        let columns: SQL = """
            id, type, events.sequence, created_at, events.account, application, state, attempts, due_at, last_error
            """
        let rows = try await database.read(
            ListPage<EventRow>.select(
                columns,
                from: matching,
                after: cursor?.condition,
                by: "id DESC, application",
                limit: limit
            )
        )
        return try ListPage(
            rows,
            limit: limit,
            cursor: { EventRowCursor($0.event.id, $0.delivery?.application).description }
        ) { columns throws(DatabaseError) in try EventRow(&columns) }
    }
}

extension EventRow {
    /// Returns nil for the row that stands for an empty page.
    fileprivate init?(_ columns: inout Columns) throws(DatabaseError) {
        var first = columns
        guard try first.next(ID<AccountEvent>?.self) != nil else { return nil }
        event = try AccountEvent(&columns)
        let (application, state): (String?, String?) = (try columns.next(), try columns.next())
        let (attempts, dueAt): (Int?, Date?) = (try columns.next(), try columns.next())
        let lastError: String? = try columns.next()
        guard let application, let state, let attempts, let dueAt else {
            delivery = nil
            return
        }
        delivery = Delivery(
            application: application,
            state: state,
            attempts: attempts,
            dueAt: dueAt,
            lastError: lastError
        )
    }
}
