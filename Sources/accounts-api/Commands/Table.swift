import Accounts

/// Rows of words, each column as wide as its widest.
struct Table {
    private let rows: [[String]]

    init(_ rows: [[String]]) {
        self.rows = rows.map { $0.map(\.printable) }
    }

    var text: String {
        let widths = (0..<(rows.first?.count ?? 0)).map { column in rows.map { $0[column].columns }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (word, width) in zip(row, widths) {
                line += word + String(repeating: " ", count: width - word.columns + 2)
            }
            return line.trimmingSuffix(while: { $0 == " " })
        }.joined(separator: "\n")
    }
}

extension String {
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
