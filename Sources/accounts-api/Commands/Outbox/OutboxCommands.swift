import Accounts
import ArgumentParser

struct OutboxCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Shows mail that waits or failed, and has it tried again.",
        subcommands: [List.self, Retry.self, Flush.self]
    )
}
