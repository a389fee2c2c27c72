import Accounts
import ArgumentParser

struct KeyCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Moves what is sealed to the first key of ACCOUNTS_KEYS.",
        subcommands: [Rotate.self]
    )
}
