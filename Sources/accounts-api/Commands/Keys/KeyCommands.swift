import Accounts
import ArgumentParser

struct KeyCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Re-encrypts stored data with the first key of ACCOUNTS_KEYS, and replaces signing keys.",
        subcommands: [Rotate.self, Signing.self]
    )
}
