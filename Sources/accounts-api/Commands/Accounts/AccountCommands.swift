import Accounts
import ArgumentParser

struct AccountCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "Lists, shows, disables, enables, exports, imports and erases accounts.",
        subcommands: [
            List.self, Show.self, Why.self, Disable.self, Enable.self, Export.self, Import.self, Erase.self,
        ]
    )
}
