import ArgumentParser

struct EventCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Lists events, and repeats their delivery to applications.",
        subcommands: [List.self, Retry.self, Replay.self]
    )
}
