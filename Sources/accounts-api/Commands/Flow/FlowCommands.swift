import Accounts
import ArgumentParser

struct FlowCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Validates and shows the flow of a sign-up.",
        subcommands: [Check.self, Show.self]
    )
}
