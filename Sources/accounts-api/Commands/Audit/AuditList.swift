import Accounts
import ArgumentParser
import Foundation

extension AuditCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists audit records, newest first.",
            discussion: """
                OPERATOR is the name that the operator gave. ROLE is the role that PostgreSQL has authenticated.

                EXAMPLES
                  accounts-api audit list --since 30d
                  accounts-api audit list --act "reveal account" --by mina
                """
        )

        @Option(help: "Only records of the operator with this name.") var by: String?
        @Option(help: "Only records of this act.") var act: Operator.Act?
        @Option(help: "Only records about the draft, account or mail with this id.") var subject:
            IDArgument<AuditRecord>?
        @Option(help: "Only records written within this time, such as 30d.") var since: DurationArgument?
        @OptionGroup var page: PageFlags<Int>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let filter = AuditFilter(name: by, act: act, subject: subject?.id.rawValue, since: since?.duration)
            let records = try await flags.withOperator(needsKeys: false) {
                try await $0.audit(filter, limit: page.limit, after: page.after)
            }
            print(flags.json ? records.json("records", \.json).text : Self.text(of: records, isWide: flags.wide))
        }

        private static func text(of page: ListPage<AuditRecord>, isWide: Bool) -> String {
            if page.total == 0 { return "no audit records" }
            let rows = page.items.map { record -> [Table.Cell] in
                [
                    .init(relative(record.at, to: page.now)), .init(record.name), .init(record.role ?? ""),
                    .init(record.act), .init(record.subjectText ?? ""),
                ]
            }
            return Table(["AT", "OPERATOR", "ROLE", "ACT", "SUBJECT"], rows).text(isWide: isWide) + "\n\n"
                + page.summary(of: "audit record")
        }
    }
}

extension Operator.Act: ExpressibleByArgument {}

extension AuditRecord {
    fileprivate var subjectText: String? { subject?.text }

    fileprivate var json: JSON {
        [
            "number": .integer(number), "at": .string(at.timestamp), "operator": .string(name),
            "role": role.map(JSON.string) ?? .null, "act": .string(act),
            "subject": subjectText.map(JSON.string) ?? .null,
        ]
    }
}
