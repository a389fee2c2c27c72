import Accounts
import ArgumentParser
import UnixSignals

extension DraftCommands {
    struct Board: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Draws unfinished drafts as cards, in one column per step, the newest 100 of each.",
            discussion: """
                Recoveries and changes of address are drafts, as sign-ups are. A card shows the masked address, the \
                age, the time left and the number of wrong codes (✗). The counts cover the newest 10,000 drafts. \
                --watch updates the board every second, and takes keys: arrows (or h j k l) move, Enter shows a \
                draft, / filters, x deletes a draft and e restarts its lifetime, both after a question, Esc goes \
                back, ? shows all keys, q quits.

                EXAMPLES
                  accounts-api drafts board
                  accounts-api drafts board --watch --operator mina
                """
        )

        @Flag(help: "Keeps the board on the screen and updates it.") var watch = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            if watch, flags.json { throw ValidationError("pass either --watch or --json, not both") }
            if watch { return try await flags.withOperator { try await LiveBoard(admin: $0).run() } }
            let board = try await flags.withOperator { try await $0.board() }
            if flags.json {
                print(board.json.text)
            } else {
                let columns = Terminal.size?.columns ?? 20 * board.columns.count
                print(BoardScreen.text(of: board, columns: columns, inColours: Terminal.hasColours))
            }
        }
    }
}

extension DraftBoard {
    fileprivate var json: JSON {
        let columns = columns.map { column -> JSON in
            [
                "step": .string(column.step), "count": .integer(column.count),
                "drafts": .array(column.cards.map(\.json)),
            ]
        }
        return ["columns": .array(columns)]
    }
}

/// The board of `--watch`: handles keys, changes in the database and changes of the window size.
///
/// After the first query, queries run in tasks of their own, so keys and signals never wait for the database.
private struct LiveBoard {
    let admin: Operator

    private enum Event {
        case key(Key)
        case resized
        case quit
        case board(DraftBoard)
        case updateError(String)
        case detail(ID<Draft>, [String])
        case notice(String)
    }

    func run() async throws {
        var screen = BoardScreen(try await admin.board(), size: Terminal.size ?? (80, 24))
        // Trap signals before changing the terminal, so that a signal cannot leave it changed.
        let signals = await UnixSignalsSequence(trapping: .sigwinch, .sigint, .sigterm, .sighup)
        guard let terminal = LiveTerminal() else { throw ValidationError("--watch needs a terminal") }
        let (events, eventSink) = AsyncStream<Event>.makeStream()
        let (refreshes, refresh) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { tasks in
            tasks.addTask {
                for await key in LiveTerminal.keys() { eventSink.yield(.key(key)) }
                eventSink.yield(.quit)
            }
            tasks.addTask {
                for await signal in signals { eventSink.yield(signal == .sigwinch ? .resized : .quit) }
            }
            tasks.addTask {
                for await _ in Ticks(every: .seconds(1)) { refresh.yield() }
            }
            tasks.addTask {
                for await _ in refreshes { eventSink.yield(await load()) }
            }
            var drawn: [String] = []
            func draw() {
                let lines = screen.lines(inColours: Terminal.hasColours)
                if lines != drawn { terminal.draw(lines) }
                drawn = lines
            }
            func show(_ id: ID<Draft>) {
                let columns = screen.size.columns
                tasks.addTask { eventSink.yield(await report(of: id, within: columns)) }
            }
            draw()
            loop: for await event in events {
                switch event {
                case .quit: break loop
                case .resized:
                    screen.size = Terminal.size ?? screen.size
                    if let id = screen.shown { show(id) }
                case .board(let board): screen.update(board)
                case .updateError(let reason): screen.updateError = reason
                case .detail(let id, let lines): screen.show(lines, of: id)
                case .notice(let text): screen.notice = text
                case .key(let key):
                    switch screen.handle(key) {
                    case nil: break
                    case .quit: break loop
                    case .show(let id): show(id)
                    case .expire(let id):
                        tasks.addTask {
                            eventSink.yield(await expire(id))
                            refresh.yield()
                        }
                    case .extend(let id):
                        let columns = screen.size.columns
                        tasks.addTask {
                            eventSink.yield(await extend(id))
                            eventSink.yield(await report(of: id, within: columns))
                            refresh.yield()
                        }
                    }
                }
                draw()
            }
            // Restore the terminal first, because tasks may wait for the database before they end.
            terminal.restore()
            tasks.cancelAll()
        }
    }

    private func load() async -> Event {
        do throws(DatabaseError) { return .board(try await admin.board()) } catch { return .updateError("\(error)") }
    }

    private func report(of id: ID<Draft>, within columns: Int) async -> Event {
        do {
            let draft = try await admin.existing(id)
            let admin = admin.following(draft)
            let report = DraftReport(
                draft: draft,
                history: try await admin.history(of: draft),
                progress: admin.progress(of: draft),
                flow: admin.flow,
                reveals: false
            )
            let obstacles = draft.account == nil ? try await admin.obstacles(of: draft) : []
            let text =
                report.text(within: columns, inColours: false) + "\n\n"
                + draft.text(of: obstacles, within: columns, inColours: false)
            return .detail(id, text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        } catch {
            return .detail(id, ["\(error)"])
        }
    }

    private func expire(_ id: ID<Draft>) async -> Event {
        await noticeOfAct {
            try await admin.expire(id) ? "deleted draft \(id)" : "no open draft \(id)"
        }
    }

    private func extend(_ id: ID<Draft>) async -> Event {
        await noticeOfAct {
            guard let end = try await admin.extend(id) else { return "no open draft \(id)" }
            return "extended draft \(id): expires \(relative(end.expiresAt, to: end.now))"
        }
    }

    private func noticeOfAct(_ act: () async throws -> String) async -> Event {
        do {
            try admin.checkName()
            return .notice(try await act())
        } catch {
            return .notice("\(error)")
        }
    }
}
