import Accounts
import ArgumentParser

struct KeyCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: """
            Re-encrypts stored data with the first key of ACCOUNTS_KEYS, replaces signing keys, and finds an address in \
            the log.
            """,
        subcommands: [Rotate.self, Signing.self, Pseudonym.self]
    )
}
