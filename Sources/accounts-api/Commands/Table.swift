import Accounts
import Foundation

/// Rows of words, each column as wide as its widest, but where the terminal is narrower: then the widest give way.
struct Table {
    private let rows: [[String]]

    init(_ rows: [[String]]) {
        self.rows = rows.map { $0.map(\.printable) }
    }

    var text: String { text(within: Self.terminalWidth) }

    /// - Parameter most: columns of a line; nil for as many as it takes.
    func text(within most: Int?) -> String {
        var widths = (0..<(rows.first?.count ?? 0)).map { column in rows.map { $0[column].columns }.max() ?? 0 }
        // Ids are of no use in part.
        while let most, widths.reduce(2 * (widths.count - 1), +) > most,
            let widest = widths.indices.dropFirst().max(by: { widths[$0] < widths[$1] }), widths[widest] > 8
        {
            widths[widest] -= 1
        }
        return rows.map { row in row.enumerated().map { $1.shortened(to: widths[$0]) } }.map { row in
            var line = ""
            for (word, width) in zip(row, widths) {
                line += word + String(repeating: " ", count: width - word.columns + 2)
            }
            return line.trimmingSuffix(while: { $0 == " " })
        }.joined(separator: "\n")
    }
}

extension Table {
    /// Columns of the terminal; nil where the output goes elsewhere.
    private static var terminalWidth: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }
}

extension String {
    fileprivate func shortened(to width: Int) -> String {
        if columns <= width { return self }
        var short = ""
        for character in self where (short + "\(character)…").columns <= width {
            short.append(character)
        }
        return short + "…"
    }

    /// Without anything that a terminal would obey, or that would show it in another order than it stands.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isAllowedInLine ? $0 : "\u{FFFD}" }))
    }

    /// How many columns of a terminal it takes: two for each wide character (Unicode Standard Annex 11).
    fileprivate var columns: Int {
        unicodeScalars.reduce(0) {
            $0
                + ((0x1100...0x115F).contains($1.value) || (0x2E80...0xA4CF).contains($1.value)
                    || (0xAC00...0xD7A3).contains($1.value) || (0xF900...0xFAFF).contains($1.value)
                    || (0xFE30...0xFE6F).contains($1.value) || (0xFF00...0xFF60).contains($1.value)
                    || (0x1F300...0x1FAFF).contains($1.value) ? 2 : 1)
        }
    }

    fileprivate func trimmingSuffix(while isRest: (Character) -> Bool) -> String {
        String(self[..<(lastIndex { !isRest($0) }.map(index(after:)) ?? startIndex)])
    }
}
