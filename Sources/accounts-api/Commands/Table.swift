import Accounts

/// A table of text. Each column is as wide as its widest cell; if the terminal is narrower than the table, the widest
/// columns are shortened.
struct Table {
    /// A text, and its style on a terminal with colours.
    struct Cell: ExpressibleByStringInterpolation {
        let text: String
        var paint = Paint.plain

        init(_ text: String, _ paint: Paint = .plain) {
            self.text = text.printable
            self.paint = paint
        }

        init(stringLiteral text: String) {
            self.init(text)
        }
    }

    private let rows: [[Cell]]

    /// - Parameter header: the names of the columns.
    init(_ header: [String], _ rows: [[Cell]]) {
        self.rows = [header.map { Cell($0, .bold) }] + rows
    }

    var text: String { text(within: Terminal.size?.columns, inColours: Terminal.hasColours) }

    /// - Parameter limit: the maximum width of a line in columns; nil for no limit.
    func text(within limit: Int?, inColours: Bool = false) -> String {
        var widths = (0..<(rows.first?.count ?? 0)).map { column in rows.map { $0[column].text.columns }.max() ?? 0 }
        // The first column keeps its width, because a shortened id is useless.
        while let limit, widths.reduce(2 * (widths.count - 1), +) > limit,
            let widest = widths.indices.dropFirst().max(by: { widths[$0] < widths[$1] }), widths[widest] > 8
        {
            widths[widest] -= 1
        }
        return rows.map { row in
            let last = row.lastIndex { !$0.text.isEmpty } ?? -1
            return row.indices.prefix(through: last).map { column in
                let word = row[column].text.shortened(to: widths[column])
                let gap = column == last ? 0 : widths[column] - word.columns + 2
                return (inColours ? row[column].paint.on(word) : word) + String(repeating: " ", count: gap)
            }.joined()
        }.joined(separator: "\n")
    }
}

extension String {
    /// The text. If it is wider than `width` columns, it is cut and ends with an ellipsis.
    func shortened(to width: Int) -> String {
        if columns <= width { return self }
        var short = ""
        for character in self {
            guard (short + "\(character)…").columns <= width else { break }
            short.append(character)
        }
        return short + "…"
    }

    /// The text with U+FFFD in place of control characters and of characters that change the text direction.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isAllowedInLine ? $0 : "\u{FFFD}" }))
    }

    /// The width on a terminal in columns: two for each wide character (Unicode Standard Annex 11), zero for combining
    /// characters.
    var columns: Int { unicodeScalars.reduce(0) { $0 + Self.columns(of: $1) } }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
        0x1F300...0x1FAFF, 0x20000...0x3FFFD,
    ]

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: 0
        default: scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }
}
