import Accounts
import ArgumentParser

extension EventCommands {
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Switches the webhook of an application on, and delivers all that it has not received now.",
            discussion: """
                EXAMPLE
                  accounts-api events retry shop
                """
        )

        @Argument(help: "The application's id.") var application: String
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let count = try await flags.withOperator(writesAudit: true) {
                try await $0.retryEvents(of: application)
            }
            guard let count else { throw NotFound(description: "no application \(application)") }
            print(
                flags.json ? JSON.object([.init("due", .integer(count))]).text : "requeued \(counted(count, "event"))"
            )
        }
    }
}
