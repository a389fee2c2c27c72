import Accounts
import Foundation

/// How a command prints the items of a list: the columns of the table, and the members of an item in the JSON output.
struct ListFormat<Item> {
    let columns: [ListColumn<Item>]
    /// The names of the columns that the table may omit if it is too wide for the terminal, in the order in which it
    /// omits them.
    let dispensable: [String]
    let fields: [ListField<Item>]

    init(
        _ columns: [ListColumn<Item>],
        omittingIfNarrow dispensable: [String] = [],
        fields: [ListField<Item>]
    ) {
        (self.columns, self.dispensable, self.fields) = (columns, dispensable, fields)
    }

    /// - Parameter now: the time to which a text such as "5 min ago" refers.
    func table(of items: [Item], at now: Date) -> Table {
        let rows = items.map { item in columns.map { $0.cell(item, now) } }
        return Table(columns.map(\.name), rows, omittingIfNarrow: dispensable)
    }

    func json(of item: Item) -> JSON {
        .object(fields.map { $0.member(of: item) })
    }
}

/// A column of a table: its name, and its cell for an item.
struct ListColumn<Item> {
    let name: String
    let cell: (_ item: Item, _ now: Date) -> Table.Cell

    private init(name: String, cell: @escaping (Item, Date) -> Table.Cell) {
        (self.name, self.cell) = (name, cell)
    }

    init(_ name: String, _ cell: @escaping (Item) -> Table.Cell) {
        self.init(name: name) { item, _ in cell(item) }
    }

    /// A column of texts. If the text of an item is nil, its cell is empty.
    static func text(_ name: String, _ text: @escaping (Item) -> String?) -> Self {
        Self(name) { Table.Cell(text($0) ?? "") }
    }

    /// A column of times, such as "5 min ago". If the time of an item is nil, its cell is empty.
    static func time(_ name: String, _ time: @escaping (Item) -> Date?) -> Self {
        Self(name: name) { item, now in Table.Cell(time(item).map { relative($0, to: now) } ?? "") }
    }
}

/// A member of an item in the JSON output: its name, and its value for an item.
struct ListField<Item> {
    let name: String
    let value: (Item) -> JSON

    init(_ name: String, _ value: @escaping (Item) -> JSON) {
        (self.name, self.value) = (name, value)
    }

    func member(of item: Item) -> JSON.Member { JSON.Member(name, value(item)) }

    /// A text; null if the item has none.
    static func text(_ name: String, _ text: @escaping (Item) -> String?) -> Self {
        Self(name) { text($0).map(JSON.string) ?? .null }
    }

    /// A number; null if the item has none.
    static func integer(_ name: String, _ integer: @escaping (Item) -> Int?) -> Self {
        Self(name) { integer($0).map(JSON.integer) ?? .null }
    }

    /// A time; null if the item has none.
    static func time(_ name: String, _ time: @escaping (Item) -> Date?) -> Self {
        Self(name) { time($0).map { .string($0.timestamp) } ?? .null }
    }
}
