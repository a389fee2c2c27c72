/// The rows that a statement returned, copied from libpq into one block.
package struct Rows: Sendable, RandomAccessCollection {
    fileprivate let bytes: [UInt8]
    /// A range of `bytes` for each cell, row by row; nil for NULL.
    fileprivate let cells: [Range<Int>?]
    fileprivate let width: Int

    package let startIndex = 0
    package let endIndex: Int

    init(count: Int, width: Int, cells: [Range<Int>?], bytes: [UInt8]) {
        self.endIndex = count
        self.width = width
        self.cells = cells
        self.bytes = bytes
    }

    package subscript(index: Int) -> Row {
        precondition(indices.contains(index), "the row \(index) does not exist")
        return Row(rows: self, index: index)
    }

    /// The only row of the result. Throws `unexpectedAnswer` if the statement returned no row, or several.
    package var only: Row {
        get throws(DatabaseError) {
            guard count == 1 else { throw .unexpectedAnswer("expected one row, got \(count)") }
            return self[0]
        }
    }
}

/// One of the ``Rows`` of a statement.
package struct Row: Sendable {
    fileprivate let rows: Rows
    fileprivate let index: Int

    /// Decodes all columns in order, each as the given type. The type of a column that may be NULL is an optional.
    ///
    /// Throws `unexpectedAnswer` if the number of columns differs, or if the bytes of a column do not fit its type.
    package func decode<each Column: SQLDecodable>(
        _ columns: repeat (each Column).Type
    ) throws(DatabaseError) -> (repeat each Column) {
        var next = 0
        let decoded = (repeat try cell(&next, as: (each Column).self))
        guard next == rows.width else { throw .unexpectedAnswer("expected \(next) columns, got \(rows.width)") }
        return decoded
    }

    /// A reader of the columns one by one, for types that decode themselves from a row.
    package var columns: Columns { Columns(row: self) }

    fileprivate func cell<Column: SQLDecodable>(_ next: inout Int, as type: Column.Type) throws(DatabaseError) -> Column
    {
        defer { next += 1 }
        guard next < rows.width else { throw .unexpectedAnswer("the row has no column \(next + 1)") }
        let range = rows.cells[index * rows.width + next]
        let value = rows.bytes.withUnsafeBytes { bytes in Column.reading(range.map { bytes[$0] }) }
        guard let value else { throw .unexpectedAnswer("column \(next + 1) is not a valid \(Column.self)") }
        return value
    }
}

/// Reads the columns of a row from left to right.
package struct Columns {
    fileprivate let row: Row
    private var position = 0

    fileprivate init(row: Row) { self.row = row }

    /// Decodes the next column. Throws `unexpectedAnswer` if there is none, or if its bytes do not fit the type.
    package mutating func next<Column: SQLDecodable>(
        _ type: Column.Type = Column.self
    ) throws(DatabaseError) -> Column {
        try row.cell(&position, as: type)
    }
}
