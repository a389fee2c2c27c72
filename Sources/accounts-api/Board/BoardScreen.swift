import Accounts
import Foundation

/// The state of the board and its reaction to keys. It uses neither the terminal nor the database: for a key that needs
/// one of them, ``handle(_:)`` returns an action.
struct BoardScreen {
    /// An action that the caller must perform after a key.
    enum Action: Equatable {
        case quit
        case show(ID<Draft>)
        case expire(ID<Draft>)
        case extend(ID<Draft>)
    }

    /// A text that covers the board.
    private struct Page {
        /// The draft that the text is about; nil for the help.
        let draft: DraftSummary?
        var lines: [String]
        /// The index of the first line on the screen, among the wrapped lines. It may be too high after the text or
        /// the window has changed; ``window`` limits it.
        var first = 0
    }

    private struct Question {
        let action: Action
        let text: String

        static func expire(_ draft: DraftSummary) -> Question {
            .init(action: .expire(draft.id), text: "Delete \(draft.name)? y: delete, any other key: keep")
        }

        static func extend(_ draft: DraftSummary) -> Question {
            .init(
                action: .extend(draft.id),
                text: "Restart the lifetime of \(draft.name)? y: restart, any other key: leave"
            )
        }
    }

    var size: (columns: Int, lines: Int)
    /// A message that is shown until the next key; nil if there is none. It is hidden while a question is on the screen
    /// or the operator types a filter. Keys for the question or the filter do not remove it.
    var notice: String?
    /// The reason why the latest update of the board failed; nil if it succeeded.
    var updateError: String?
    /// The board with the drafts that match the filter.
    private(set) var board: DraftBoard
    private var unfiltered: DraftBoard
    private var updatedAt: Date
    private var filter = ""
    private var isTypingFilter = false
    /// The texts that cover the board. The last text is on the screen.
    private var pages: [Page] = []
    private var question: Question?
    private var column = 0
    /// The index of the selected card in its column; 0 if the column has no cards; -1 on the board of
    /// ``text(of:columns:inColours:)``, which selects no card.
    private var row = 0
    /// The number of lines of a card; nil if the number of lines of the terminal decides it.
    private var fixedCardHeight: Int?

    /// - Parameter time: the time at which the board was read.
    init(_ board: DraftBoard, size: (columns: Int, lines: Int), at time: Date = Date()) {
        (self.board, unfiltered, self.size, updatedAt) = (board, board, size, time)
        selectAnyColumn()
    }

    /// Replaces the board. If the selected card is still on the board, it stays selected, even if its draft is now at
    /// another step.
    ///
    /// - Parameter time: the time at which the board was read.
    mutating func update(_ board: DraftBoard, at time: Date = Date()) {
        (unfiltered, updatedAt, updateError) = (board, time, nil)
        applyFilter()
    }

    private mutating func applyFilter() {
        let selected = selected?.id
        board = filter.isEmpty ? unfiltered : unfiltered.matching(filter)
        for (index, other) in board.columns.enumerated() {
            if let card = other.cards.firstIndex(where: { $0.id == selected }) { (column, row) = (index, card) }
        }
        column = min(column, board.columns.count - 1)
        move(to: row)
    }

    private mutating func selectAnyColumn() {
        if board.columns[column].cards.isEmpty {
            column = board.columns.firstIndex { !$0.cards.isEmpty } ?? column
        }
    }

    private var selected: DraftSummary? {
        let cards = board.columns[column].cards
        return cards.indices.contains(row) ? cards[row] : nil
    }

    /// The draft whose text covers the board, even if the help covers this text; nil if there is none.
    var shown: ID<Draft>? { pages.last { $0.draft != nil }?.draft?.id }

    /// Replaces the text about the draft. Does nothing if this text no longer covers the board.
    mutating func show(_ lines: [String], of draft: ID<Draft>) {
        for index in pages.indices where pages[index].draft?.id == draft { pages[index].lines = lines }
    }

    // MARK: - Keys

    mutating func handle(_ key: Key) -> Action? {
        if question == nil, !isTypingFilter { notice = nil }
        if key == .interrupt { return .quit }
        if let question {
            self.question = nil
            guard key == .character("y") else { return nil }
            if case .expire = question.action { pages = [] }
            return question.action
        }
        if isTypingFilter {
            type(key)
            return nil
        }
        let subject = if let page = pages.last { page.draft } else { selected }
        switch key {
        case .character("x"): question = subject.map(Question.expire)
        case .character("e"): question = subject.map(Question.extend)
        case .character("?"): if pages.isEmpty || subject != nil { pages.append(Page(draft: nil, lines: Self.help)) }
        case .character("q") where pages.isEmpty: return .quit
        case .character("q"), .escape: goBack()
        case .character("/") where pages.isEmpty: isTypingFilter = true
        case .enter where pages.isEmpty:
            guard let subject else { break }
            pages = [Page(draft: subject, lines: ["loading"])]
            return .show(subject.id)
        default:
            if pages.isEmpty { move(key) } else { scroll(key) }
        }
        return nil
    }

    private mutating func goBack() {
        if pages.popLast() == nil {
            filter = ""
            applyFilter()
        }
    }

    private mutating func type(_ key: Key) {
        switch key {
        case .character(let letter): filter.append(letter)
        case .backspace: if filter.popLast() == nil { isTypingFilter = false }
        case .enter: isTypingFilter = false
        case .escape: (filter, isTypingFilter) = ("", false)
        default: break
        }
        applyFilter()
        selectAnyColumn()
    }

    private mutating func move(_ key: Key) {
        let count = board.columns[column].cards.count
        switch key {
        case .up, .character("k"): move(to: row - 1)
        case .down, .character("j"): move(to: row + 1)
        case .pageUp: move(to: row - fittingCards(in: bodyHeight))
        case .pageDown: move(to: row + fittingCards(in: bodyHeight))
        case .home, .character("g"): move(to: 0)
        case .end, .character("G"): move(to: count - 1)
        case .left, .character("h"):
            column = max(0, column - 1)
            move(to: row)
        case .right, .character("l"):
            column = min(column + 1, board.columns.count - 1)
            move(to: row)
        default: break
        }
    }

    private mutating func move(to row: Int) {
        self.row = max(0, min(row, board.columns[column].cards.count - 1))
    }

    private mutating func scroll(_ key: Key) {
        let first = window.first
        pages[pages.count - 1].first =
            switch key {
            case .up, .character("k"): first - 1
            case .down, .character("j"): first + 1
            case .pageUp: first - bodyHeight
            case .pageDown, .character(" "): first + bodyHeight
            case .home, .character("g"): 0
            case .end, .character("G"): .max
            default: first
            }
        pages[pages.count - 1].first = window.first
    }

    private static let help = [
        "← ↓ ↑ → or h j k l   select a draft",
        "PgUp PgDn            up or down by a screen",
        "Home End or g G      to the first or the last",
        "Enter                show the draft",
        "/                    show only the drafts whose id, step or masked address contains a text,",
        "                     or whose address is masked like the address that you enter",
        "x                    delete the draft, after a question",
        "e                    restart the lifetime of the draft, after a question",
        "Esc                  go back; on the board, end the filter",
        "q                    go back; on the board, quit",
        "Ctrl-C               quit",
    ]

    // MARK: - Drawing

    /// Returns exactly as many lines as the terminal has, each at most as wide as the terminal.
    func lines(inColours: Bool) -> [String] {
        func painted(_ paint: Paint, _ text: String) -> String {
            let text = text.padded(to: size.columns)
            return inColours ? paint.on(text) : text
        }
        let height = bodyHeight
        var body: [String]
        if pages.isEmpty {
            body = columns(in: height, inColours)
        } else {
            let window = window
            body = window.lines.dropFirst(window.first).prefix(height).map { $0.padded(to: size.columns) }
        }
        body += Array(repeating: "", count: height - body.count)
        let isUrgent = question != nil || (!isTypingFilter && (notice ?? updateError) != nil)
        let lines =
            [painted(updateError == nil ? .bold : .reversed, header)] + body
            + footer.map { painted(isUrgent ? .reversed : .dim, $0) }
        return Array(lines.prefix(size.lines))
    }

    private var bodyHeight: Int { max(0, size.lines - 1 - footer.count) }

    /// The lines of the text that covers the board, and the index of the first one on the screen.
    private var window: (lines: [String], first: Int) {
        guard let page = pages.last else { return ([], 0) }
        let lines = page.lines.flatMap { $0.columns > size.columns ? $0.wrapped(to: size.columns) : [$0] }
        return (lines, max(0, min(page.first, lines.count - bodyHeight)))
    }

    private var footer: [String] {
        if let question { return question.text.wrapped(to: size.columns) }
        if isTypingFilter { return ["/\(filter)_   Enter: keep, Esc: show all"] }
        if let message = notice ?? updateError { return [message] }
        let back = filter.isEmpty ? "" : "Esc all, "
        guard let page = pages.last else { return ["\(back)←↑↓→ move, Enter show, / filter, x delete, ? keys, q quit"] }
        return [page.draft == nil ? "Esc back, ↑↓ scroll" : "Esc back, ↑↓ scroll, x delete, e extend, ? keys"]
    }

    /// The number of drafts and, unless a text covers the board, the counts of the columns that do not fit on the
    /// screen and have drafts. If the text is longer than the screen, the header instead says which of its lines are
    /// on the screen. If the latest update failed, the header begins with the time of the latest successful update.
    private var header: String {
        let time = updateError == nil ? "" : "not updated since \(updatedAt.timeOfDay): "
        if !pages.isEmpty {
            let (lines, first) = window
            let last = min(first + bodyHeight, lines.count)
            return time + (last - first < lines.count ? "lines \(first + 1) to \(last) of \(lines.count)" : title)
        }
        let shown = shownColumns
        func summary(_ columns: ArraySlice<DraftBoard.Column>) -> String {
            columns.filter { $0.count > 0 }.map { "\($0.step) \($0.count)" }.joined(separator: ", ")
        }
        let (before, after) = (summary(board.columns[..<shown.lowerBound]), summary(board.columns[shown.upperBound...]))
        return time + title + (before.isEmpty ? "" : "  ‹ \(before)") + (after.isEmpty ? "" : "  › \(after)")
    }

    private var title: String {
        if filter.isEmpty { return board.title }
        let searched = unfiltered.columns.reduce(0) { $0 + $1.cards.count }
        let isPart = searched < unfiltered.columns.reduce(0) { $0 + $1.count }
        return "\(board.count) found in \(isPart ? "\(searched) of " : "")\(unfiltered.title): /\(filter)"
    }

    /// Returns the whole board with all cards. Columns that do not fit beside the others follow below them.
    static func text(of board: DraftBoard, columns: Int, inColours: Bool) -> String {
        let fitting = fitting(in: columns)
        let bands = stride(from: 0, to: board.columns.count, by: fitting).map { first -> String in
            let band = Array(board.columns[first..<min(first + fitting, board.columns.count)])
            let width = (columns + 1) / min(fitting, board.columns.count) * band.count - 1
            let maximumCards = band.map(\.cards.count).max() ?? 0
            var screen = BoardScreen(DraftBoard(columns: band), size: (width, 3 * maximumCards + 4))
            (screen.row, screen.fixedCardHeight) = (-1, 3)
            return screen.lines(inColours: inColours).dropFirst().dropLast()
                .map { $0.trimmingSuffix(while: { $0 == " " }) }.joined(separator: "\n")
                .trimmingSuffix(while: \.isNewline)
        }
        return ([board.title] + bands).joined(separator: bands.count > 1 ? "\n\n" : "\n")
    }

    private static let minimumWidth = 18

    private static func fitting(in columns: Int) -> Int { max(1, (columns + 1) / (minimumWidth + 1)) }

    /// The indices of the columns that fit on the screen; the selected one is always among them.
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
            let isStale = updateError != nil && paint != .reversed
            return inColours ? (isStale ? .dim : paint).on(text) : text
        }
        let isSelectedColumn = index == self.column && row >= 0
        var lines = [painted(.bold, "\(column.step) \(column.count)")]
        lines.append(painted(.dim, String(repeating: "─", count: width)))
        // Leaves out the first cards, so that the selected one is on the screen.
        let fitting = fittingCards(in: height)
        let first = isSelectedColumn ? max(0, min(row - fitting / 2, column.cards.count - fitting)) : 0
        for (number, card) in column.cards.enumerated().dropFirst(first).prefix(fitting) {
            let isSelected = isSelectedColumn && number == row
            let mark = isSelected && !inColours ? ">" : " "
            let address = card.address ?? "–"
            if cardHeight == 1 {
                lines.append(painted(isSelected ? .reversed : .plain, "\(mark)\(address)  \(card.ages)"))
                continue
            }
            lines.append(painted(isSelected ? .reversed : .plain, mark + address))
            lines.append(painted(isSelected ? .reversed : .dim, mark + card.ages))
            if cardHeight > 2 { lines.append(painted(.plain, "")) }
        }
        return lines
    }

    /// The number of lines of a card: three with the empty line, fewer in a small window.
    private var cardHeight: Int { fixedCardHeight ?? (size.lines >= 16 ? 3 : size.lines >= 10 ? 2 : 1) }

    /// The number of cards that fit below the head of a column, at least one. The card at the bottom needs no empty
    /// line.
    private func fittingCards(in height: Int) -> Int {
        max(1, (height - 2 + (cardHeight > 2 ? 1 : 0)) / cardHeight)
    }
}

extension DraftBoard {
    fileprivate var count: Int { columns.reduce(0) { $0 + $1.count } }

    /// Returns the board with only the cards whose id, step or masked address contains the text. A text that is an
    /// e-mail address also matches all cards with the same masked address. The count of a column is the number of its
    /// matching cards.
    fileprivate func matching(_ text: String) -> DraftBoard {
        let text = text.lowercased()
        let address = EmailAddress(text)?.masked
        let columns = columns.map { column -> Column in
            let cards = column.cards.filter { card in
                card.address != nil && card.address == address
                    || ["\(card.id)", card.step, card.address ?? ""].contains { $0.lowercased().contains(text) }
            }
            return Column(step: column.step, count: cards.count, cards: cards)
        }
        return DraftBoard(columns: columns, isCut: isCut)
    }

    fileprivate var title: String {
        isCut ? "\(count) or more unfinished drafts" : counted(count, "unfinished draft")
    }
}

extension DraftSummary {
    /// The words with which a question names the draft: its id and its masked address.
    fileprivate var name: String { "the draft \(id)" + (address.map { " of \($0)" } ?? "") }

    /// The age of the draft, the time left, and the number of wrong codes if there were any.
    fileprivate var ages: String {
        let age = span(from: createdAt, to: now)
        let left = timeLeft(from: now, to: expiresAt)
        return "\(age) · \(left)" + (failures > 0 ? " · \(failures)✗" : "")
    }
}

extension Date {
    /// Hours, minutes and seconds in UTC.
    fileprivate var timeOfDay: String { "\(timestamp.suffix(9).dropLast()) UTC" }
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
