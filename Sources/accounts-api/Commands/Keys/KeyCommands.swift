import Accounts
import ArgumentParser

struct KeyCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: """
            Re-encrypts stored data with the first key of ACCOUNTS_KEYS, replaces signing keys, and prints the pseudonyms \
            of an IP address in the log.
            """,
        subcommands: [Rotate.self, Signing.self, Pseudonym.self]
    )
}
