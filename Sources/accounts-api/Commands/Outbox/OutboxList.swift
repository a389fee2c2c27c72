import Accounts
import ArgumentParser
import Foundation

extension OutboxCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists mail with masked addresses, newest first.",
            discussion: """
                --email finds waiting mail to the address, all mail about the account with the address, and all mail \
                of unfinished drafts with the address. It writes an audit record for each mail that it finds, or one \
                if it finds none. --draft with an address or a username writes audit records, too. Without \
                ACCOUNTS_KEYS, addresses are shown as sealed, and searches by an address or a username are refused.

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
        @Option(help: "Only mail written within this time, such as 2h.") var since: DurationArgument?
        @Option(help: "Only mail of this e-mail address, as described above.") var email: String?
        @OptionGroup var page: PageFlags<IDArgument<Outbox>>
        @OptionGroup var list: ListFlags
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let format = try OutboxRow.format.chosen(by: list, asJSON: flags.json)
            var filter = OutboxFilter(state: state, since: since?.duration, email: try email.map(emailAddress))
            let isSearch = email != nil || draft?.isSearch == true
            let mails = try await flags.withOperator(writesAudit: isSearch, showsSealed: true) { admin in
                if email != nil { try admin.checkKeys() }
                filter.draft = try await draft?.find(by: admin)
                return try await admin.mails(filter, limit: page.limit, after: page.after?.id)
            }
            print(
                flags.json
                    ? mails.json("mails", in: format).text
                    : mails.text(in: format, of: "mail", none: "no mail", isWide: flags.wide)
            )
        }
    }
}

extension OutboxRow.State: ExpressibleByArgument {}

extension OutboxRow {
    fileprivate static var format: ListFormat<OutboxRow> {
        ListFormat(
            [
                .init("ID") { .init(id: $0.id) },
                .init("STATE") { .init($0.state.rawValue, $0.state == .dead ? .red : .plain) },
                .text("TEMPLATE", \.template), .text("RECIPIENT", \.shownRecipient),
                .init("DRAFT") { mail in mail.draft.map { Table.Cell(id: $0) } ?? "" },
                .text("ATTEMPTS", \.attempts.description), .time("CREATED", \.createdAt), .time("DUE", \.nextAttempt),
                .text("LAST ERROR", \.lastError),
            ],
            omittingIfNarrow: ["ATTEMPTS", "CREATED", "DRAFT", "DUE", "RECIPIENT"],
            fields: [
                .text("id", \.id.description), .text("state", \.state.rawValue), .text("template", \.template),
                .text("to", \.recipient), .text("draft", \.draft?.description),
                .text("account", \.account?.description),
                .integer("attempts", \.attempts), .time("created_at", \.createdAt), .time("due_at", \.nextAttempt),
                .time("finished_at", \.finishedAt), .text("last_error", \.lastError), .text("reply", \.reply),
            ]
        )
    }

    /// The address, masked unless it is revealed, or `sealed` if it cannot be decrypted; nil if the mail is delivered
    /// or dead.
    var shownRecipient: String? { recipient ?? (isSealed ? "sealed" : nil) }

    /// The time of the next attempt; nil if there is none, because the mail is delivered or dead.
    private var nextAttempt: Date? { state == .waiting ? dueAt : nil }

    var json: JSON { Self.format.json(of: self) }
}
