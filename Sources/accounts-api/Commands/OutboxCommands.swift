import Accounts
import ArgumentParser

struct OutboxCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Shows mail that waits or failed, and has it tried again.",
        subcommands: [List.self, Retry.self, Flush.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One line a mail, newest first, masked.",
            discussion: """
                EXAMPLE
                  accounts-api outbox list --state waiting
                """
        )

        @Option(help: "Only these: \(OutboxRow.State.allCases.map(\.rawValue).joined(separator: ", ")).")
        var state: OutboxRow.State?
        @Option(help: "How many at most.") var limit = 50
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard (1...10_000).contains(limit) else { throw ValidationError("--limit is from 1 to 10000") }
            let mails = try await flags.withOperator { try await $0.mails(state, limit: limit) }
            print(flags.json ? JSON.array(mails.map(\.json)).text : Self.table(of: mails))
        }

        private static func table(of mails: [OutboxRow]) -> String {
            if mails.isEmpty { return "no mail" }
            let rows = mails.map { mail in
                [
                    "\(mail.id)", mail.state.rawValue, mail.template, mail.recipient ?? "", "\(mail.attempts)",
                    relative(mail.createdAt, to: mail.now),
                    mail.state == .waiting ? relative(mail.dueAt, to: mail.now) : "", mail.lastError ?? "",
                ]
            }
            return Table([["ID", "STATE", "MAIL", "TO", "TRIES", "MADE", "DUE", "WHY IT FAILED"]] + rows).text
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Has one mail that waits tried at once, as if for the first time.",
            discussion: """
                EXAMPLE
                  accounts-api outbox retry 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The mail's id.") var mail: Identity<Outbox>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard try await flags.withOperator(leavesTrace: true, { try await $0.retry(mail.id) }) else {
                throw NotFound(description: "no mail \(mail.id) waits; what is finished keeps nothing to be sent")
            }
            print(flags.json ? JSON.object([.init("due", .integer(1))]).text : "\(mail.id) is due now")
        }
    }

    struct Flush: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Has all mail that failed and waits tried at once, as if for the first time.",
            discussion: """
                EXAMPLE
                  accounts-api outbox flush
                """
        )

        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let count = try await flags.withOperator(leavesTrace: true) { try await $0.flush() }
            print(flags.json ? JSON.object([.init("due", .integer(count))]).text : "mails that are due now: \(count)")
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
