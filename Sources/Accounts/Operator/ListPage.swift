package import Foundation

/// A part of a list, newest first, and the length of the whole list at the same moment.
package struct ListPage<Item: Sendable>: Sendable {
    package let items: [Item]
    /// The number of items on all pages.
    package let total: Int
    /// Where the next page begins; nil if this is the last one.
    package let next: String?
    /// The time of the database.
    package let now: Date

    /// - Parameters:
    ///   - rows: the time and the total, followed by the columns of an item. One item more than the page has if there is
    ///     another page; a single row without an item if there is none.
    ///   - cursor: where the page after an item begins.
    ///   - read: reads the columns of an item; nil if there is none.
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
