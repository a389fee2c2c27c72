internal import Foundation

/// Reads new events again and again, in the same order in which applications read the list of events.
package struct EventTail: Sendable {
    fileprivate let database: Database
    fileprivate let condition: SQL
    fileprivate var cursor: EventCursor
    /// Whether the latest call of ``next()`` may have left out events because of the limits of a page. It can be true
    /// even if that call returned no events.
    package private(set) var mayHaveMore = false

    /// Returns the next events, oldest first, but at most ``Database/maximumEventsInPage``. The call after this one
    /// continues after them.
    package mutating func next() async throws(DatabaseError) -> [AccountEvent] {
        let page = try await database.eventsInList(where: condition, after: cursor, limit: Database.maximumEventsInPage)
        (cursor, mayHaveMore) = (page.next, page.mayHaveMore)
        return page.events
    }
}

extension Operator {
    /// Returns a reader of new events, which begins with the latest ones; nil if no server has stored an application
    /// with that id.
    ///
    /// - Parameters:
    ///   - application: the id of an application: selects the types of event that it wants; nil for all events.
    ///   - count: the number of the latest events with which the reader begins.
    package func tailEvents(of application: String?, last count: Int) async throws(DatabaseError) -> EventTail? {
        var condition: SQL = "true"
        if let application {
            let found = try await database.read("SELECT FROM applications WHERE id = \(application)")
            if found.isEmpty { return nil }
            condition = """
                type = ANY (ARRAY(SELECT unnest(applications.events) FROM applications WHERE id = \(application)))
                """
        }
        // The last event before those that the reader returns.
        let before = try await database.read(
            """
            SELECT xid::text, id FROM events WHERE \(Database.isInList) AND \(condition)
             ORDER BY events.xid DESC, events.id DESC OFFSET \(count) LIMIT 1
            """
        ).first
        var cursor = EventCursor.start
        if let before {
            let (xid, event) = try before.decode(String.self, UUID.self)
            cursor = EventCursor(xid: xid, event: event)
        }
        return EventTail(database: database, condition: condition, cursor: cursor)
    }
}
