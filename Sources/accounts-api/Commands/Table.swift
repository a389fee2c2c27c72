import Accounts

/// Rows of words, each column as wide as its widest, but where the terminal is narrower: then the widest give way.
struct Table {
    /// A word, and how it is painted where there are colours.
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

    /// - Parameter most: columns of a line; nil for as many as it takes.
    func text(within most: Int?, inColours: Bool = false) -> String {
        var widths = (0..<(rows.first?.count ?? 0)).map { column in rows.map { $0[column].text.columns }.max() ?? 0 }
        // Ids are of no use in part.
        while let most, widths.reduce(2 * (widths.count - 1), +) > most,
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
    func shortened(to width: Int) -> String {
        if columns <= width { return self }
        var short = ""
        for character in self {
            guard (short + "\(character)…").columns <= width else { break }
            short.append(character)
        }
        return short + "…"
    }

    /// Without anything that a terminal would obey, or that would show it in another order than it stands.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isAllowedInLine ? $0 : "\u{FFFD}" }))
    }

    /// How many columns of a terminal it takes: two for each wide character (Unicode Standard Annex 11), none for what is
    /// put on the one before.
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
