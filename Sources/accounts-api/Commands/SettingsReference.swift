import Accounts
import ArgumentParser

/// The reference of the configuration, from the table that the settings are read by.
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
            print(JSON.array(Setting.allCases.map(Self.json)).text)
        } else {
            let rows = Setting.allCases.map { setting -> [Table.Cell] in
                [.init(setting.rawValue), .init(Self.standard(setting)), .init(setting.meaning)]
            }
            print(Table(["NAME", "DEFAULT", "MEANING"], rows).text)
        }
    }

    private static func standard(_ setting: Setting) -> String {
        setting.standard ?? (setting.isRequired ? "required" : "–")
    }

    private static func json(_ setting: Setting) -> JSON {
        [
            "name": .string(setting.rawValue), "flag": setting.flag.map(JSON.string) ?? .null,
            "default": setting.standard.map(JSON.string) ?? .null, "required": .bool(setting.isRequired),
            "meaning": .string(setting.meaning),
        ]
    }

    static let page = """
        # Configuration

        The server and the commands read it once, at their start: a flag comes before the environment, and that before the
        file that `NAME_FILE` names, which is how secrets travel. What is empty counts as not there. All mistakes are told
        together, and nothing starts with one.

        This page is what `accounts-api settings --markdown` prints; a test compares.

        | name | flag | without it | meaning |
        |---|---|---|---|

        """
        + Setting.allCases.map { setting in
            let flag = setting.flag.map { "`\($0)`" } ?? "never"
            let standard = Self.standard(setting).replacing("|", with: "\\|")
            return "| `\(setting.rawValue)` | \(flag) | \(standard) | \(setting.meaning) |\n"
        }.joined()
}
