import Accounts
import Foundation
import Logging

extension Settings {
    /// The mistakes of settings that are valid alone, but together would let strangers read or change what people send
    /// and receive.
    var transportMistakes: [String] {
        guard let publicURL = valid(\.publicURL) else { return [] }
        let quoted = "\"\(publicURL.printable)\""
        guard publicURL.hasPrefix("https://") else {
            if !Self.isExposed(publicURL) || valid(\.insecureHTTP) == .allowed { return [] }
            return [
                """
                PUBLIC_URL: with \(quoted), clients send passwords unencrypted; use https://, or set \
                INSECURE_HTTP=allowed if all clients are in a trusted network
                """
            ]
        }
        var mistakes: [String] = []
        if valid(\.smtpURL) == .unset {
            mistakes.append(
                """
                SMTP_URL is missing: codes would be printed although PUBLIC_URL is \(quoted); set it to a mail server, \
                or to "terminal:" if codes are to be printed
                """
            )
        }
        for origin in (valid(\.allowedOrigins) ?? []).sorted() where Self.isExposed(origin) {
            mistakes.append(
                """
                ALLOWED_ORIGINS: "\(origin.printable)" is not encrypted, but PUBLIC_URL \(quoted) is; use https:// or \
                remove the origin
                """
            )
        }
        return mistakes
    }

    /// The risks that the operator accepts with these settings.
    var warnings: [SettingWarning] {
        let table = SettingTable.shared
        let (database, mail) = (ConnectionString(self.databaseURL), self.smtpURL.server)
        var warnings: [SettingWarning] = []
        func warn(_ message: Logger.Message, _ metadata: Logger.Metadata) {
            warnings.append(SettingWarning(message: message, metadata: metadata))
        }
        if Self.isExposed(self.publicURL) {
            warn("clients send passwords unencrypted; use https", ["setting": "\(table.publicURL.name)"])
        }
        if let database, database.isUnverified {
            warn(
                "the PostgreSQL server is not fully verified; use sslmode=verify-full",
                ["setting": "\(table.databaseURL.name)", "sslmode": "\(database.sslMode)"]
            )
        }
        if let mail, !mail.requiresTLS, !mail.isLoopback {
            warn(
                mail.hasPassword
                    ? "mail and the password of the mail server may be sent unencrypted; remove tls=optional"
                    : "mail may be sent unencrypted; remove tls=optional",
                ["setting": "\(table.smtpURL.name)"]
            )
        }
        if mail == nil {
            warn("mail is printed with its codes; set a mail server", ["setting": "\(table.smtpURL.name)"])
        }
        if self.keys.pepper == nil {
            warn(
                "passwords are hashed without a pepper, which needs a v2 key (id:v2:…); put one first",
                ["setting": "\(table.keys.name)"]
            )
        }
        for warning in applications?.current.warnings ?? [] {
            warn("the applications file takes a risk", ["reason": "\(warning)"])
        }
        let passwords: [(setting: any AnySetting, isPresent: Bool)] = [
            (table.databaseURL, database?.containsPassword == true), (table.smtpURL, mail?.hasPassword == true),
        ]
        for (setting, isPresent) in passwords where isPresent && namesFromFlags.contains(setting.name) {
            warn(
                "other users of this machine can read the password of a flag; use the variable or the file instead",
                [
                    "flag": "--\(setting.flagName)", "variable": "\(setting.name)", "file": "\(setting.name)_FILE",
                ]
            )
        }
        return warnings
    }

    /// Whether others can read and change requests to this origin: it is not https, and its host is not loopback.
    private static func isExposed(_ origin: String) -> Bool {
        !origin.hasPrefix("https://") && !IPAddress.isLoopback(host: URLComponents(string: origin)?.host ?? "")
    }
}
