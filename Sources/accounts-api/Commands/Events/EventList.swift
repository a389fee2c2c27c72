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
        @Option(help: "The maximum number of lines.") var limit = 50
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard (1...10_000).contains(limit) else {
                throw ValidationError("invalid --limit \(limit): pass a number from 1 to 10000")
            }
            let events = try await flags.withOperator(needsKeys: false) {
                try await $0.events(isUndelivered: undelivered, limit: limit)
            }
            print(flags.json ? JSON.array(events.map(\.json)).text : Self.table(of: events))
        }

        private static func table(of events: [EventRow]) -> String {
            if events.isEmpty { return "no events" }
            let rows = events.map { row -> [Table.Cell] in
                let waiting = row.waiting
                return [
                    "\(row.event.id)", .init(row.event.type), "\(row.event.account)", "\(row.event.sequence)",
                    .init(relative(row.event.createdAt, to: row.now)), .init(waiting?.application ?? ""),
                    .init(waiting?.state ?? "delivered", waiting?.state == "failed" ? .red : .plain),
                    .init(waiting.map { "\($0.attempts)" } ?? ""),
                    .init(waiting.map { $0.state == "waiting" ? relative($0.dueAt, to: row.now) : "" } ?? ""),
                    .init(waiting?.lastError ?? ""),
                ]
            }
            return Table(
                [
                    "ID", "TYPE", "ACCOUNT", "SEQUENCE", "CREATED", "APPLICATION", "STATE", "ATTEMPTS", "DUE",
                    "LAST ERROR",
                ],
                rows
            ).text
        }
    }
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
