import Accounts
import Foundation

/// The state of the board and its reaction to keys. It uses neither the terminal nor the database: a key that needs
/// them returns an action.
struct BoardScreen {
    /// An action that the caller must perform after a key.
    enum Action: Equatable {
        case quit
        case show(ID<Draft>)
        case expire(ID<Draft>)
    }

    private enum Mode {
        case board
        /// Shows the report on one draft, which has these lines.
        case detail([String])
        /// Asks whether to delete this draft. The text is its masked address, or its id if it has no address.
        case confirmation(ID<Draft>, String)
    }

    var size: (columns: Int, lines: Int)
    /// A message that is shown until the next key; nil if there is none.
    var notice: String?
    /// The reason why the last update of the board failed; nil if it succeeded.
    var updateError: String?
    private(set) var board: DraftBoard
    private var mode = Mode.board
    private var column = 0
    /// The index of the selected card in its column; -1 if no card is selected.
    private var row = 0

    init(_ board: DraftBoard, size: (columns: Int, lines: Int)) {
        self.board = board
        self.size = size
        column = board.columns.firstIndex { !$0.cards.isEmpty } ?? 0
    }

    /// Replaces the board. The selected card stays selected, also if it has moved to another step.
    mutating func update(_ board: DraftBoard) {
        let selected = selected?.id
        self.board = board
        for (index, other) in board.columns.enumerated() {
            if let card = other.cards.firstIndex(where: { $0.id == selected }) { (column, row) = (index, card) }
        }
        column = min(column, board.columns.count - 1)
        row = max(0, min(row, board.columns[column].cards.count - 1))
    }

    private var selected: DraftSummary? {
        let cards = board.columns[column].cards
        return cards.indices.contains(row) ? cards[row] : nil
    }

    /// Shows the report on one draft.
    mutating func show(_ lines: [String]) {
        mode = .detail(lines)
    }

    mutating func handle(_ key: Key) -> Action? {
        notice = nil
        if key == .interrupt { return .quit }
        switch mode {
        case .detail:
            mode = .board
        case .confirmation(let draft, _):
            mode = .board
            if key == .letter("y") { return .expire(draft) }
        case .board:
            switch key {
            case .up, .letter("k"): row = max(0, row - 1)
            case .down, .letter("j"): row = max(0, min(row + 1, board.columns[column].cards.count - 1))
            case .left, .letter("h"): move(by: -1)
            case .right, .letter("l"): move(by: 1)
            case .enter: return selected.map { .show($0.id) }
            case .letter("x"): mode = selected.map { .confirmation($0.id, $0.address ?? "\($0.id)") } ?? .board
            case .letter("q"), .escape: return .quit
            default: break
            }
        }
        return nil
    }

    private mutating func move(by step: Int) {
        column = min(max(0, column + step), board.columns.count - 1)
        row = max(0, min(row, board.columns[column].cards.count - 1))
    }

    // MARK: - Drawing

    /// Returns exactly as many lines as the terminal has, each at most as wide as the terminal.
    func lines(inColours: Bool) -> [String] {
        func painted(_ paint: Paint, _ text: String) -> String {
            let text = text.padded(to: size.columns)
            return inColours ? paint.on(text) : text
        }
        let footer =
            switch mode {
            case .board: notice ?? updateError ?? "←↑↓→ move, Enter show, x delete, q quit"
            case .detail: "press any key to return"
            case .confirmation(_, let name): "Delete the sign-up of \(name)? y: delete, any other key: keep"
            }
        let height = max(0, size.lines - 2)
        var body: [String]
        if case .detail(let lines) = mode {
            body = lines.prefix(height).map { $0.padded(to: size.columns) }
        } else {
            body = columns(in: height, inColours)
        }
        body += Array(repeating: "", count: height - body.count)
        let isUrgent = if case .confirmation = mode { true } else { (notice ?? updateError) != nil }
        let lines = [painted(.bold, header)] + body + [painted(isUrgent ? .reversed : .dim, footer)]
        return Array(lines.prefix(size.lines))
    }

    /// The number of sign-ups, and the counts of the columns that do not fit on the screen.
    private var header: String {
        let shown = shownColumns
        func summary(_ columns: ArraySlice<DraftBoard.Column>) -> String {
            columns.filter { $0.count > 0 }.map { "\($0.step) \($0.count)" }.joined(separator: ", ")
        }
        let (before, after) = (summary(board.columns[..<shown.lowerBound]), summary(board.columns[shown.upperBound...]))
        return board.title + (before.isEmpty ? "" : "  ‹ \(before)") + (after.isEmpty ? "" : "  › \(after)")
    }

    /// Returns the whole board with all cards. Columns that do not fit beside the others follow below them.
    static func text(of board: DraftBoard, columns: Int, inColours: Bool) -> String {
        let fitting = fitting(in: columns)
        let bands = stride(from: 0, to: board.columns.count, by: fitting).map { first -> String in
            let band = Array(board.columns[first..<min(first + fitting, board.columns.count)])
            let width = (columns + 1) / min(fitting, board.columns.count) * band.count - 1
            let maximumCards = band.map(\.cards.count).max() ?? 0
            var screen = BoardScreen(DraftBoard(columns: band), size: (width, 3 * maximumCards + 4))
            screen.row = -1
            return screen.lines(inColours: inColours).dropFirst().dropLast()
                .map { $0.trimmingSuffix(while: { $0 == " " }) }.joined(separator: "\n")
                .trimmingSuffix(while: \.isNewline)
        }
        return ([board.title] + bands).joined(separator: bands.count > 1 ? "\n\n" : "\n")
    }

    private static let minimumWidth = 18

    private static func fitting(in columns: Int) -> Int { max(1, (columns + 1) / (minimumWidth + 1)) }

    /// The columns that fit on the screen; the selected one is always among them.
    private var shownColumns: Range<Int> {
        let count = min(board.columns.count, Self.fitting(in: size.columns))
        let first = min(max(0, column - count / 2), board.columns.count - count)
        return first..<first + count
    }

    private func columns(in height: Int, _ inColours: Bool) -> [String] {
        let shown = Array(board.columns.enumerated())[shownColumns]
        let count = shown.count
        let width = (size.columns - (count - 1)) / count
        let rendered = shown.map { lines(of: $1, at: $0, width: width, height, inColours) }
        return (0..<height).map { line in
            rendered.map { line < $0.count ? $0[line] : String(repeating: " ", count: width) }.joined(separator: " ")
        }
    }

    private func lines(
        of column: DraftBoard.Column,
        at index: Int,
        width: Int,
        _ height: Int,
        _ inColours: Bool
    ) -> [String] {
        func painted(_ paint: Paint, _ text: String) -> String {
            let text = text.padded(to: width)
            return inColours ? paint.on(text) : text
        }
        let isSelectedColumn = index == self.column && row >= 0
        var lines = [painted(.bold, "\(column.step) \(column.count)")]
        lines.append(painted(.dim, String(repeating: "─", count: width)))
        // A card takes three lines. The selected card is always visible.
        let fitting = max(1, (height - 2) / 3)
        let first = isSelectedColumn ? max(0, min(row - fitting / 2, column.cards.count - fitting)) : 0
        for (number, card) in column.cards.enumerated().dropFirst(first).prefix(fitting) {
            let isSelected = isSelectedColumn && number == row
            let mark = isSelected && !inColours ? ">" : " "
            let address = card.address ?? "–"
            lines.append(painted(isSelected ? .reversed : .plain, mark + address))
            lines.append(painted(isSelected ? .reversed : .dim, mark + card.ages))
            lines.append(painted(.plain, ""))
        }
        return lines
    }
}

extension DraftBoard {
    fileprivate var title: String {
        let count = columns.reduce(0) { $0 + $1.count }
        return isCut ? "\(count) or more unfinished sign-ups" : counted(count, "unfinished sign-up")
    }
}

extension DraftSummary {
    /// The age of the sign-up, the time left, and the number of wrong codes if there were any.
    fileprivate var ages: String {
        let age = span(from: createdAt, to: now)
        let left = span(from: now, to: expiresAt)
        return "\(age) · \(left)" + (failures > 0 ? " · \(failures)✗" : "")
    }
}

extension String {
    /// The text, shortened or filled with spaces to exactly this width in columns.
    fileprivate func padded(to width: Int) -> String {
        let text = shortened(to: width)
        return text + String(repeating: " ", count: max(0, width - text.columns))
    }

    fileprivate func trimmingSuffix(while isRest: (Character) -> Bool) -> String {
        String(self[..<(lastIndex { !isRest($0) }.map(index(after:)) ?? startIndex)])
    }
}
