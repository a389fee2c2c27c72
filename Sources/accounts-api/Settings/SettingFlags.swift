import ArgumentParser

/// The flags of `serve` and `doctor`: one for each setting of the table with ``Setting/hasFlag``. ArgumentParser takes
/// the flags from the mirror of this type, so the mirror has an `@Option` for each of them.
struct SettingFlags: ParsableArguments, CustomReflectable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static let settings = SettingTable.entries.filter(\.hasFlag)

    private var flags: [String: String] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for setting in Self.settings {
            let key = Key(stringValue: setting.name)
            flags[setting.name] = try container.decode(Option<String?>.self, forKey: key).wrappedValue
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: Self.settings.map { ($0.name, Option($0)) })
    }

    var source: SettingSource { SettingSource(flags) }
}

extension Option<String?> {
    /// The flag of a setting, such as `@Option(\.listen) var listen: String?`.
    ///
    /// - Parameter name: the name of the flag; nil for the name that the flag of `serve` has.
    init(_ setting: PartialKeyPath<SettingTable>, name: NameSpecification? = nil) {
        self.init(SettingTable.entry(setting), name: name)
    }

    fileprivate init(_ setting: any AnySetting, name: NameSpecification? = nil) {
        let defaultText = setting.defaultText.map { "; \($0)" } ?? ""
        self.init(
            name: name ?? .customLong(setting.flagName),
            help: "\(setting.meaning) (\(setting.name)\(defaultText))",
            completion: setting.completion
        )
    }
}
