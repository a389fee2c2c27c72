import Accounts
import ArgumentParser

extension EventCommands {
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Switches the webhook of an application on, and delivers all events that it has not received.",
            discussion: """
                With EVENT, it retries this event and those of the same account that wait with it, and refuses if the \
                webhook is off.

                EXAMPLES
                  accounts-api events retry shop
                  accounts-api events retry shop 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The application's id.") var application: String
        @Argument(help: "The id of an event that the application has not received, or its first digits.")
        var event: EventReference?
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let count = try await flags.withOperator(writesAudit: true, needsKeys: false) { admin in
                if let event { return try await retry(event, by: admin) }
                return try await admin.retryEvents(of: application)
            }
            guard let count else {
                throw NotFound(description: "no application \(application.printable) with a webhook")
            }
            print(
                flags.json ? JSON.object([.init("due", .integer(count))]).text : "requeued \(counted(count, "event"))"
            )
        }

        /// Returns the number of requeued events; nil if there is no such application with a webhook.
        private func retry(_ event: EventReference, by admin: Operator) async throws -> Int? {
            guard let found = try await admin.undelivered(event.prefix, to: application) else { return nil }
            if found.count > 1 { throw Refused.ambiguous(event.text, found.count, "events") }
            if let id = found.event {
                if found.isWebhookOff {
                    throw Refused(
                        description: """
                            the webhook of \(application) is off: accounts-api events retry \(application) switches it on
                            """
                    )
                }
                let count = try await admin.retryEvent(id, of: application)
                if count > 0 { return count }
            }
            throw NotFound(
                description: """
                    \(application) has no undelivered event "\(event.text)": accounts-api events replay delivers events again
                    """
            )
        }
    }
}
