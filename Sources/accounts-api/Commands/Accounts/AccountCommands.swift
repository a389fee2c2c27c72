import Accounts
import ArgumentParser

struct AccountCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "Shows accounts.",
        subcommands: [Show.self]
    )
}
