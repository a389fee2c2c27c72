import ArgumentParser

struct TextCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "texts",
        abstract: "Shows the built-in texts of pages and mail, and validates a file of texts.",
        subcommands: [Check.self, Show.self]
    )
}
