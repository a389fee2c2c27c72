import Accounts
import ArgumentParser

/// The command that prints the reference of the configuration, which is generated from the table of settings.
struct SettingsReference: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Prints every setting with its default and its meaning, or with its value.",
        discussion: """
            --effective prints the values that the present environment gives, and where each comes from: run it with \
            the environment of the server. It does not validate the values; "doctor" does. --markdown prints the page \
            docs/configuration.md.

            EXAMPLES
              accounts-api settings
              accounts-api settings --effective
            """
    )

    @Flag(help: "Prints the value of each setting and its origin, with secrets masked.") var effective = false
    @Flag(help: "Prints a page of Markdown.") var markdown = false
    @Flag(help: "Prints JSON.") var json = false

    func run() throws {
        if effective, markdown { throw ValidationError("pass either --effective or --markdown, not both") }
        if json, markdown { throw ValidationError("pass either --json or --markdown, not both") }
        if effective {
            let values = SettingTable.entries.map { EffectiveSetting($0, in: SettingSource()) }
            print(json ? JSON.array(values.map(\.json)).text : EffectiveSetting.table(of: values).text)
        } else if markdown {
            print(Self.page, terminator: "")
        } else if json {
            print(JSON.array(SettingTable.entries.map(Self.json)).text)
        } else {
            let rows = SettingTable.entries.map { setting -> [Table.Cell] in
                [
                    .init(setting.name), .init(setting.flag ?? "–"), .init(Self.defaultText(of: setting)),
                    .init(setting.meaning),
                ]
            }
            print(Table(["NAME", "FLAG", "DEFAULT", "MEANING"], rows, omittingIfNarrow: ["FLAG"]).text)
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

        The server and the commands read their settings once, when they start; the server reads only the applications
        file again, on SIGHUP. A command reads only the settings that it needs. A flag takes precedence over the
        environment variable, and the variable over the file that `NAME_FILE` names. Use files for secrets. One line
        break at the end of such a file is dropped. An empty value counts as not set. If settings are invalid, the
        server or command reports all errors together and does not start. The variables of libpq, such as `PGPASSFILE`,
        complete `DATABASE_URL`.

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

/// The value that a setting has in this environment.
private struct EffectiveSetting {
    let name: String
    /// The text, with its secrets masked. If the setting is not set, the default, or nil if there is none. Nil also if
    /// the file of the setting cannot be read.
    let value: String?
    /// Where the value comes from: `environment`, `default`, or the path of a file; `missing` for a required setting
    /// that is not set; the error message if the file of the setting cannot be read.
    let origin: String

    init(_ setting: any AnySetting, in source: SettingSource) {
        name = setting.name
        do throws(SettingMistakes) {
            let text = try source.text(name)?.value
            value = text.map { setting.shown($0).printable } ?? setting.defaultText
            origin = text == nil ? (setting.isRequired ? "missing" : "default") : source.origin(of: name) ?? ""
        } catch {
            (value, origin) = (nil, error.all.joined(separator: "; "))
        }
    }

    static func table(of values: [EffectiveSetting]) -> Table {
        Table(["NAME", "FROM", "VALUE"], values.map { [.init($0.name), .init($0.origin), .init($0.value ?? "–")] })
    }

    var json: JSON {
        ["name": .string(name), "from": .string(origin), "value": value.map(JSON.string) ?? .null]
    }
}
