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

        @Argument(help: MailReference.help) var mail: MailReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let id = try await flags.withOperator(writesAudit: true, needsKeys: false) { admin in
                let id = try await mail.find(by: admin)
                guard try await admin.retry(id) else {
                    throw NotFound(
                        description: "no waiting mail \(id): delivered and dead mail has no content to send again"
                    )
                }
                return id
            }
            print(flags.json ? JSON.object([.init("due", .integer(1))]).text : "requeued mail \(id)")
        }
    }
}
