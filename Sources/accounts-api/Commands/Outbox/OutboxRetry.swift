import Accounts
import ArgumentParser

extension OutboxCommands {
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
}
