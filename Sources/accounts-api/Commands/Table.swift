import Accounts

/// A table of text. Each column is as wide as its widest cell.
///
/// If the terminal is narrower than the table, cells show their brief texts, such as the first digits of an id. While
/// the table is still too wide, dispensable columns are omitted, and after that the widest columns are shortened, but
/// never the first one. If that is not enough, further columns are omitted. The last column gets the remaining width;
/// its texts are not cut, but continue on further lines.
struct Table {
    /// A text, and its style on a terminal with colours.
    struct Cell: ExpressibleByStringInterpolation {
        let text: String
        /// The text in a table that is wider than the terminal.
        let brief: String
        var paint = Paint.plain

        init(_ text: String, _ paint: Paint = .plain) {
            self.text = text.printable
            self.paint = paint
            brief = self.text
        }

        init(stringLiteral text: String) {
            self.init(text)
        }

        /// - Parameter brief: the text in a table that is wider than the terminal.
        init(_ text: String, brief: String, _ paint: Paint = .plain) {
            (self.text, self.brief) = (text.printable, brief.printable)
            self.paint = paint
        }

        /// An id. Its brief text is the first twelve digits: the time of its creation in milliseconds (UUID version 7).
        /// An argument that names a draft, an account or a mail may be these digits.
        init<Owner>(id: ID<Owner>) {
            text = "\(id)"
            brief = String(text.prefix(13))
        }
    }

    /// No column is shortened to less than this width.
    private static let minimumWidth = 8
    /// Other columns are omitted and shortened to give the last one this width, or less if its widest cell is narrower.
    private static let preferredLastWidth = 20

    private let header: [String]
    private let rows: [[Cell]]
    private let dispensable: [String]
    private let omittedLast: [String]

    /// - Parameters:
    ///   - header: the names of the columns.
    ///   - dispensable: the names of the columns that may be omitted, in the order in which they are omitted.
    ///   - omittedLast: the names of the columns that are omitted only if the table is too wide with all columns
    ///     shortened, in the order in which they are omitted.
    init(
        _ header: [String],
        _ rows: [[Cell]],
        omittingIfNarrow dispensable: [String] = [],
        atLast omittedLast: [String] = []
    ) {
        (self.header, self.rows) = (header.map(\.printable), rows)
        (self.dispensable, self.omittedLast) = (dispensable, omittedLast)
    }

    var text: String { text(isWide: false) }

    /// - Parameter isWide: whether the table may be wider than the terminal.
    func text(isWide: Bool) -> String {
        text(within: isWide ? nil : Terminal.size?.columns, inColours: Terminal.hasColours)
    }

    /// - Parameter limit: the width of the terminal; nil for no limit. Lines are wider if the columns cannot be
    ///   shortened enough.
    func text(within limit: Int?, inColours: Bool = false) -> String {
        var columns = Array(header.indices)
        var widths = self.widths(\.text)
        if let limit, Self.width(columns, widths) > limit {
            widths = self.widths(\.brief)
            let last = columns[columns.count - 1]
            let natural = widths[last]
            widths[last] = min(natural, Self.preferredLastWidth)
            for name in dispensable where Self.width(columns, widths) > limit {
                columns.removeAll { header[$0] == name }
            }
            let shortest = [widths[0]] + widths.dropFirst().map { min($0, Self.minimumWidth) }
            for name in omittedLast where Self.width(columns, shortest) > limit {
                columns.removeAll { header[$0] == name }
            }
            while Self.width(columns, widths) > limit,
                let widest = columns.dropFirst().dropLast().max(by: { widths[$0] < widths[$1] }),
                widths[widest] > Self.minimumWidth
            {
                widths[widest] -= 1
            }
            widths[last] = min(natural, max(Self.minimumWidth, widths[last] + limit - Self.width(columns, widths)))
            return lines(columns, widths, \.brief, inColours)
        }
        return lines(columns, widths, \.text, inColours)
    }

    private func widths(_ text: (Cell) -> String) -> [Int] {
        header.indices.map { column in
            rows.reduce(header[column].columns) { max($0, text($1[column]).columns) }
        }
    }

    private static func width(_ columns: [Int], _ widths: [Int]) -> Int {
        columns.reduce(2 * (columns.count - 1)) { $0 + widths[$1] }
    }

    private func lines(_ columns: [Int], _ widths: [Int], _ text: (Cell) -> String, _ inColours: Bool) -> String {
        let all = [header.map { Cell($0, .bold) }] + rows
        return all.map { row in
            let filled = columns.prefix { column in columns.contains { $0 >= column && !row[$0].text.isEmpty } }
            guard let last = filled.last else { return "" }
            let indent = filled.dropLast().reduce(0) { $0 + widths[$1] + 2 }
            let isLastColumn = last == columns.last
            return filled.map { column in
                let parts =
                    column == last && isLastColumn
                    ? text(row[column]).wrapped(to: widths[column]) : [text(row[column]).shortened(to: widths[column])]
                let gap = column == last ? 0 : widths[column] - parts[0].columns + 2
                return parts.map { inColours ? row[column].paint.on($0) : $0 }
                    .joined(separator: "\n" + String(repeating: " ", count: indent))
                    + String(repeating: " ", count: gap)
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

    /// The text in lines of at most `width` columns, broken between words where possible. At least one line.
    func wrapped(to width: Int) -> [String] {
        var lines = [""]
        for word in split(separator: " ", omittingEmptySubsequences: false) {
            let line = lines[lines.count - 1]
            let longer = line.isEmpty ? String(word) : "\(line) \(word)"
            if longer.columns <= width {
                lines[lines.count - 1] = longer
                continue
            }
            if !line.isEmpty { lines.append("") }
            for character in word {
                if (lines[lines.count - 1] + "\(character)").columns > width, !lines[lines.count - 1].isEmpty {
                    lines.append("")
                }
                lines[lines.count - 1].append(character)
            }
        }
        return lines
    }

    /// The text with U+FFFD in place of each character for which `isAllowedInLine` is false, such as a control
    /// character.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isAllowedInLine ? $0 : "\u{FFFD}" }))
    }

    /// The width on a terminal in columns: two for a wide character (approximately as in Unicode Standard Annex 11),
    /// zero for a nonspacing or enclosing mark or a format character, one for any other character.
    var columns: Int { unicodeScalars.reduce(0) { $0 + Self.columns(of: $1) } }

    /// The wide characters, besides those that are shown as emoji by default. Most emoji that are shown as text by
    /// default, such as U+1F321, are not wide.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
    /// Two of these are a flag, which is as wide as an emoji.
    private static let regionalIndicators: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: 0
        case _ where regionalIndicators.contains(scalar.value): 1
        default: scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }
}
