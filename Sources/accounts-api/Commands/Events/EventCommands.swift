import ArgumentParser

struct EventCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Lists and follows events, and repeats their delivery to applications.",
        subcommands: [List.self, Tail.self, Retry.self, Replay.self]
    )
}
