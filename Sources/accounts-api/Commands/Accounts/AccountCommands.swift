import Accounts
import ArgumentParser

struct AccountCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "Shows, disables, enables, erases and imports accounts.",
        subcommands: [Show.self, Disable.self, Enable.self, Erase.self, Import.self]
    )
}
