internal import Foundation

/// Follows the events as they are written, in the order of the list that applications read.
package struct EventTail: Sendable {
    fileprivate let database: Database
    fileprivate let condition: SQL
    fileprivate var cursor: EventCursor
    /// Whether there may have been more events at the last call of ``next()``, also if it returned none.
    package private(set) var hasMore = false

    /// The events since the last call, oldest first; at most ``Database/maximumEvents``, the others with the next call.
    package mutating func next() async throws(DatabaseError) -> [AccountEvent] {
        let page = try await database.listedEvents(where: condition, after: cursor, limit: Database.maximumEvents)
        (cursor, hasMore) = (page.next, page.hasMore)
        return page.events
    }
}

extension Operator {
    /// Returns nil if no server has stored such an application.
    ///
    /// - Parameters:
    ///   - application: selects the events that it wants to hear of now; nil for all events.
    ///   - count: how many of the latest events come first.
    package func tailEvents(of application: String?, last count: Int) async throws(DatabaseError) -> EventTail? {
        var condition: SQL = "true"
        if let application {
            let found = try await database.read("SELECT FROM applications WHERE id = \(application)")
            if found.isEmpty { return nil }
            condition = """
                type = ANY (ARRAY(SELECT unnest(applications.events) FROM applications WHERE id = \(application)))
                """
        }
        // The last event that comes no more.
        let before = try await database.read(
            """
            SELECT xid::text, id FROM events WHERE \(Database.isListed) AND \(condition)
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
