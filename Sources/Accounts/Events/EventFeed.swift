internal import Foundation

/// A position in the list of all events. Applications store its text and give it back, but do not interpret it.
package struct EventCursor: Hashable, Sendable {
    /// The number of the PostgreSQL transaction that wrote the event. Events are listed in the order of these numbers and
    /// of their ids, which have the order in which a transaction wrote them.
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

    /// Reads ``text``. Returns nil if the text does not have its form.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let xid = UInt64(parts[0]), let event = ID<AccountEvent>(String(parts[1])) else {
            return nil
        }
        self.init(xid: "\(xid)", event: event.rawValue)
        guard self.text == text else { return nil }
    }

    package var text: String { "\(xid)-\(event.uuidString.lowercased())" }
}

extension Database {
    /// The maximum number of events in one list.
    package static let maximumEvents = 100
    /// The maximum number of events that are read for one list.
    package static let maximumEventsRead = 5000

    /// Returns the events after the cursor whose types the application has chosen, the cursor for the next list, and
    /// whether there may be more events now. There may be more even after an empty list, because only
    /// ``maximumEventsRead`` events of all types are read.
    ///
    /// An event is listed only when its transaction and all with a lower number have ended. Otherwise one of them could
    /// later add an event before a cursor that an application has got. So a long transaction that writes, in any database
    /// of the cluster, delays all later events.
    ///
    /// - Parameter limit: from 1 to ``maximumEvents``.
    /// - Returns: nil if the cursor comes from another cluster, whose transactions had higher numbers.
    package func events(
        for subscriber: EventSubscriber,
        after cursor: EventCursor,
        limit: Int
    ) async throws(DatabaseError) -> (events: [JSON], next: EventCursor, hasMore: Bool)? {
        let types = JSON.array(subscriber.events.map(JSON.string)).text
        let (events, next, hasMore) = try await listedEvents(
            where: "type = ANY (ARRAY(SELECT jsonb_array_elements_text(\(types)::jsonb)))",
            after: cursor,
            limit: limit
        )
        if next == cursor, try await !isOfThisCluster(cursor) { return nil }
        let accounts = try await accounts(of: events)
        let bodies = events.map { event in
            JSON.object(
                [.init("id", .string("\(event.id)"))] + event.members(about: accounts[event.account], for: subscriber)
            )
        }
        return (bodies, next, hasMore)
    }

    /// Returns the events after the cursor that satisfy a condition on the columns of `events`, and otherwise the same
    /// as ``events(for:after:limit:)``.
    func listedEvents(
        where condition: SQL,
        after cursor: EventCursor,
        limit: Int
    ) async throws(DatabaseError) -> (events: [AccountEvent], next: EventCursor, hasMore: Bool) {
        // A row without a value in `read` is an event of the list. If the list has fewer events than the limit, one
        // more row follows: the last event that was read, and in `read` the number of events that were read. One
        // statement finds both, because a second one could see later events.
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

    private func isOfThisCluster(_ cursor: EventCursor) async throws(DatabaseError) -> Bool {
        try await read("SELECT \(cursor.xid)::text::xid8 < pg_snapshot_xmax(pg_current_snapshot())").only.decode(
            Bool.self
        )
    }

    /// ``maximumEventsRead`` as a part of the statement's text. If it were a parameter, PostgreSQL would plan for any
    /// number.
    private static let readLimit = SQL(stringLiteral: "\(maximumEventsRead)")

    /// An SQL condition on a row of `events`: the transaction that wrote the event, and all with a lower number, have
    /// ended.
    static let isListed: SQL = "xid < pg_snapshot_xmin(pg_current_snapshot())"
}
