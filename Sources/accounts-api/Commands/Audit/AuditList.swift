import Accounts
import ArgumentParser
import Foundation

extension AuditCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists audit records, newest first.",
            discussion: """
                OPERATOR is the name in --operator, or else the login name. HOST is the name of the machine on which \
                the recorded command ran. That command reported both names, and nothing verifies them. ROLE is the \
                role that PostgreSQL has authenticated. --reason selects the records with this reason.

                EXAMPLES
                  accounts-api audit list --since 30d
                  accounts-api audit list --reason OPS-1234
                  accounts-api audit list --act "reveal account" --by mina
                """
        )

        @Option(help: "Only records of the operator with this name.") var by: String?
        @Option(help: "Only records of this act.") var act: Operator.Act?
        @Option(
            help: "Only records about the draft, account, mail or event whose id begins with these 6 or more digits."
        )
        var subject: IDPrefix<AuditRecord>?
        @Option(help: "Only records written within this time, such as 30d.") var since: DurationArgument?
        @OptionGroup var page: PageFlags<Int>
        @OptionGroup var list: ListFlags
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let format = try AuditRecord.format.chosen(by: list, asJSON: flags.json)
            let filter = AuditFilter(
                name: by,
                act: act,
                subject: subject,
                since: since?.duration,
                reason: flags.reason
            )
            let records = try await flags.withOperator(needsKeys: false) {
                try await $0.audit(filter, limit: page.limit, after: page.after)
            }
            print(
                flags.json
                    ? records.json("records", in: format).text
                    : records.text(in: format, of: "audit record", none: "no audit records", isWide: flags.wide)
            )
        }
    }
}

extension Operator.Act: ExpressibleByArgument {}

extension IDPrefix: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

extension AuditRecord {
    fileprivate static var format: ListFormat<AuditRecord> {
        ListFormat(
            [
                .time("AT", \.at), .text("OPERATOR", \.name), .text("ROLE", \.role), .text("HOST", \.host),
                .text("ACT", \.act),
                .init("SUBJECT") { record in record.subject.map { Table.Cell(id: ID<AuditRecord>($0)) } ?? "" },
                .text("REASON", \.reason),
            ],
            omittingIfNarrow: ["ROLE", "HOST"],
            fields: [
                .integer("number", \.number), .time("at", \.at), .text("operator", \.name), .text("role", \.role),
                .text("host", \.host), .text("act", \.act), .text("subject", \.subject?.text),
                .text("reason", \.reason),
            ]
        )
    }
}
