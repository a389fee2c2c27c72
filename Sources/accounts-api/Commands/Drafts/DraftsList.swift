import Accounts
import ArgumentParser

extension DraftCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists drafts with masked addresses, by default the newest first.",
            discussion: """
                --email writes audit records. Without ACCOUNTS_KEYS, addresses are shown as sealed, and --email is \
                refused.

                EXAMPLES
                  accounts-api drafts list --state open --idle 2h
                  accounts-api drafts list --sort expires --state open --columns id,step,expires
                  accounts-api drafts list --email kim@example.com --json
                """
        )

        @Option(help: "Only drafts in this state: \(DraftState.allCases.map(\.rawValue).joined(separator: ", ")).")
        var state: DraftState?
        @Option(
            help: "Only drafts at this step, such as recovery/code; review for sign-ups that are ready to commit.",
            completion: .custom(DraftCommands.steps)
        )
        var step: String?
        @Option(help: "Only drafts created within this time, such as 2h.") var since: DurationArgument?
        @Option(help: "Only drafts created longer ago than this, such as 2h.") var olderThan: DurationArgument?
        @Option(help: "Only drafts that nobody has changed for at least this long, such as 2h.")
        var idle: DurationArgument?
        @Option(help: "Only drafts with this e-mail address.") var email: String?
        @Option(help: "What the list is sorted by: the newest, the last changed or the first to expire comes first.")
        var sort = DraftOrder.created
        @OptionGroup var page: PageFlags<DraftCursor>
        @OptionGroup var list: ListFlags
        @OptionGroup var flags: OperatorFlags

        func validate() throws {
            if let order = page.after?.order, order != sort {
                throw ValidationError("this --after is of a list with --sort \(order.rawValue): pass the same --sort")
            }
        }

        func run() async throws {
            let format = try DraftSummary.format.chosen(by: list, asJSON: flags.json)
            let filter = try DraftFilter(
                state: state,
                step: step,
                since: since,
                olderThan: olderThan,
                idle: idle,
                email: email
            )
            let drafts = try await flags.withOperator(writesAudit: email != nil, showsSealed: true) {
                if email != nil { try $0.checkKeys() }
                try await $0.check(step: step)
                return try await $0.drafts(filter, by: sort, limit: page.limit, after: page.after)
            }
            print(
                flags.json
                    ? drafts.json("drafts", in: format).text
                    : drafts.text(in: format, of: "draft", none: "no drafts", isWide: flags.wide)
            )
        }
    }
}

extension DraftOrder: ExpressibleByArgument {}

extension DraftCursor: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

extension DraftState {
    fileprivate var paint: Paint {
        switch self {
        case .open: .plain
        case .review: .green
        case .expired, .committed: .dim
        }
    }
}

extension DraftSummary {
    /// The columns and JSON members. The query that reads their values is in `Operator/DraftSummary.swift`.
    fileprivate static var format: ListFormat<DraftSummary> {
        ListFormat(
            [
                .init("ID") { .init(id: $0.id) }, .init("STATE") { .init($0.state.rawValue, $0.state.paint) },
                .text("STEP", \.step), .text("ADDRESS", \.shownAddress),
                .init("FAILURES") { .init("\($0.failures)", $0.failures > 0 ? .yellow : .plain) },
                .time("CREATED", \.createdAt), .time("UPDATED", \.updatedAt), .time("EXPIRES", \.expiresAt),
            ],
            omittingIfNarrow: ["UPDATED", "FAILURES"],
            fields: [
                .text("id", \.id.description), .text("state", \.state.rawValue), .text("step", \.step),
                .text("email", \.address), .integer("revision", \.revision), .integer("failures", \.failures),
                .time("created_at", \.createdAt), .time("updated_at", \.updatedAt), .time("expires_at", \.expiresAt),
            ]
        )
    }

    private var shownAddress: String? { address ?? (isSealed ? "sealed" : nil) }

    var json: JSON { Self.format.json(of: self) }
}
