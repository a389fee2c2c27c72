import ArgumentParser

struct AuditCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Lists what operators have changed, revealed and searched for.",
        subcommands: [List.self]
    )
}
