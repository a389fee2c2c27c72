import Accounts
import ArgumentParser

extension OutboxCommands {
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
