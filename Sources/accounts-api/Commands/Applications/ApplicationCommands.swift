import Accounts
import ArgumentParser

struct ApplicationCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "applications",
        abstract: "Validates and lists the applications that use the accounts.",
        subcommands: [Check.self, List.self]
    )
}

extension ApplicationsFile {
    /// - Parameter path: the path of the file; nil for the file that `APPLICATIONS_FILE` names.
    init(_ path: String?, _ source: SettingSource) throws {
        let setting = SettingTable.shared.applicationsFile.name
        guard let path = try path ?? source.text(setting)?.value else {
            throw SettingMistakes(all: ["no applications file: pass one, or set \(setting)"])
        }
        let (flow, publicURL) = try source.read(\.flow, \.publicURL)
        self.init(path: path, flow: flow, publicURL: publicURL)
    }
}
