internal import Foundation

/// How long one call takes: the median of five runs, each of as many calls as fill the time.
func time(filling least: Duration = .milliseconds(50), _ body: () throws -> Void) rethrows -> Duration {
    let clock = ContinuousClock()
    func run(_ calls: Int) throws -> Duration {
        let start = clock.now
        for _ in 0..<calls { try body() }
        return clock.now - start
    }
    var calls = 1
    var took = try run(calls)
    while took < least {
        calls *= took < least / 10 ? 10 : 2
        took = try run(calls)
    }
    var runs = [took]
    while runs.count < 5 { runs.append(try run(calls)) }
    return runs.sorted()[2] / calls
}

extension Duration {
    /// The number of those units, marked where it is over the target.
    func told(in unit: Duration, target: Duration? = nil) -> String {
        let isOver = target.map { self > $0 } ?? false
        return String(format: "%.2f", self / unit) + (isOver ? " !" : "  ")
    }
}

/// A plain table: the first column to the left, the others to the right.
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
