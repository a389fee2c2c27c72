import Accounts

extension SettingSource {
    /// The flag that contains the password of the database, which other users of the machine can read; nil if there is
    /// none.
    private var flagWithPassword: (any AnySetting)? {
        let setting = SettingTable.shared.databaseURL
        guard namesOfFlags.contains(setting.name), let text = try? text(setting.name)?.value else { return nil }
        return ConnectionString(text)?.containsPassword == true ? setting : nil
    }

    /// Prints a warning to standard error if a flag contains the password of the database. The server writes this
    /// warning to its log instead.
    func warnOfPasswordInFlag(asJSON: Bool) {
        guard let setting = flagWithPassword else { return }
        let message = """
            other users of this machine can read the password in --\(setting.flagName); use \(setting.name) or \
            \(setting.name)_FILE instead
            """
        printWarning(message, asJSON: asJSON)
    }
}
