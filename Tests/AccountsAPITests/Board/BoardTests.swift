import Foundation
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The drafts board", .freshDatabase, .timeLimit(.minutes(3)))
struct BoardTests {
    private static let arrows = (up: "\u{1B}[A", down: "\u{1B}[B", right: "\u{1B}[C", left: "\u{1B}[D")

    private var settings: [String: String] {
        ["DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": TestSignups.keys, "USER": "mina"]
    }

    private func watch(columns: Int = 120, lines: Int = 24, settings more: [String: String] = [:]) throws
        -> TerminalSession
    {
        try TerminalSession(
            columns: columns,
            lines: lines,
            ["drafts", "board", "--watch"],
            settings: settings.merging(more) { $1 }
        )
    }

    // MARK: - Without --watch

    @Test func `each step is a column, with a card for each draft`() async throws {
        try await TestSignups.with { service in
            _ = try await service.fill(service.start(), through: "email")
            _ = try await service.readyDraft(email: "lee@example.com", username: "lee")
            _ = try await service.signups.commit(service.readyDraft(email: "park@example.com", username: "park"))
            _ = try await service.start()
            let run = try await CommandRun.of(["drafts", "board"], settings: settings)
            let lines = run.output.split(separator: "\n")
            #expect(run.status == 0 && lines[0] == "3 unfinished sign-ups")
            #expect(
                lines[1].split(separator: " ").joined(separator: " ")
                    == "email 1 code 1 password 0 profile 0 contact 0 totp 0 terms 0 review 1"
            )
            #expect(lines[3].contains("k•••@e•••.com") && lines[3].contains("l•••@e•••.com") && lines[3].contains("–"))
            #expect(lines[4].contains(" s · 23 h") || lines[4].contains(" s · 24 h"))
            #expect(!run.output.contains("\u{1B}") && !run.output.contains("example"))

            let json = try await JSON.read(
                Array(CommandRun.of(["drafts", "board", "--json"], settings: settings).output.utf8)
            )
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
        func card(_ name: String) -> DraftSummary {
            let now = Date()
            return DraftSummary(
                id: ID<Draft>(),
                state: .open,
                step: "x",
                address: name,
                revision: 1,
                failures: 0,
                createdAt: now,
                updatedAt: now,
                expiresAt: now + 3600,
                now: now
            )
        }
        let board = DraftBoard(
            columns: [
                .init(step: "one", count: 3, cards: ["a", "b", "c"].map(card)),
                .init(step: "two", count: 1, cards: [card("d")]),
                .init(step: "three", count: 10_000, cards: [card("e")]),
            ],
            isCut: true
        )
        let wide = BoardScreen.text(of: board, columns: 80, inColours: false).split(separator: "\n")
        #expect(wide[0] == "10004 or more unfinished sign-ups")
        #expect(wide[1].split(separator: " ").joined(separator: " ") == "one 3 two 1 three 10000")
        let narrow = BoardScreen.text(of: board, columns: 40, inColours: false)
        for text in ["one 3", "two 1", "three 10000", " a", " b", " c", " d", " e"] { #expect(narrow.contains(text)) }
        #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 40 })
        for size in [(1, 1), (18, 2), (40, 3), (200, 60)] {
            let lines = BoardScreen(board, size: (columns: size.0, lines: size.1)).lines(inColours: false)
            #expect(lines.count == size.1 && lines.allSatisfy { $0.count <= size.0 })
        }
        let live = BoardScreen(board, size: (40, 20)).lines(inColours: false)
        #expect(live[0].hasPrefix("10004 or more unfinished sign-ups  › th"))
    }

    @Test func `--watch without a terminal is a usage error`() async throws {
        #expect(try await CommandRun.of(["drafts", "board", "--watch"], settings: settings).status == 2)
        #expect(try await CommandRun.of(["drafts", "board", "--watch", "--json"], settings: settings).status == 2)
    }

    // MARK: - In a terminal

    @Test func `the board follows changes, shows a draft, deletes a draft and restores the terminal`() async throws {
        try await TestSignups.with { service in
            let kim = try await service.fill(service.start(), through: "email")
            let terminal = try watch(columns: 160)
            let first = try await terminal.expect("k•••@e•••.com")
            #expect(first.timedOut == nil && first.lines[0] == "1 unfinished sign-up")
            #expect(first.bold.contains("email") && first.bold.contains("k•••@e•••.com"), "the card is selected")

            let lee = try await service.fill(service.start(), through: "code", email: "lee@example.com")
            #expect(try await terminal.expect("2 unfinished sign-ups").text.contains("l•••@e•••.com"))
            _ = try await service.fill(lee, through: "profile", email: "lee@example.com", username: "lee")
            #expect(try await terminal.expect("contact 1").timedOut == nil, "the card has moved")

            try await terminal.press("\r")
            let detail = try await terminal.expect("revision")
            #expect(detail.text.contains("\(kim.id)") && detail.text.contains("press any key to return"))
            #expect(!detail.text.contains("kim@example.com"))
            try await terminal.press(" ")
            _ = try await terminal.expect("Enter show")

            try await terminal.press("x")
            #expect(try await terminal.expect("Delete the sign-up of k•••@e•••.com?").timedOut == nil)
            try await terminal.press("n")
            _ = try await terminal.expect("Enter show")
            try await terminal.press("xy")
            _ = try await terminal.expect("deleted draft \(kim.id)")
            // The board is read again after the deletion.
            #expect(try await terminal.expect("1 unfinished sign-up").timedOut == nil)
            let audit = try TestSupport.Session().query("SELECT operator || ' ' || act FROM audit").only
            #expect(try audit.decode(String.self) == "mina expire")

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
            let session = try TestSupport.Session()
            try session.run("BEGIN; LOCK TABLE drafts")
            _ = try await TestSupport.Session().waitUntilSomebodyIsBlocked()
            try await terminal.press("q")
            // The lock is still held here.
            #expect(try await terminal.expectRestored().timedOut == nil)
            try session.run("COMMIT")
            #expect(try await terminal.end().isRestored)
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
                #expect(try await terminal.expect("database unavailable").text.contains("k•••@e•••.com"))
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
            reader.read(Array("jq\u{1B}[A\u{1B}OB\r\u{3}é".utf8)) == [
                .letter("j"), .letter("q"), .up, .down, .enter, .interrupt,
            ]
        )
        #expect(reader.read([0x1B]).isEmpty && reader.isPending)
        #expect(reader.read(Array("[A".utf8)) == [.up] && !reader.isPending)
        #expect(reader.read([0x1B]).isEmpty)
        #expect(reader.flush() == [.escape])
        #expect(reader.read([0x1B, 0x1B]) == [.escape] && reader.flush() == [.escape])
        #expect(reader.read([0x1B, UInt8(ascii: "[")]).isEmpty)
        #expect(reader.read([UInt8(ascii: "D"), UInt8(ascii: "x")]) == [.left, .letter("x")])
        #expect(reader.read(Array("\u{1B}[1;5C\u{1B}[15~y".utf8)) == [.letter("y")])
    }
}
