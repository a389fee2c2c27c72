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
            let (due, dead) = try await flags.withOperator(writesAudit: true, needsKeys: false) { try await $0.flush() }
            if flags.json {
                print(JSON.object([.init("due", .integer(due)), .init("dead", .integer(dead))]).text)
            } else {
                let rest = "; cannot requeue \(counted(dead, "dead mail")) of the last day (outbox list --state dead)"
                print("requeued \(counted(due, "mail"))" + (dead == 0 ? "" : rest))
            }
        }
    }
}
