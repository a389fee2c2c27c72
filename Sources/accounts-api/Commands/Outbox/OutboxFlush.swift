import Accounts
import ArgumentParser

extension OutboxCommands {
    struct Flush: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retries all mail that waits after a failed attempt; dead mail cannot be sent again.",
            discussion: """
                Each mail is due at once, and gets a full set of attempts.

                EXAMPLE
                  accounts-api outbox flush
                """
        )

        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let count = try await flags.withOperator(writesAudit: true, needsKeys: false) { try await $0.flush() }
            print(flags.json ? JSON.object([.init("due", .integer(count))]).text : "requeued \(counted(count, "mail"))")
        }
    }
}
