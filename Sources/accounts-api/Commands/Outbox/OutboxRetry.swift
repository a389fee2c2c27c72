import Accounts
import ArgumentParser

extension OutboxCommands {
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retries one waiting mail now, with a full set of attempts.",
            discussion: """
                EXAMPLE
                  accounts-api outbox retry 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The mail's id.") var mail: Identity<Outbox>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard try await flags.withOperator(writesAudit: true, { try await $0.retry(mail.id) }) else {
                throw NotFound(
                    description: "no waiting mail \(mail.id): delivered and dead mail has no content to send again"
                )
            }
            print(flags.json ? JSON.object([.init("due", .integer(1))]).text : "requeued mail \(mail.id)")
        }
    }
}
