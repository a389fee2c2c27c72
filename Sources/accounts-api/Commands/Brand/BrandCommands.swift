import ArgumentParser

struct BrandCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brand",
        abstract: "Validates the file with the logo, colours, font and links of the pages.",
        subcommands: [Check.self]
    )
}
