internal import Crypto
internal import Foundation

extension ApplicationsReader {
    /// The digests of the client's secrets; nil for a public client, or if there is a mistake.
    mutating func clientSecrets(in entry: inout YAMLEntry) -> [SHA256.Digest]? {
        let form = "a secret must have 32 to 256 visible ASCII characters; make one with: openssl rand -hex 32"
        return secrets(in: &entry, form: form) { line in
            let isValid = (32...256).contains(line.utf8.count) && line.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return isValid ? SHA256.hash(data: Data(line.utf8)) : nil
        }
    }

    mutating func webhook(in entry: inout YAMLEntry) -> Webhook? {
        guard var webhook = attempt({ () throws(YAMLFileError) in try entry.entry("webhook") }) ?? nil else {
            return nil
        }
        let earlierMistakes = mistakes.count
        let url = uri("url", in: &webhook)
        if url == nil, mistakes.count == earlierMistakes { collect(webhook.error("\"url\" is missing")) }
        let events = eventTypes(in: &webhook)
        let form = """
            a secret must be whsec_ and the base64 of 24 to 64 bytes, or whsk_ and the base64 of the 32 bytes of an \
            Ed25519 seed
            """
        let beforeSecrets = mistakes.count
        let secrets = secrets(in: &webhook, form: form) { WebhookSecret($0) }
        if secrets == nil, mistakes.count == beforeSecrets { collect(webhook.error("\"secret_file\" is missing")) }
        webhook.unknownKeys.forEach { collect($0) }
        guard mistakes.count == earlierMistakes, let url, let secrets else { return nil }
        return Webhook(url: url, events: events, secrets: secrets)
    }

    private mutating func eventTypes(in webhook: inout YAMLEntry) -> [String] {
        let earlierMistakes = mistakes.count
        let items = items("events", in: &webhook, upTo: Webhook.eventTypes.count)
        if items.isEmpty, mistakes.count == earlierMistakes {
            collect(webhook.error("\"events\" must have at least one entry", at: "events"))
        }
        for item in items where !Webhook.eventTypes.contains(item.text) {
            let known = Webhook.eventTypes.joined(separator: ", ")
            collect(item.error("unknown event \"\(item.text)\"; the events are \(known)"))
        }
        return items.map(\.text)
    }

    /// The secrets in the file that the key `secret_file` names; nil if the key is missing or there is a mistake.
    ///
    /// - Parameters:
    ///   - form: describes a valid secret, for the text of a mistake. The text never contains the secret itself.
    ///   - read: converts a line to a secret; returns nil if the line is not valid.
    private mutating func secrets<Value>(
        in entry: inout YAMLEntry,
        form: String,
        _ read: (String) -> Value?
    ) -> [Value]? {
        let key = "secret_file"
        guard let path = attempt({ () throws(YAMLFileError) in try entry.optionalText(key) }) ?? nil else { return nil }
        let file: SecretFile
        do throws(SecretFile.Unreadable) {
            file = try secretFile(absolute(path))
        } catch {
            collect(entry.error("cannot read the secrets in \"\(path)\": \(error.reason)", at: key))
            return nil
        }
        if file.isReadableByAll {
            warn(
                entry.error(
                    "the mode of \"\(path)\" lets every user of this machine read its secrets; use mode 0400",
                    at: key
                )
            )
        }
        guard (1...2).contains(file.lines.count) else {
            collect(entry.error("\"\(path)\" must have one line, or two while one secret replaces the other", at: key))
            return nil
        }
        let secrets = file.lines.compactMap(read)
        if secrets.count == file.lines.count { return secrets }
        collect(entry.error("in \"\(path)\", \(form)", at: key))
        return nil
    }

    /// Resolves a relative path against the folder of the applications file.
    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return "\(file[...slash])\(path)"
    }
}
