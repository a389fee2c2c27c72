import Accounts
import ArgumentParser

extension OutboxCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists mail with masked addresses, newest first.",
            discussion: """
                --email finds waiting mail to the address, and all mail of its account and of unfinished drafts with \
                it. It writes an audit record for each mail that it finds, or one if it finds none. --draft with an \
                address or a username writes audit records, too.

                EXAMPLES
                  accounts-api outbox list --state waiting
                  accounts-api outbox list --email kim@example.com
                """
        )

        @Option(help: "Only mail in this state: \(OutboxRow.State.allCases.map(\.rawValue).joined(separator: ", ")).")
        var state: OutboxRow.State?
        @Option(
            help:
                "Only mail that this draft has caused. Pass the draft's id or its first digits, its address or its username."
        )
        var draft: DraftReference?
        @Option(help: "Only mail of this e-mail address, as described above.") var email: String?
        @OptionGroup var page: PageFlags<IDArgument<Outbox>>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            var filter = OutboxFilter(state: state, email: try email.map(emailAddress))
            let mails = try await flags.withOperator(writesAudit: email != nil || draft?.isSearch == true) { admin in
                filter.draft = try await draft?.find(by: admin)
                return try await admin.mails(filter, limit: page.limit, after: page.after?.id)
            }
            print(flags.json ? mails.json("mails", \.json).text : Self.text(of: mails, isWide: flags.wide))
        }

        private static func text(of page: ListPage<OutboxRow>, isWide: Bool) -> String {
            if page.total == 0 { return "no mail" }
            let rows = page.items.map { mail in
                [
                    .init(id: mail.id), .init(mail.state.rawValue, mail.state == .dead ? .red : .plain),
                    .init(mail.template),
                    .init(mail.recipient ?? ""), mail.draft.map { .init(id: $0) } ?? "",
                    "\(mail.attempts)", .init(relative(mail.createdAt, to: mail.now)),
                    .init(mail.state == .waiting ? relative(mail.dueAt, to: mail.now) : ""),
                    .init(mail.lastError ?? ""),
                ] as [Table.Cell]
            }
            let header = [
                "ID", "STATE", "TEMPLATE", "RECIPIENT", "DRAFT", "ATTEMPTS", "CREATED", "DUE", "LAST ERROR",
            ]
            let table = Table(header, rows, omittingIfNarrow: ["ATTEMPTS", "CREATED", "DRAFT"])
            return "\(table.text(isWide: isWide))\n\n\(page.summary(of: "mail"))"
        }
    }
}

extension OutboxRow.State: ExpressibleByArgument {}

extension OutboxRow {
    var json: JSON {
        [
            "id": .string("\(id)"), "state": .string(state.rawValue), "template": .string(template),
            "to": recipient.map(JSON.string) ?? .null, "draft": draft.map { .string("\($0)") } ?? .null,
            "account": account.map { .string("\($0)") } ?? .null,
            "attempts": .integer(attempts), "created_at": .string(createdAt.timestamp),
            "due_at": state == .waiting ? .string(dueAt.timestamp) : .null,
            "finished_at": finishedAt.map { .string($0.timestamp) } ?? .null,
            "last_error": lastError.map(JSON.string) ?? .null, "reply": reply.map(JSON.string) ?? .null,
        ]
    }
}
