import Accounts
import ArgumentParser

extension OutboxCommands {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows one mail without its content, with the last error and the reply of the mail server.",
            discussion: """
                --reveal shows the whole address of a mail that waits, and writes an audit record. A mail that is \
                delivered or given up has no address.

                EXAMPLE
                  accounts-api outbox show 01a1fdb2-1117
                """
        )

        @Argument(help: MailReference.help) var mail: MailReference
        @Flag(help: "Shows the whole address; writes an audit record.") var reveal = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let mail = try await flags.withOperator(writesAudit: reveal, showsSealed: !reveal) { admin in
                let id = try await self.mail.find(by: admin)
                guard let mail = try await admin.mail(id, reveals: reveal) else { throw self.mail.notFound }
                return mail
            }
            print(flags.json ? mail.json.text : mail.details)
        }
    }
}

extension OutboxRow {
    fileprivate var details: String {
        var lines = [("mail", "\(id)"), ("state", state.rawValue), ("template", template)]
        if let shownRecipient { lines.append(("recipient", shownRecipient)) }
        if let draft { lines.append(("draft", "\(draft)")) }
        if let account { lines.append(("account", "\(account)")) }
        lines += [("attempts", "\(attempts)"), ("created", relative(createdAt, to: now))]
        if let finishedAt {
            lines.append((state == .dead ? "given up" : "delivered", relative(finishedAt, to: now)))
        } else {
            lines.append(("due", relative(dueAt, to: now)))
        }
        if let lastError { lines.append(("error", lastError)) }
        if let reply { lines.append(("reply", reply)) }
        return lines.map { name, value in
            "\(name)\(String(repeating: " ", count: 11 - name.count))\(value.printable)"
        }.joined(separator: "\n")
    }
}
