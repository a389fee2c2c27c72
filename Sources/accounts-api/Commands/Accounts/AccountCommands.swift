import Accounts
import ArgumentParser

struct AccountCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "Lists, shows, disables, enables and erases accounts.",
        subcommands: [List.self, Show.self, Disable.self, Enable.self, Erase.self]
    )
}
