import Accounts
import Foundation
import TestSupport
import Testing

@testable import accounts_api

@Suite("Tables and times in a terminal", .freshDatabase, .timeLimit(.minutes(30)))
struct TableTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `a table shortens its widest columns to fit the terminal, but neither the first nor the last`() {
        let table = Table(["0123456789", "a long long word", "한국어로 긴 낱말"], [["1", "2", "3"]])
        let lines = table.text(within: 36).split(separator: "\n")
        #expect(lines[0] == "0123456789  a long …  한국어로 긴")
        #expect(lines[1] == "                      낱말")
        #expect(table.text(within: nil).hasPrefix("0123456789  a long long word  한국어로 긴 낱말"))
        #expect(table.text(within: 1).hasPrefix("0123456789  "))
    }

    @Test(
        arguments: [
            ("한국어", 6), ("日本語", 6), ("\u{A960}", 2), ("\u{2329}", 2), ("\u{FE10}", 2), ("￦", 2), ("\u{17000}", 2),
            ("\u{1B000}", 2), ("\u{1F23B}", 2), ("\u{2A700}", 2), ("😀", 2), ("\u{1F321}", 1), ("\u{303F}", 1),
            ("🇰🇷", 2), ("e\u{301}", 1), ("…", 1),
        ] as [(String, Int)]
    )
    func `a wide character takes two columns`(text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    private static let outbox = Table(
        ["ID", "STATE", "TEMPLATE", "ATTEMPTS", "LAST ERROR"],
        [
            [
                .init(id: ID<Draft>("01a1ff41-2d4e-7b63-8f5a-0b6c2d9e1a53")!), "waiting", "verification-code", "12",
                "not delivered yet: 4.7.1 Greylisted, please come back later",
            ],
            [.init(id: ID<Draft>("01a1ff41-2d4f-7b63-8f5a-0b6c2d9e1a53")!), "delivered", "recovery-code", "1", ""],
        ],
        omittingIfNarrow: ["ATTEMPTS"]
    )

    @Test(
        arguments: [
            (
                110,
                """
                ID             STATE      TEMPLATE           ATTEMPTS  LAST ERROR
                01a1ff41-2d4e  waiting    verification-code  12        not delivered yet: 4.7.1 Greylisted, please come back
                                                                       later
                01a1ff41-2d4f  delivered  recovery-code      1
                """
            ),
            (
                70,
                """
                ID             STATE      TEMPLATE           LAST ERROR
                01a1ff41-2d4e  waiting    verification-code  not delivered yet: 4.7.1
                                                             Greylisted, please come
                                                             back later
                01a1ff41-2d4f  delivered  recovery-code
                """
            ),
        ]
    )
    func `a narrow table shortens ids, omits what it can do without, and wraps the last column`(
        width: Int,
        text: String
    ) {
        #expect(Self.outbox.text(within: width) == text)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= width })
    }

    @Test func `a table that fits is printed as it is`() {
        let text = Self.outbox.text(within: 140)
        #expect(text == Self.outbox.text(within: nil) && text.contains("01a1ff41-2d4e-7b63-8f5a-0b6c2d9e1a53"))
    }

    @Test(arguments: [(23, "ID  A LONG COLUMN  LAST"), (18, "ID  A LONG …  LAST"), (17, "ID  LAST")])
    func `a column that is omitted last is shortened before`(width: Int, header: String) {
        let table = Table(["ID", "A LONG COLUMN", "LAST"], [["1", "2", "3"]], atLast: ["A LONG COLUMN"])
        #expect(table.text(within: width).split(separator: "\n")[0] == header)
    }

    @Test(arguments: [(80, true), (60, false)])
    func `the funnel fits a narrow terminal`(columns: Int, showsAbandoned: Bool) async throws {
        try session.run(
            """
            INSERT INTO funnel_daily (day, flow, step, outcome, code, count)
            VALUES (now(), 'names@7', 'name', 'entered', '', 3), (now(), 'names@7', 'name', 'completed', '', 3),
                   (now(), 'names@7', 'name', 'refused', 'bad_format', 2),
                   (now(), 'names@7', 'second-factor', 'entered', '', 1)
            """
        )
        let (arguments, settings) = (["drafts", "funnel"], CommandRun.settingsOfMina)
        let terminal = try TerminalSession(columns: columns, lines: 24, arguments, settings: settings)
        let screen = try await terminal.expect("second-factor")
        let header = try #require(screen.lines.first { $0.hasPrefix("STEP ") }, "\(screen.text)")
        #expect(header.hasSuffix("REFUSALS") && header.contains("SHARE "), "\(screen.text)")
        #expect(header.contains("ABANDONED") == showsAbandoned, "\(screen.text)")
        #expect(try await terminal.end().status == 0)
    }

    @Test func `lists fit a terminal of 80 columns, unless --wide is given`() async throws {
        try await TestSignups.with { service in
            _ = try await service.signups.commit(service.readyDraft(email: "lee@example.com", username: "lee"))
            try await service.deliver()
            let draft = try await service.fill(service.start(), through: "email")
            try await service.deliverNext(to: .refuse("451 4.7.1 <ADDRESS>: Greylisted, please come back later"))
            try session.run(
                """
                INSERT INTO applications (id, events, has_webhook, backchannel_logout)
                VALUES ('shop', ARRAY['account.disabled'], true, false);
                SELECT write_event(id, 'account.disabled') FROM accounts;
                DELETE FROM deliveries;
                SELECT write_event(id, 'account.disabled') FROM accounts;
                UPDATE deliveries SET due_at = now() + interval '1 hour', last_error = 'answered 500 after 20 seconds'
                """
            )
            let settings = CommandRun.settingsOfMina
            try await service.signups.funnel.flush(to: service.database)
            for (arguments, line) in [
                (["drafts", "list"], "2 of 2 drafts"), (["drafts", "funnel"], "code "),
                (["outbox", "list"], "3 of 3 mails"), (["events", "list"], "2 of 2 lines"),
                (["accounts", "list"], "1 of 1 account"),
            ] {
                let terminal = try TerminalSession(columns: 80, lines: 24, arguments, settings: settings)
                let screen = try await terminal.expect(line)
                #expect(screen.timedOut == nil && !screen.text.contains("…"), "\(screen.text)")
                #expect(try await terminal.end().status == 0)
            }
            let wide = try TerminalSession(columns: 80, lines: 24, ["drafts", "list", "--wide"], settings: settings)
            #expect(try await wide.expect("2 of 2 drafts").text.contains("\(draft.id)"))
        }
    }

    @Test func `colours do not widen a column`() {
        let table = Table(["A", "B"], [[.init("red", .red), "x"], [.init("green", .green), .init("last", .dim)]])
        #expect(
            table.text(within: nil, inColours: true) == """
                \u{1B}[1mA\u{1B}[0m      \u{1B}[1mB\u{1B}[0m
                \u{1B}[31mred\u{1B}[0m    x
                \u{1B}[32mgreen\u{1B}[0m  \u{1B}[2mlast\u{1B}[0m
                """
        )
        #expect(table.text(within: nil) == "A      B\nred    x\ngreen  last")
    }

    @Test func `a table replaces control characters and bidi characters`() {
        let table = Table(["\u{1B}[31mred\u{202E}\u{7}", "한국"], [["a", "b"]]).text
        #expect(table == "\u{FFFD}[31mred\u{FFFD}\u{FFFD}  한국\na           b")
    }

    @Test(
        arguments: [
            (-5, "5 s ago"), (-3540, "59 min ago"), (3600, "in 1 h"), (169_200, "in 47 h"), (86_387, "in 24 h"),
            (3599, "in 1 h"), (172_700, "in 2 d"), (89, "in 1 min"), (-3599, "59 min ago"), (-777_600, "9 d ago"),
            (0, "0 s ago"),
        ] as [(Int, String)]
    )
    func `a relative time is shown in one unit`(seconds: Int, text: String) {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(relative(now + Double(seconds), to: now) == text)
    }
}
