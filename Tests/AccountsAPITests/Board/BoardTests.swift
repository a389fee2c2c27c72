import Foundation
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The drafts board", .freshDatabase, .timeLimit(.minutes(30)))
struct BoardTests {
    private static let arrows = (up: "\u{1B}[A", down: "\u{1B}[B", right: "\u{1B}[C", left: "\u{1B}[D")

    private func watch(columns: Int = 120, lines: Int = 24, settings more: [String: String] = [:]) throws
        -> TerminalSession
    {
        try TerminalSession(
            columns: columns,
            lines: lines,
            ["drafts", "board", "--watch"],
            settings: CommandRun.settingsOfMina.merging(more) { $1 }
        )
    }

    // MARK: - Without --watch

    @Test func `each step is a column, with a card for each draft`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            _ = try await service.readyDraft(email: "lee@example.com", username: "lee")
            _ = try await service.signups.commit(service.readyDraft(email: "park@example.com", username: "park"))
            _ = try await service.start()
            let run = try await CommandRun.byMina("drafts", "board")
            let lines = run.output.split(separator: "\n")
            #expect(run.status == 0 && lines[0] == "3 unfinished drafts")
            #expect(
                lines[1].split(separator: " ").joined(separator: " ")
                    == "email 1 code 1 password 0 profile 0 contact 0 totp 0 terms 0 review 1"
            )
            #expect(lines[3].contains("k•••@e•••.com") && lines[3].contains("l•••@e•••.com") && lines[3].contains("–"))
            #expect(lines[4].contains(" s · 24 h"))
            #expect(!run.output.contains("\u{1B}") && !run.output.contains("example"))

            let json = try await CommandRun.byMina("drafts", "board", "--json").json
            guard case .array(let columns)? = json["columns"], columns.count == 8 else {
                Issue.record("no columns")
                return
            }
            #expect(columns[1]["step"] == "code" && columns[1]["count"] == 1)
        }
    }

    @Test
    func `the text has every card, and columns that do not fit are below the others; the screen fills its window`()
        throws
    {
        let board = DraftBoard(
            columns: [
                .init(step: "one", count: 3, cards: ["a", "b", "c"].map { Self.card($0) }),
                .init(step: "two", count: 1, cards: [Self.card("d")]),
                .init(step: "three", count: 10_000, cards: [Self.card("e")]),
            ],
            isCut: true
        )
        let wide = BoardScreen.text(of: board, columns: 80, inColours: false).split(separator: "\n")
        #expect(wide[0] == "10004 or more unfinished drafts")
        #expect(wide[1].split(separator: " ").joined(separator: " ") == "one 3 two 1 three 10000")
        let narrow = BoardScreen.text(of: board, columns: 40, inColours: false)
        for text in ["one 3", "two 1", "three 10000", " a", " b", " c", " d", " e"] { #expect(narrow.contains(text)) }
        #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 40 })
        for size in [(1, 1), (18, 2), (40, 3), (200, 60)] {
            let lines = BoardScreen(board, size: (columns: size.0, lines: size.1)).lines(inColours: false)
            #expect(lines.count == size.1 && lines.allSatisfy { $0.count <= size.0 })
        }
        let live = BoardScreen(board, size: (40, 20)).lines(inColours: false)
        #expect(live[0].hasPrefix("10004 or more unfinished drafts  › th"))
    }

    @Test func `--watch without a terminal is a usage error`() async throws {
        #expect(try await CommandRun.byMina("drafts", "board", "--watch").status == 2)
        #expect(try await CommandRun.byMina("drafts", "board", "--watch", "--json").status == 2)
    }

    // MARK: - The screen

    private static func card(_ address: String?, step: String = "x", id: ID<Draft> = ID()) -> DraftSummary {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        return DraftSummary(
            id: id,
            state: .open,
            step: step,
            address: address,
            revision: 1,
            failures: 0,
            createdAt: now,
            updatedAt: now,
            expiresAt: now + 3600,
            now: now
        )
    }

    /// A board with 30 drafts at the first step and one at the second.
    private static func screen(columns: Int = 100, lines: Int = 24) -> BoardScreen {
        let letters = Array("abcdefghijklmnopqrstuvwxyzabcd")
        let cards = letters.enumerated().map { card("\($1)\($0)•••@e•••.com", step: "one") }
        return BoardScreen(
            DraftBoard(
                columns: [
                    .init(step: "one", count: 40, cards: cards),
                    .init(step: "two", count: 1, cards: [card("k•••@e•••.com", step: "two")]),
                ]
            ),
            size: (columns, lines),
            at: Date(timeIntervalSince1970: 1_800_000_000)
        )
    }

    private func press(_ keys: Key..., on screen: inout BoardScreen) -> BoardScreen.Action? {
        var action: BoardScreen.Action?
        for key in keys { action = screen.handle(key) }
        return action
    }

    @Test func `Escape goes back from a draft, the keys, a question and a filter, and never quits`() throws {
        var screen = Self.screen()
        let board = screen.lines(inColours: false)
        let first = screen.board.columns[0].cards[0].id
        #expect(press(.escape, .escape, on: &screen) == nil)
        #expect(press(.enter, on: &screen) == .show(first))
        screen.show(["all about it"], of: first)
        #expect(screen.lines(inColours: false)[1].hasPrefix("all about it"))
        #expect(press(.character("?"), on: &screen) == nil)
        #expect(screen.lines(inColours: false)[1].contains("select a draft"))
        #expect(press(.escape, on: &screen) == nil)
        #expect(screen.lines(inColours: false)[1].hasPrefix("all about it"))
        #expect(press(.character("x"), .escape, on: &screen) == nil && screen.shown == first)
        #expect(press(.escape, on: &screen) == nil && screen.lines(inColours: false) == board)
        for keys in [
            [.character("/"), .character("k"), .escape], [.character("/"), .character("k"), .enter, .escape],
        ] as [[Key]] {
            for key in keys { #expect(screen.handle(key) == nil) }
            #expect(screen.lines(inColours: false)[0] == board[0])
        }
        // A late report of a draft that is not shown any more changes nothing.
        let before = screen.lines(inColours: false)
        screen.show(["late"], of: first)
        #expect(screen.lines(inColours: false) == before)
        #expect(press(.enter, .character("q"), on: &screen) == nil, "back")
        #expect(press(.character("q"), on: &screen) == .quit)
        #expect(press(.enter, .interrupt, on: &screen) == .quit)
    }

    @Test func `a text that is longer than the window scrolls and says where it is`() throws {
        var screen = Self.screen(columns: 40, lines: 12)
        let id = screen.board.columns[0].cards[0].id
        _ = screen.handle(.enter)
        let wide = Array(repeating: "word", count: 12).joined(separator: " ")
        screen.show((1...24).map { "line \($0)" } + [wide], of: id)
        func position() -> String { screen.lines(inColours: false)[0].trimmingCharacters(in: .whitespaces) }
        #expect(position() == "lines 1 to 10 of 26", "the last line is wrapped")
        for (key, expected) in [
            (.down, "2 to 11"), (.pageDown, "12 to 21"), (.end, "17 to 26"), (.down, "17 to 26"), (.up, "16 to 25"),
            (.pageUp, "6 to 15"), (.home, "1 to 10"), (.character("G"), "17 to 26"), (.character("g"), "1 to 10"),
            (.up, "1 to 10"), (.character(" "), "11 to 20"), (.character("j"), "12 to 21"),
            (.character("k"), "11 to 20"),
        ] as [(Key, String)] {
            #expect(screen.handle(key) == nil)
            #expect(position() == "lines \(expected) of 26", "\(key)")
        }
        screen.size = (40, 40)
        #expect(position() == "41 unfinished drafts" && screen.lines(inColours: false)[1].hasPrefix("line 1 "))
    }

    @Test func `pages, Home and End move the selection in a column`() throws {
        var screen = Self.screen()
        let ids = screen.board.columns[0].cards.map(\.id)
        // 24 lines have room for seven cards.
        for (key, index) in [
            (.pageDown, 7), (.pageDown, 14), (.pageUp, 7), (.end, 29), (.pageDown, 29), (.home, 0),
            (.character("G"), 29),
            (.character("g"), 0), (.pageUp, 0),
        ] as [(Key, Int)] {
            #expect(screen.handle(key) == nil)
            #expect(screen.handle(.enter) == .show(ids[index]), "\(key)")
            #expect(screen.handle(.escape) == nil)
        }
    }

    @Test func `a filter shows the drafts whose id, step or address matches`() throws {
        var screen = Self.screen()
        let kim = screen.board.columns[1].cards[0].id
        func filtered(_ text: String) -> [ID<Draft>] {
            _ = screen.handle(.escape)
            for key in [Key.character("/")] + text.map(Key.character) + [.enter] { _ = screen.handle(key) }
            return screen.board.columns.flatMap(\.cards).map(\.id)
        }
        #expect(filtered("\(kim)".suffix(12).lowercased()) == [kim])
        #expect(filtered("kim@example.com") == [kim], "an address is masked in the same way")
        #expect(screen.handle(.enter) == .show(kim), "the selection goes to a column with a match")
        _ = screen.handle(.escape)
        #expect(screen.lines(inColours: false)[0].hasPrefix("1 found in 31 of 41 unfinished drafts: /kim@"))
        #expect(filtered("TWO") == [kim] && filtered("c2•").count == 1 && filtered("nothing").isEmpty)
        #expect(screen.handle(.enter) == nil, "nothing is selected")
        // The filter stays when the board is read again.
        #expect(filtered("two") == [kim])
        screen.update(Self.screen().board)
        #expect(screen.board.columns.map(\.count) == [0, 1])
        for key in [.character("/"), .backspace, .character("o")] as [Key] { _ = screen.handle(key) }
        #expect(screen.lines(inColours: false).last?.hasPrefix("/two_") == true)
    }

    @Test func `a question names the id, also of the draft that is shown, and y answers it`() throws {
        var screen = Self.screen(columns: 40)
        let id = screen.board.columns[0].cards[1].id
        _ = press(.down, .enter, on: &screen)
        for (key, action, verb) in [
            (.character("e"), .extend(id), "Restart"), (.character("x"), .expire(id), "Delete"),
        ] as [(Key, BoardScreen.Action, String)] {
            #expect(screen.handle(key) == nil)
            let lines = screen.lines(inColours: false)
            let question = lines.suffix(4).joined(separator: " ").split(separator: " ").joined(separator: " ")
            #expect(lines.count == 24 && question.contains(verb) && question.contains("\(id) of b1•••@e•••.com?"))
            #expect(screen.handle(.character("n")) == nil && screen.shown == id)
            #expect(press(key, .character("y"), on: &screen) == action)
        }
        #expect(screen.shown == nil, "the board follows a deletion")
        #expect(press(.character("x"), .character("y"), on: &screen) == .expire(id))
        #expect(
            press(.character("?"), .character("x"), .character("y"), on: &screen) == nil,
            "the help is about no draft"
        )
    }

    @Test(arguments: [[.character("x")], [.character("/"), .character("k")]] as [[Key]])
    func `a message behind a question or a filter is shown afterwards, until the next key`(keys: [Key]) throws {
        var screen = Self.screen()
        for key in keys { _ = screen.handle(key) }
        screen.notice = "deleted draft"
        #expect(screen.lines(inColours: false).last?.hasPrefix("deleted draft") == false)
        _ = screen.handle(.enter)
        #expect(screen.lines(inColours: false).last?.hasPrefix("deleted draft") == true)
        _ = screen.handle(.down)
        #expect(screen.lines(inColours: false).last?.hasPrefix("deleted draft") == false)
    }

    @Test func `data that could not be updated are dim and have their time`() throws {
        var screen = Self.screen()
        let fresh = screen.lines(inColours: true)
        screen.updateError = "database unavailable"
        let stale = screen.lines(inColours: true)
        #expect(stale[0].contains("not updated since 08:00:00 UTC: 41 unfinished drafts"))
        #expect(!fresh[6].hasPrefix("\u{1B}[2m"))
        #expect(stale.dropFirst().dropLast().allSatisfy { !$0.contains("\u{1B}[1m") })
        #expect(stale[6].hasPrefix("\u{1B}[2m"))
        screen.update(screen.board)
        #expect(screen.updateError == nil && screen.lines(inColours: true) == fresh)
    }

    @Test(arguments: [(24, 7), (16, 4), (15, 5), (12, 4), (9, 5), (6, 2)])
    func `a card takes fewer lines in a small window`(lines: Int, cards: Int) {
        let text = Self.screen(columns: 40, lines: lines).lines(inColours: false)
        #expect(text.count == lines)
        #expect(text.filter { $0.contains("•••@e•••.com") && !$0.contains("k•••") }.count + 1 == cards)
    }

    // MARK: - In a terminal

    @Test func `the board follows changes, shows a draft, deletes a draft and restores the terminal`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            let terminal = try watch(columns: 160)
            let first = try await terminal.expect("k•••@e•••.com")
            #expect(first.timedOut == nil && first.lines[0] == "1 unfinished draft")
            #expect(first.bold.contains("email") && first.bold.contains("k•••@e•••.com"), "the card is selected")

            let lee = try await service.fill(service.start(), through: "code", email: "lee@example.com")
            #expect(try await terminal.expect("2 unfinished drafts").text.contains("l•••@e•••.com"))
            _ = try await service.fill(lee, through: "profile", email: "lee@example.com", username: "lee")
            #expect(try await terminal.expect("contact 1").timedOut == nil, "the card has moved")

            try await terminal.press("\r")
            let detail = try await terminal.expect("revision")
            #expect(detail.text.contains("\(kim.id)") && detail.text.contains("Esc back"))
            #expect(!detail.text.contains("kim@example.com"))
            let question = "the draft \(kim.id) of k•••@e•••.com?"
            try await terminal.press("e")
            #expect(try await terminal.expect("Restart the lifetime of \(question)").timedOut == nil)
            try await terminal.press("y")
            _ = try await terminal.expect("extended draft \(kim.id): expires in 24 h")
            try await terminal.press("G")
            #expect(try await terminal.expect("REASON").text.contains("terms "), "it also says why")
            try await terminal.press("\u{1B}")
            _ = try await terminal.expect("Enter show")
            try await terminal.press("\u{1B}")

            try await terminal.press("x")
            #expect(try await terminal.expect("Delete \(question)").timedOut == nil)
            try await terminal.press("n")
            _ = try await terminal.expect("Enter show")
            try await terminal.press("xy")
            _ = try await terminal.expect("deleted draft \(kim.id)")
            // The board is read again after the deletion.
            #expect(try await terminal.expect("1 unfinished draft").timedOut == nil)
            let audit = try DatabaseSession()
                .query("SELECT string_agg(operator || ' ' || act, ', ' ORDER BY at) FROM audit").only
            #expect(try audit.decode(String.self) == "mina extend, mina expire")

            try await terminal.press("q")
            let end = try await terminal.end()
            #expect(end.status == 0 && end.isRestored)
        }
    }

    @Test func `the arrow keys move the selection between cards and columns`() async throws {
        try await TestSignups.with { service in
            for name in ["ann", "ben"] {
                _ = try await service.fill(service.start(), through: "email", email: "\(name)@a.example")
            }
            _ = try await service.fill(service.start(), through: "code", email: "cho@a.example")
            let terminal = try watch(columns: 160)
            #expect(
                try await terminal.expect("code 2").bold.contains("b•••@a•••.example"),
                "the newest card is selected first"
            )
            try await terminal.press(Self.arrows.down)
            try await terminal.press("\r")
            let ann = try await terminal.expect("revision")
            #expect(ann.text.contains("a•••@a•••.example") && !ann.text.contains("b•••@a•••.example"))
            try await terminal.press("q")
            _ = try await terminal.expect("Enter show")
            try await terminal.press(Self.arrows.right + "\r")
            let cho = try await terminal.expect("revision")
            #expect(cho.text.contains("c•••@a•••.example") && !cho.text.contains("a•••@a•••.example"))
            try await terminal.press("\u{3}")
            let end = try await terminal.end()
            #expect(end.status == 0 && end.isRestored)
        }
    }

    @Test func `the board adapts to the size of the window`() async throws {
        try await TestSignups.with { service in
            _ = try await service.readyDraft()
            let terminal = try watch(columns: 160, lines: 20)
            let wide = try await terminal.expect("review 1")
            #expect(wide.lines[1].contains("email 0") && wide.lines.count == 20)
            try await terminal.resize(columns: 40, lines: 10)
            let narrow = try await terminal.expect("review 1")
            #expect(narrow.timedOut == nil && narrow.lines.count == 10)
            #expect(!narrow.text.contains("email") && narrow.text.contains("k•••@e•••.com"))
            #expect(narrow.lines[9].hasPrefix("←↑↓→ move"))
            try await terminal.resize(columns: 160, lines: 20)
            #expect(try await terminal.expect("email 0").timedOut == nil)
            try await terminal.press("q")
            #expect(try await terminal.end().isRestored)
        }
    }

    @Test func `SIGTERM restores the terminal, and NO_COLOR turns colours off`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let terminal = try watch(columns: 160, settings: ["NO_COLOR": "1"])
            let screen = try await terminal.expect(">k•••@e•••.com")
            #expect(screen.timedOut == nil && screen.bold.isEmpty)
            try await terminal.send(SIGTERM)
            #expect(try await terminal.end().isRestored)
        }
    }

    @Test func `q restores the terminal at once, also while the database does not respond`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let terminal = try watch(columns: 160)
            _ = try await terminal.expect("k•••@e•••.com")
            let session = try DatabaseSession()
            try session.run("BEGIN; LOCK TABLE drafts")
            _ = try await DatabaseSession().waitUntilSomebodyIsBlocked()
            try await terminal.press("q")
            // The lock is still held here.
            #expect(try await terminal.expectRestored().timedOut == nil)
            try session.run("COMMIT")
            #expect(try await terminal.end().isRestored)
        }
    }

    @Test func `a signal after q ends the program by a handler, which process 1 of a container needs`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            let terminal = try watch(columns: 160)
            _ = try await terminal.expect("k•••@e•••.com")
            let session = try DatabaseSession()
            try session.run("BEGIN; LOCK TABLE drafts")
            _ = try await DatabaseSession().waitUntilSomebodyIsBlocked()
            try await terminal.press("q")
            #expect(try await terminal.expectRestored().timedOut == nil)
            try await terminal.send(SIGTERM)
            // The default action of the signal would be reported as a negative status. The status is 0 if the query
            // reached its time limit before the signal.
            let status = try await terminal.end().status
            #expect(status == 128 + Int(SIGTERM) || status == 0)
            try session.run("COMMIT")
        }
    }

    @Test func `the board reports a lost database, keeps its last content and recovers`() async throws {
        try await Cluster.withRunning { cluster in
            _ = try Migrations().apply(to: cluster.conninfo)
            try await TestSignups.with(conninfo: cluster.conninfo) { service in
                _ = try await service.fill(service.start(), through: "email")
                let terminal = try watch(columns: 160, settings: ["DATABASE_URL": cluster.conninfo])
                _ = try await terminal.expect("k•••@e•••.com")
                try await cluster.stop()
                let stale = try await terminal.expect("database unavailable")
                #expect(stale.text.contains("k•••@e•••.com") && stale.lines[0].hasPrefix("not updated since "))
                try await cluster.start()
                #expect(try await terminal.expectGone("database unavailable").timedOut == nil)
                try await terminal.press("q")
                #expect(try await terminal.end().status == 0)
            }
        }
    }

    // MARK: - Keys

    @Test func `keys are decoded completely from partial reads`() {
        var reader = KeyReader()
        #expect(
            reader.read(Array("jq\u{1B}[A\u{1B}OB\r\u{3}é\u{7F}\u{8}".utf8)) == [
                .character("j"), .character("q"), .up, .down, .enter, .interrupt, .backspace, .backspace,
            ]
        )
        #expect(
            reader.read(Array("\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}OF\u{1B}[1~\u{1B}[4~\u{1B}[3~".utf8)) == [
                .pageUp, .pageDown, .home, .end, .home, .end,
            ]
        )
        #expect(reader.read([0x1B]).isEmpty && reader.isPending)
        #expect(reader.read(Array("[A".utf8)) == [.up] && !reader.isPending)
        #expect(reader.read([0x1B]).isEmpty)
        #expect(reader.flush() == .escape)
        #expect(reader.read([0x1B, 0x1B]) == [.escape] && reader.flush() == .escape)
        #expect(reader.read([0x1B, UInt8(ascii: "[")]).isEmpty)
        #expect(reader.read([UInt8(ascii: "D"), UInt8(ascii: "x")]) == [.left, .character("x")])
        #expect(reader.read(Array("\u{1B}[1;5C\u{1B}[15~y".utf8)) == [.character("y")])
    }

    @Test func `an unfinished sequence swallows no later key`() {
        var reader = KeyReader()
        #expect(reader.read(Array("\u{1B}[\u{3}q".utf8)) == [.interrupt, .character("q")])
        #expect(reader.read(Array("\u{1B}[1;".utf8)).isEmpty && reader.isPending)
        #expect(reader.flush() == nil && !reader.isPending)
        #expect(reader.read(Array("q".utf8)) == [.character("q")])
    }

    @Test func `a function key of the Linux console is no letter`() {
        var reader = KeyReader()
        #expect(reader.read(Array("\u{1B}[[Aq".utf8)) == [.character("q")])
        #expect(reader.read(Array("\u{1B}[[".utf8)).isEmpty)
        #expect(reader.read(Array("Eq".utf8)) == [.character("q")])
    }
}
