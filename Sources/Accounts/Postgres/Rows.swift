/// What a statement returned, copied out of libpq in one block.
package struct Rows: Sendable, RandomAccessCollection {
    fileprivate let bytes: [UInt8]
    /// One range of `bytes` a cell, row by row; nil for NULL.
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
        precondition(indices.contains(index), "there is no row \(index)")
        return Row(rows: self, index: index)
    }

    /// The row of a statement that returns one; `unexpectedAnswer` where it returned none, or several.
    package var only: Row {
        get throws(DatabaseError) {
            guard count == 1 else { throw .unexpectedAnswer("\(count) rows where one was read") }
            return self[0]
        }
    }
}

package struct Row: Sendable {
    fileprivate let rows: Rows
    fileprivate let index: Int

    /// The columns in order, each as the type asked for; a type that may be NULL is an optional.
    ///
    /// Throws `unexpectedAnswer` where the number of the columns differs, or the bytes of one do not fit its type: the
    /// statement and the code that reads it disagree.
    package func decode<each Column: SQLDecodable>(
        _ columns: repeat (each Column).Type
    ) throws(DatabaseError) -> (repeat each Column) {
        var next = 0
        let decoded = (repeat try cell(&next, as: (each Column).self))
        guard next == rows.width else { throw .unexpectedAnswer("\(rows.width) columns where \(next) were read") }
        return decoded
    }

    /// The columns one after the other, for a type that reads itself from a row.
    package var columns: Columns { Columns(row: self) }

    fileprivate func cell<Column: SQLDecodable>(_ next: inout Int, as type: Column.Type) throws(DatabaseError) -> Column
    {
        defer { next += 1 }
        guard next < rows.width else { throw .unexpectedAnswer("no column \(next)") }
        let range = rows.cells[index * rows.width + next]
        let value = rows.bytes.withUnsafeBytes { bytes in Column.reading(range.map { bytes[$0] }) }
        guard let value else { throw .unexpectedAnswer("column \(next) is no \(Column.self)") }
        return value
    }
}

/// Reads the columns of a row from left to right.
package struct Columns {
    fileprivate let row: Row
    private var position = 0

    fileprivate init(row: Row) { self.row = row }

    /// The next column. Throws `unexpectedAnswer` where there is none, or its bytes do not fit the type.
    package mutating func next<Column: SQLDecodable>(
        _ type: Column.Type = Column.self
    ) throws(DatabaseError) -> Column {
        try row.cell(&position, as: type)
    }
}
