package import Foundation

/// One page of a list, newest items first, and the length of the whole list at the same moment.
package struct ListPage<Item: Sendable>: Sendable {
    package let items: [Item]
    /// The number of items on all pages.
    package let total: Int
    /// The cursor with which the next page is requested; nil if this page is the last one.
    package let next: String?
    /// The time of the database.
    package let now: Date

    /// - Parameters:
    ///   - rows: each row has the time, the total, and the columns of an item. There are `limit + 1` items if there is
    ///     another page. If there is no item, there is one row, in which the columns of the item are NULL.
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
