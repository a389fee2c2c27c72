import ArgumentParser

struct AuditCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Lists what operators have done.",
        subcommands: [List.self]
    )
}
