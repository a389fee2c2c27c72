extension EmailAddress {
    /// The mailbox that probably receives the mail, by which limits count: without the tag after `+`, and at Gmail without
    /// dots. It never replaces the address: at some providers these are the mailboxes of different people.
    var mailbox: String {
        let domain = rawValue[rawValue.index(after: rawValue.lastIndex(of: "@")!)...]
        let untagged = localPart.prefix { $0 != "+" }
        // A local part that begins with `+` has no name before the tag.
        let name = untagged.isEmpty ? localPart : untagged
        guard domain == "gmail.com" || domain == "googlemail.com" else { return "\(name)@\(domain)" }
        return "\(name.filter { $0 != "." })@gmail.com"
    }

    /// Whether the local part has a tag after `+`.
    var isTagged: Bool { localPart.dropFirst().contains("+") }
}
