internal import Foundation

/// Returns the time of one call: the median of five runs, each with so many calls that it takes at least about the
/// given time.
func time(filling minimum: Duration = .milliseconds(50), _ body: () throws -> Void) rethrows -> Duration {
    let clock = ContinuousClock()
    func run(_ calls: Int) throws -> Duration {
        let start = clock.now
        for _ in 0..<calls { try body() }
        return clock.now - start
    }
    var calls = 1
    var took = try run(calls)
    while took < minimum {
        calls *= took < minimum / 10 ? 10 : 2
        took = try run(calls)
    }
    var runs = [took]
    while runs.count < 5 { runs.append(try run(calls)) }
    return runs.sorted()[2] / calls
}

extension Duration {
    /// The duration in this unit, with `!` after it if it exceeds the target.
    func text(in unit: Duration, target: Duration? = nil) -> String {
        let exceedsTarget = target.map { self > $0 } ?? false
        return String(format: "%.2f", self / unit) + (exceedsTarget ? " !" : "  ")
    }
}

/// A table of text. The first column is aligned left, the others right.
struct Table {
    private var rows: [[String]]

    init(_ columns: String...) {
        rows = [columns.enumerated().map { $0 == 0 ? $1 : $1 + "  " }]
    }

    mutating func append(_ cells: String...) {
        rows.append(cells)
    }

    var markdown: String {
        func line(_ cells: [String]) -> String {
            "| " + cells.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " | ") + " |\n"
        }
        let rule = "|---|" + rows[0].dropFirst().map { _ in "---:|" }.joined() + "\n"
        return line(rows[0]) + rule + rows.dropFirst().map(line).joined()
    }

    func print(under title: String) {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        Swift.print("\n\(title)\n")
        for row in rows {
            let cells = zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }
            Swift.print(cells.joined(separator: "  "))
        }
        fflush(nil)
    }
}
