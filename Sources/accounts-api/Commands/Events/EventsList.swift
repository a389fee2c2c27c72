import Accounts
import ArgumentParser
import Foundation

extension EventCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists events, newest first, with the applications that have not received them.",
            discussion: """
                EXAMPLE
                  accounts-api events list --undelivered
                """
        )

        @Flag(help: "Only events that an application has not received.") var undelivered = false
        @Option(help: "Only events written within this time, such as 2h.") var since: DurationArgument?
        @OptionGroup var page: PageFlags<EventRowCursor>
        @OptionGroup var list: ListFlags
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let format = try EventRow.format.chosen(by: list, asJSON: flags.json)
            let events = try await flags.withOperator(needsKeys: false) {
                try await $0.events(
                    isUndelivered: undelivered,
                    since: since?.duration,
                    limit: page.limit,
                    after: page.after
                )
            }
            print(
                flags.json
                    ? events.json("events", in: format).text
                    : events.text(in: format, of: "line", none: "no events", isWide: flags.wide)
            )
        }
    }
}

extension EventRowCursor: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

extension EventRow {
    fileprivate static var format: ListFormat<EventRow> {
        ListFormat(
            [
                .init("ID") { .init(id: $0.event.id) }, .text("TYPE", \.event.type),
                .init("ACCOUNT") { .init(id: $0.event.account) }, .text("SEQUENCE", \.event.sequence.description),
                .time("CREATED", \.event.createdAt), .text("APPLICATION", \.delivery?.application),
                .init("STATE") { .init($0.state, $0.state == "failed" ? .red : .plain) },
                .text("ATTEMPTS", \.delivery?.attempts.description), .time("DUE", \.nextAttempt),
                .text("LAST ERROR", \.delivery?.lastError),
            ],
            omittingIfNarrow: ["SEQUENCE", "ATTEMPTS", "CREATED", "ACCOUNT", "DUE"],
            fields: AccountEvent.fields.map { field in .init(field.name) { field.value($0.event) } } + deliveryFields
        )
    }

    private static var deliveryFields: [ListField<EventRow>] {
        [
            .text("application", \.delivery?.application), .text("state", \.state),
            .integer("attempts", \.delivery?.attempts), .time("due_at", \.delivery?.dueAt),
            .text("last_error", \.delivery?.lastError),
        ]
    }

    private var state: String { delivery?.state ?? "delivered" }

    /// The time of the next attempt; nil if there is none.
    private var nextAttempt: Date? { state == "waiting" ? delivery?.dueAt : nil }
}

extension AccountEvent {
    /// The members of the event in the JSON output of commands.
    static var fields: [ListField<AccountEvent>] {
        [
            .text("id", \.id.description), .text("type", \.type), .text("account", \.account.description),
            .integer("sequence", \.sequence), .time("created_at", \.createdAt),
        ]
    }

    var summary: [JSON.Member] { Self.fields.map { $0.member(of: self) } }
}
