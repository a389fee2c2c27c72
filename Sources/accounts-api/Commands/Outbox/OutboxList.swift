import Accounts
import ArgumentParser

extension OutboxCommands {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists mail with masked addresses, newest first.",
            discussion: """
                EXAMPLE
                  accounts-api outbox list --state waiting
                """
        )

        @Option(help: "Only mail in this state: \(OutboxRow.State.allCases.map(\.rawValue).joined(separator: ", ")).")
        var state: OutboxRow.State?
        @Option(help: "The maximum number of lines.") var limit = 50
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard (1...10_000).contains(limit) else {
                throw ValidationError("invalid --limit \(limit): pass a number from 1 to 10000")
            }
            let mails = try await flags.withOperator { try await $0.mails(state, limit: limit) }
            print(flags.json ? JSON.array(mails.map(\.json)).text : Self.table(of: mails))
        }

        private static func table(of mails: [OutboxRow]) -> String {
            if mails.isEmpty { return "no mail" }
            let rows = mails.map { mail in
                [
                    "\(mail.id)", .init(mail.state.rawValue, mail.state == .dead ? .red : .plain), .init(mail.template),
                    .init(mail.recipient ?? ""), "\(mail.attempts)", .init(relative(mail.createdAt, to: mail.now)),
                    .init(mail.state == .waiting ? relative(mail.dueAt, to: mail.now) : ""),
                    .init(mail.lastError ?? ""),
                ] as [Table.Cell]
            }
            return Table(["ID", "STATE", "TEMPLATE", "RECIPIENT", "ATTEMPTS", "CREATED", "DUE", "LAST ERROR"], rows)
                .text
        }
    }
}

extension OutboxRow.State: ExpressibleByArgument {}

extension OutboxRow {
    fileprivate var json: JSON {
        [
            "id": .string("\(id)"), "state": .string(state.rawValue), "template": .string(template),
            "to": recipient.map(JSON.string) ?? .null, "attempts": .integer(attempts),
            "created_at": .string(createdAt.timestamp),
            "due_at": state == .waiting ? .string(dueAt.timestamp) : .null,
            "last_error": lastError.map(JSON.string) ?? .null,
        ]
    }
}
