import Accounts
import ArgumentParser

extension EventCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists events, newest first, with the applications that wait for them.",
            discussion: """
                EXAMPLE
                  accounts-api events list --undelivered
                """
        )

        @Flag(help: "Only events for which an application waits.") var undelivered = false
        @OptionGroup var page: PageFlags<EventRowCursor>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let events = try await flags.withOperator(needsKeys: false) {
                try await $0.events(isUndelivered: undelivered, limit: page.limit, after: page.after)
            }
            print(flags.json ? events.json("events", \.json).text : Self.text(of: events, isWide: flags.wide))
        }

        private static func text(of page: ListPage<EventRow>, isWide: Bool) -> String {
            if page.total == 0 { return "no events" }
            let rows = page.items.map { row -> [Table.Cell] in
                let waiting = row.waiting
                return [
                    .init(id: row.event.id), .init(row.event.type), .init(id: row.event.account),
                    "\(row.event.sequence)", .init(relative(row.event.createdAt, to: page.now)),
                    .init(waiting?.application ?? ""),
                    .init(waiting?.state ?? "delivered", waiting?.state == "failed" ? .red : .plain),
                    .init(waiting.map { "\($0.attempts)" } ?? ""),
                    .init(waiting.map { $0.state == "waiting" ? relative($0.dueAt, to: page.now) : "" } ?? ""),
                    .init(waiting?.lastError ?? ""),
                ]
            }
            let header = [
                "ID", "TYPE", "ACCOUNT", "SEQUENCE", "CREATED", "APPLICATION", "STATE", "ATTEMPTS", "DUE", "LAST ERROR",
            ]
            let table = Table(header, rows, omittingIfNarrow: ["SEQUENCE", "ATTEMPTS", "CREATED", "ACCOUNT"])
            return "\(table.text(isWide: isWide))\n\n\(page.summary(of: "line"))"
        }
    }
}

extension EventRowCursor: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

extension EventRow {
    fileprivate var json: JSON {
        .object(
            event.summary + [
                .init("application", waiting.map { .string($0.application) } ?? .null),
                .init("state", .string(waiting?.state ?? "delivered")),
                .init("attempts", waiting.map { .integer($0.attempts) } ?? .null),
                .init("due_at", waiting.map { .string($0.dueAt.timestamp) } ?? .null),
                .init("last_error", waiting?.lastError.map(JSON.string) ?? .null),
            ]
        )
    }
}

extension AccountEvent {
    /// The members of the event in the JSON output of commands.
    var summary: [JSON.Member] {
        [
            .init("id", .string("\(id)")), .init("type", .string(type)), .init("account", .string("\(account)")),
            .init("sequence", .integer(sequence)), .init("created_at", .string(createdAt.timestamp)),
        ]
    }
}
