import ArgumentParser

struct OutboxCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Lists and shows outgoing mail, and retries its delivery.",
        subcommands: [List.self, Show.self, Retry.self, Flush.self]
    )
}
