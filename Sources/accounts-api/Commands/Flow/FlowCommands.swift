import Accounts
import ArgumentParser

struct FlowCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Validates, compares and shows the flow of a sign-up.",
        subcommands: [Check.self, Diff.self, Show.self]
    )
}
