package import Foundation

/// One page of a list, and the length of the whole list at the same moment.
package struct ListPage<Item: Sendable>: Sendable {
    package let items: [Item]
    /// The number of items on all pages.
    package let total: Int
    /// The cursor with which the next page is requested; nil if this page is the last one.
    package let next: String?
    /// The time of the database.
    package let now: Date

    /// A single statement that reads a page and the length of the list, so that both belong to the same moment. Each
    /// row has the time, the total, and the columns of an item. There are `limit + 1` items if there is another page.
    /// If there is no item, there is one row, in which the columns of the item are NULL.
    ///
    /// - Parameters:
    ///   - columns: the columns of an item. They contain those of `order`.
    ///   - source: the text after `FROM`: the tables, and a `WHERE` with the condition on the items of the list. The
    ///     statement adds `rest` to its end.
    ///   - rest: the condition on the items after the cursor; nil for the first page.
    ///   - order: the order of the items, such as `id DESC`.
    ///   - limit: the maximum number of items on the page.
    static func select(
        _ columns: SQL,
        from source: SQL,
        after rest: SQL?,
        by order: SQL,
        limit: Int
    ) -> SQL {
        let following: SQL = rest.map { "\(source) AND \($0)" } ?? source
        return """
            SELECT now(), total, page.*
              FROM (SELECT count(*) AS total FROM \(source)) AS counted LEFT JOIN (
                SELECT \(columns) FROM \(following) ORDER BY \(order) LIMIT \(limit + 1)
              ) AS page ON true ORDER BY \(order)
            """
    }

    /// - Parameters:
    ///   - rows: the result of ``select(_:from:after:by:limit:)``.
    ///   - limit: the maximum number of items on the page.
    ///   - cursor: returns the cursor of the page that follows an item.
    ///   - read: reads the columns of an item; returns nil if they are NULL.
    init(
        _ rows: Rows,
        limit: Int,
        cursor: (Item) -> String,
        read: (inout Columns) throws(DatabaseError) -> Item?
    ) throws(DatabaseError) {
        guard let first = rows.first else { throw .unexpectedAnswer("a page has no row") }
        var head = first.columns
        now = try head.next()
        total = try head.next()
        var items: [Item] = []
        for row in rows {
            var columns = row.columns
            _ = (try columns.next(Date.self), try columns.next(Int.self))
            if let item = try read(&columns) { items.append(item) }
        }
        self.items = Array(items.prefix(limit))
        next = items.count > limit ? self.items.last.map(cursor) : nil
    }
}
