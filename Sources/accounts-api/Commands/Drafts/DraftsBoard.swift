import Accounts
import ArgumentParser
import UnixSignals

extension DraftCommands {
    struct Board: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Unfinished sign-ups as cards in columns, one for each step.",
            discussion: """
                A card has the masked address, its age, the time left, and how many codes were wrong (✗). The counts are of \
                the newest 10,000. --watch draws it anew each second; arrows (or h j k l) move, Enter shows a draft, x ends it after a question, q \
                leaves.

                EXAMPLES
                  accounts-api drafts board
                  accounts-api drafts board --watch --operator mina
                """
        )

        @Flag(help: "Stays, and follows what happens.") var watch = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            if watch, flags.json { throw ValidationError("--watch draws, and --json does not") }
            if watch { return try await flags.withOperator { try await LiveBoard(worker: $0).run() } }
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

/// The board that stays: what is pressed, what happens in the database, and a terminal that changes its size.
private struct LiveBoard {
    let worker: Operator

    private enum Event {
        case key(Key)
        case tick
        case resized
        case leave
    }

    func run() async throws {
        var screen = BoardScreen(try await worker.board(), size: Terminal.size ?? (80, 24))
        // Before the terminal is changed, so that no signal leaves it so.
        let signals = await UnixSignalsSequence(trapping: .sigwinch, .sigint, .sigterm, .sighup)
        guard let terminal = LiveTerminal() else { throw ValidationError("--watch needs a terminal") }
        let (events, sink) = AsyncStream<Event>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                for await key in LiveTerminal.keys() { sink.yield(.key(key)) }
                sink.yield(.leave)
            }
            tasks.addTask {
                for await signal in signals { sink.yield(signal == .sigwinch ? .resized : .leave) }
            }
            tasks.addTask {
                for await _ in Ticks(every: .seconds(1)) { sink.yield(.tick) }
            }
            terminal.draw(screen.lines(inColours: Terminal.hasColours))
            var drawn: [String] = []
            for await event in events {
                guard try await follow(event, on: &screen) else { break }
                let lines = screen.lines(inColours: Terminal.hasColours)
                if lines != drawn { terminal.draw(lines) }
                drawn = lines
            }
            tasks.cancelAll()
        }
    }

    /// False where it is over.
    private func follow(_ event: Event, on screen: inout BoardScreen) async throws -> Bool {
        switch event {
        case .leave: return false
        case .resized: screen.size = Terminal.size ?? screen.size
        case .tick: await refresh(&screen)
        case .key(let key):
            switch screen.take(key) {
            case .leave: return false
            case nil: break
            case .show(let id):
                do {
                    screen.show(try await report(of: id, within: screen.size.columns))
                } catch {
                    screen.notice = "\(error)"
                }
            case .expire(let id):
                do {
                    try worker.checkName()
                    let isEnded = try await worker.expire(id)
                    await refresh(&screen)
                    screen.notice = isEnded ? "\(id) is gone" : "there is no open draft \(id)"
                } catch {
                    screen.notice = "\(error)"
                }
            }
        }
        return true
    }

    private func refresh(_ screen: inout BoardScreen) async {
        do throws(DatabaseError) {
            screen.update(try await worker.board())
            screen.trouble = nil
        } catch {
            screen.trouble = "\(error)"
        }
    }

    private func report(of id: ID<Draft>, within columns: Int) async throws -> [String] {
        let draft = try await worker.existing(id)
        let report = DraftReport(draft: draft, standing: worker.standing(of: draft), flow: worker.flow, reveals: false)
        return report.text(within: columns, inColours: false).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }
}
