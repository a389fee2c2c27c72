import Accounts
import ArgumentParser

struct FlowCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Checks and shows what a sign-up asks.",
        subcommands: [Check.self, Show.self]
    )
}
