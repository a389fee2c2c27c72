import Accounts
import ArgumentParser

extension DraftCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists drafts with masked addresses, newest first.",
            discussion: """
                --email writes an audit record.

                EXAMPLES
                  accounts-api drafts list --state open --older-than 2h
                  accounts-api drafts list --email kim@example.com --json
                """
        )

        @Option(help: "Only drafts in this state: \(DraftState.allCases.map(\.rawValue).joined(separator: ", ")).")
        var state: DraftState?
        @Option(help: "Only drafts at this step; review for drafts that are ready to commit.") var step: String?
        @Option(help: "Only drafts created longer ago than this, such as 2h.") var olderThan: DurationArgument?
        @Option(help: "Only drafts with this e-mail address.") var email: String?
        @OptionGroup var page: PageFlags<IDArgument<Draft>>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let filter = try DraftFilter(state: state, step: step, olderThan: olderThan, email: email)
            let drafts = try await flags.withOperator(writesAudit: email != nil) {
                try await $0.check(step: step)
                return try await $0.drafts(filter, limit: page.limit, after: page.after?.id)
            }
            print(flags.json ? drafts.json("drafts", \.json).text : Self.text(of: drafts, isWide: flags.wide))
        }

        private static func text(of page: ListPage<DraftSummary>, isWide: Bool) -> String {
            if page.total == 0 { return "no drafts" }
            let rows = page.items.map { draft in
                [
                    .init(id: draft.id), .init(draft.state.rawValue, draft.state.paint), .init(draft.step),
                    .init(draft.address ?? ""), .init("\(draft.failures)", draft.failures > 0 ? .yellow : .plain),
                    .init(relative(draft.createdAt, to: draft.now)), .init(relative(draft.updatedAt, to: draft.now)),
                    .init(relative(draft.expiresAt, to: draft.now)),
                ] as [Table.Cell]
            }
            let header = ["ID", "STATE", "STEP", "ADDRESS", "FAILURES", "CREATED", "UPDATED", "EXPIRES"]
            let table = Table(header, rows, omittingIfNarrow: ["UPDATED", "FAILURES"])
            return "\(table.text(isWide: isWide))\n\n\(page.summary(of: "draft"))"
        }
    }
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
    var json: JSON {
        [
            "id": .string("\(id)"), "state": .string(state.rawValue), "step": .string(step),
            "email": address.map(JSON.string) ?? .null, "revision": .integer(revision), "failures": .integer(failures),
            "created_at": .string(createdAt.timestamp), "updated_at": .string(updatedAt.timestamp),
            "expires_at": .string(expiresAt.timestamp),
        ]
    }
}
