internal import Foundation

/// A position in the list of all events, which an application keeps and does not read.
package struct EventCursor: Hashable, Sendable {
    /// The transaction of the event, and its id.
    fileprivate let xid: String
    fileprivate let event: UUID

    /// Before all events.
    package static let start = EventCursor(
        xid: "0",
        event: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    )

    init(xid: String, event: UUID) {
        (self.xid, self.event) = (xid, event)
    }

    /// Nil if no list has ended with this text.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let xid = UInt64(parts[0]), let event = ID<AccountEvent>(String(parts[1])) else {
            return nil
        }
        self.init(xid: "\(xid)", event: event.rawValue)
    }

    package var text: String { "\(xid)-\(event.uuidString.lowercased())" }
}

extension Database {
    /// The maximum number of events in one list.
    package static let maximumEvents = 100
    /// The maximum number of events that are read for one list.
    package static let maximumEventsRead = 5000

    /// The events after the cursor that the application wants to hear of, the cursor after all that were read for them,
    /// and whether there may be more of them now. There may be more after an empty list, too.
    ///
    /// An event is listed only when all transactions that began before its own have ended, so that none appears before a
    /// cursor that was given. So the newest events may be missing for a moment.
    ///
    /// - Parameter limit: from 1 to ``maximumEvents``.
    package func events(
        for subscriber: EventSubscriber,
        after cursor: EventCursor,
        limit: Int
    ) async throws(DatabaseError) -> (events: [JSON], next: EventCursor, hasMore: Bool) {
        let types = JSON.array(subscriber.events.map(JSON.string)).text
        let (events, next, hasMore) = try await listedEvents(
            where: "type = ANY (ARRAY(SELECT jsonb_array_elements_text(\(types)::jsonb)))",
            after: cursor,
            limit: limit
        )
        let accounts = try await accounts(of: events)
        let bodies = events.map { event in
            JSON.object(
                [.init("id", .string("\(event.id)"))] + event.members(about: accounts[event.account], for: subscriber)
            )
        }
        return (bodies, next, hasMore)
    }

    /// The same for any condition on the columns of `events`, without what the events say of their accounts.
    func listedEvents(
        where condition: SQL,
        after cursor: EventCursor,
        limit: Int
    ) async throws(DatabaseError) -> (events: [AccountEvent], next: EventCursor, hasMore: Bool) {
        // A row without `read` is an event of the list. If they are fewer than the limit, the last row is the last event
        // that was read, and how many were. One statement finds both, because another one could see later events.
        let rows = try await read(
            """
            WITH range AS NOT MATERIALIZED (
                SELECT xid, id, type, sequence, created_at, account FROM events
                 WHERE (xid, id) > (\(cursor.xid)::text::xid8, \(cursor.event)) AND \(Self.isListed)
                 ORDER BY xid, id LIMIT \(Self.readLimit)
            ), wanted AS MATERIALIZED (
                SELECT * FROM range WHERE \(condition) ORDER BY xid, id LIMIT \(limit)
            ), list AS (
                SELECT NULL::bigint AS read, * FROM wanted UNION ALL
                (SELECT count(*) OVER (), * FROM range WHERE (SELECT count(*) FROM wanted) < \(limit)
                  ORDER BY xid DESC, id DESC LIMIT 1)
            )
            SELECT read, xid::text, id, type, sequence, created_at, account FROM list ORDER BY list.xid, list.id
            """
        )
        var (events, next, hasMore) = ([] as [AccountEvent], cursor, false)
        for row in rows {
            var columns = row.columns
            let (read, xid): (Int?, String) = (try columns.next(), try columns.next())
            let event = try AccountEvent(&columns)
            if read == nil { events.append(event) }
            if events.count == limit || read == Self.maximumEventsRead { hasMore = true }
            next = EventCursor(xid: xid, event: event.id.rawValue)
        }
        return (events, next, hasMore)
    }

    /// In the text of the statement: PostgreSQL plans for this number, and not for any.
    private static let readLimit = SQL(stringLiteral: "\(maximumEventsRead)")

    /// The condition that all transactions that began before that of the event have ended.
    static let isListed: SQL = "xid < pg_snapshot_xmin(pg_current_snapshot())"
}
