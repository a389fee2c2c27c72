import Accounts

extension SettingSource {
    /// The flag that contains the password of the database, which other users of the machine can read; nil if there is
    /// none.
    private var flagWithPassword: (any AnySetting)? {
        let setting = SettingTable.shared.databaseURL
        guard namesOfFlags.contains(setting.name), let text = try? text(setting.name)?.value else { return nil }
        return ConnectionString(text)?.containsPassword == true ? setting : nil
    }

    /// Warns of a password in a flag on standard error. The server warns in its log instead.
    func warnOfPasswordInFlag(asJSON: Bool) {
        guard let setting = flagWithPassword else { return }
        let message = """
            other users of this machine can read the password in --\(setting.flagName); use \(setting.name) or \
            \(setting.name)_FILE instead
            """
        printWarning(message, asJSON: asJSON)
    }
}
