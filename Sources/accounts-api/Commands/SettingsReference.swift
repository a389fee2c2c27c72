import Accounts
import ArgumentParser

/// The command that prints the reference of the configuration, which is generated from the table of settings.
struct SettingsReference: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Prints every setting with its default and its meaning.",
        discussion: """
            --markdown prints the page docs/configuration.md.

            EXAMPLE
              accounts-api settings
            """
    )

    @Flag(help: "Prints a page of Markdown.") var markdown = false
    @Flag(help: "Prints JSON.") var json = false

    func run() throws {
        if markdown {
            print(Self.page, terminator: "")
        } else if json {
            print(JSON.array(SettingTable.entries.map(Self.json)).text)
        } else {
            let rows = SettingTable.entries.map { setting -> [Table.Cell] in
                [.init(setting.name), .init(Self.defaultText(of: setting)), .init(setting.meaning)]
            }
            print(Table(["NAME", "DEFAULT", "MEANING"], rows).text)
        }
    }

    private static func defaultText(of setting: any AnySetting) -> String {
        setting.defaultText ?? (setting.isRequired ? "required" : "–")
    }

    private static func json(_ setting: any AnySetting) -> JSON {
        [
            "name": .string(setting.name), "flag": setting.flag.map(JSON.string) ?? .null,
            "default": setting.defaultText.map(JSON.string) ?? .null, "required": .bool(setting.isRequired),
            "meaning": .string(setting.meaning),
        ]
    }

    static let page = """
        # Configuration

        The server and the commands read their settings once, when they start. A flag takes precedence over the
        environment variable, and the variable over the file that `NAME_FILE` names. Use files for secrets. An empty
        value counts as not set. If settings are invalid, the server or command reports all errors together and does not
        start.

        This page is the output of `accounts-api settings --markdown`; a test compares the two.

        | name | flag | default | meaning |
        |---|---|---|---|

        """
        + SettingTable.entries.map { setting in
            let flag = setting.flag.map { "`\($0)`" } ?? "none"
            let defaultText = Self.defaultText(of: setting).replacing("|", with: "\\|")
            return "| `\(setting.name)` | \(flag) | \(defaultText) | \(setting.meaning) |\n"
        }.joined()
}
