import Accounts
import ArgumentParser

struct AccountCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "Lists, shows, disables, enables, exports, imports and erases accounts, and removes authenticators.",
        subcommands: [
            List.self, Show.self, Why.self, Disable.self, Enable.self, RemoveAuthenticator.self, Export.self,
            Import.self,
            Erase.self,
        ]
    )
}
