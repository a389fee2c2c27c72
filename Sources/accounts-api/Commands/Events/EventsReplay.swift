import Accounts
import ArgumentParser

extension EventCommands {
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delivers events to the webhook of an application once more.",
            discussion: """
                Each event keeps its id, so that the application can recognize an event that it has received before.

                EXAMPLE
                  accounts-api events replay shop --since 6h
                """
        )

        @Argument(help: "The application's id.") var application: String
        @Option(help: "How far to go back, such as 6h. Events are deleted after 30 days.")
        var since: DurationArgument
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let count = try await flags.withOperator(writesAudit: true, needsKeys: false) {
                try await $0.replayEvents(of: application, over: since.duration)
            }
            guard let count else {
                throw NotFound(description: "no application \(application.printable) with a webhook")
            }
            print(
                flags.json ? JSON.object([.init("due", .integer(count))]).text : "requeued \(counted(count, "event"))"
            )
        }
    }
}
