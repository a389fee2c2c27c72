internal import Foundation

/// A position in the list of all events. Applications store its text and give it back, but do not interpret it.
package struct EventCursor: Hashable, Sendable {
    /// The number of the PostgreSQL transaction that wrote the event. The list has events in the order of this number,
    /// then of their ids. The ids of the events that one transaction wrote ascend in the order of writing.
    fileprivate let xid: String
    fileprivate let event: UUID

    /// The position before all events.
    package static let start = EventCursor(
        xid: "0",
        event: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    )

    init(xid: String, event: UUID) {
        (self.xid, self.event) = (xid, event)
    }

    /// Reads a cursor from the form that the property ``text`` gives. Returns nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let xid = UInt64(parts[0]), let event = ID<AccountEvent>(String(parts[1])) else {
            return nil
        }
        self.init(xid: "\(xid)", event: event.rawValue)
        guard self.text == text else { return nil }
    }

    package var text: String { "\(xid)-\(event.text)" }
}

extension Database {
    /// The maximum number of events in one page of the list.
    package static let maximumEventsInPage = 100
    /// The maximum number of events that are read for one page.
    package static let maximumEventsReadForPage = 5000

    /// Returns the events after the cursor whose types the application has chosen, the cursor for the next page, and
    /// whether there may be more events now. There may be more even after an empty page, because only
    /// ``maximumEventsReadForPage`` events of all types are read.
    ///
    /// An event is in the list only when its transaction and all with a lower number have ended. Otherwise one of them
    /// could later add an event before a cursor that an application has got. So a long transaction that writes, in any
    /// database of the cluster, delays all later events.
    ///
    /// - Parameter limit: from 1 to ``maximumEventsInPage``.
    /// - Returns: nil if this cluster has not yet reached the number of the cursor's transaction, so that the cursor
    ///   must come from another cluster. A cursor from another cluster with a lower number is not detected.
    package func events(
        for subscriber: EventSubscriber,
        after cursor: EventCursor,
        limit: Int
    ) async throws(DatabaseError) -> (events: [JSON], next: EventCursor, mayHaveMore: Bool)? {
        let types = JSON.array(subscriber.eventTypes.map(JSON.string)).text
        let (events, next, mayHaveMore) = try await eventsInList(
            where: "type = ANY (ARRAY(SELECT jsonb_array_elements_text(\(types)::jsonb)))",
            after: cursor,
            limit: limit
        )
        if next == cursor, try await !mayBeOfThisCluster(cursor) { return nil }
        let accounts = try await accounts(of: events)
        let bodies = events.map { event in
            JSON.object(
                [.init("id", .string("\(event.id)"))] + event.members(about: accounts[event.account], for: subscriber)
            )
        }
        return (bodies, next, mayHaveMore)
    }

    /// Returns the events after the cursor that satisfy a condition on the columns of the table `events`, the cursor
    /// for the next page, and whether there may be more now. Does not check from which cluster the cursor comes.
    func eventsInList(
        where condition: SQL,
        after cursor: EventCursor,
        limit: Int
    ) async throws(DatabaseError) -> (events: [AccountEvent], next: EventCursor, mayHaveMore: Bool) {
        // The first rows of the result are the events to return (`wanted`), with NULL in `rows_read`. If they are fewer
        // than the limit, and any event was read, one more row follows: the last event that was read, which may also be
        // one of the first rows. Its `rows_read` is the number of events that were read. One statement finds all these
        // rows, because a second statement could see later events.
        let rows = try await read(
            """
            WITH range AS NOT MATERIALIZED (
                SELECT xid, id, type, sequence, created_at, account FROM events
                 WHERE (xid, id) > (\(cursor.xid)::text::xid8, \(cursor.event)) AND \(Self.isInList)
                 ORDER BY xid, id LIMIT \(Self.readLimit)
            ), wanted AS MATERIALIZED (
                SELECT * FROM range WHERE \(condition) ORDER BY xid, id LIMIT \(limit)
            ), page AS (
                SELECT NULL::bigint AS rows_read, * FROM wanted UNION ALL
                (SELECT count(*) OVER (), * FROM range WHERE (SELECT count(*) FROM wanted) < \(limit)
                  ORDER BY xid DESC, id DESC LIMIT 1)
            )
            SELECT rows_read, xid::text, id, type, sequence, created_at, account FROM page ORDER BY page.xid, page.id
            """
        )
        var (events, next, mayHaveMore) = ([] as [AccountEvent], cursor, false)
        for row in rows {
            var columns = row.columns
            let (rowsRead, xid): (Int?, String) = (try columns.next(), try columns.next())
            let event = try AccountEvent(&columns)
            if rowsRead == nil { events.append(event) }
            if events.count == limit || rowsRead == Self.maximumEventsReadForPage { mayHaveMore = true }
            next = EventCursor(xid: xid, event: event.id.rawValue)
        }
        return (events, next, mayHaveMore)
    }

    private func mayBeOfThisCluster(_ cursor: EventCursor) async throws(DatabaseError) -> Bool {
        try await read("SELECT \(cursor.xid)::text::xid8 < pg_snapshot_xmax(pg_current_snapshot())").only.decode(
            Bool.self
        )
    }

    /// ``maximumEventsReadForPage`` as a part of the statement's text. If it were a parameter, the planner could not
    /// assume that it is so small.
    private static let readLimit = SQL(stringLiteral: "\(maximumEventsReadForPage)")

    /// An SQL condition on a row of `events`: the transaction that wrote the event, and all with a lower number, have
    /// ended.
    static let isInList: SQL = "xid < pg_snapshot_xmin(pg_current_snapshot())"
}
