import Accounts

extension SettingSource {
    /// The setting whose flag contains the password of the database; nil if there is none. Other users of the machine
    /// can read flags.
    private var settingWithPasswordInFlag: (any AnySetting)? {
        let setting = SettingTable.shared.databaseURL
        guard namesFromFlags.contains(setting.name), let text = try? text(setting.name)?.value else { return nil }
        return ConnectionString(text)?.containsPassword == true ? setting : nil
    }

    /// Prints a warning to standard error if a flag contains the password of the database. The server logs its own
    /// warning instead (``Settings/warnings``).
    func warnOfPasswordInFlag(asJSON: Bool) {
        guard let setting = settingWithPasswordInFlag else { return }
        let message = """
            other users of this machine can read the password in --\(setting.flagName); use \(setting.name) or \
            \(setting.name)_FILE instead
            """
        printWarning(message, asJSON: asJSON)
    }
}
