import Accounts
import ArgumentParser
import Foundation
import UnixSignals

extension EventCommands {
    struct Tail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints events as they are written, until SIGINT or SIGTERM.",
            discussion: """
                A line has the time, the id, the type and the account of an event, and its number among the events of \
                the account. An event appears once the list GET /events has it.

                EXAMPLES
                  accounts-api events tail
                  accounts-api events tail shop --lines 0 --json
                """
        )

        @Argument(help: "The id of an application: only events of the types that it subscribes to.") var application:
            String?
        @Option(name: .shortAndLong, help: "The number of latest events to print first.") var lines = 10
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard (0...10_000).contains(lines) else {
                throw ValidationError("invalid --lines \(lines): pass a number from 0 to 10000")
            }
            // Writing to a closed pipe then returns an error instead of killing the command.
            signal(SIGPIPE, SIG_IGN)
            let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
            try await flags.withOperator(needsKeys: false) { admin in
                guard let tail = try await admin.tailEvents(of: application, last: lines) else {
                    throw NotFound(description: "no application \(application?.printable ?? "")")
                }
                let isJSON = flags.json
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { for await _ in signals { return } }
                    tasks.addTask { try await Self.follow(tail, asJSON: isJSON) }
                    try await tasks.next()
                    tasks.cancelAll()
                }
            }
        }

        /// Prints the events until the reader of the output closes the output, or the task is cancelled.
        private static func follow(_ tail: EventTail, asJSON: Bool) async throws {
            var tail = tail
            for await _ in Ticks(every: .seconds(1)) {
                repeat {
                    for event in try await tail.next() {
                        let line = asJSON ? JSON.object(event.summary).text : text(of: event)
                        guard try await StandardOutput.write(line) else { return }
                    }
                } while tail.mayHaveMore && !Task.isCancelled
                if StandardOutput.state == .closed { return }
            }
        }

        private static let typeWidth = Webhook.eventTypes.map(\.utf8.count).max() ?? 0

        private static func text(of event: AccountEvent) -> String {
            let type = event.type.printable
            let gap = String(repeating: " ", count: max(0, typeWidth - type.utf8.count))
            return "\(event.createdAt.timestamp)  \(event.id)  \(type)\(gap)  \(event.account)  \(event.sequence)"
        }
    }
}
