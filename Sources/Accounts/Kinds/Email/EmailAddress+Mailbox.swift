extension EmailAddress {
    /// The mailbox that probably receives the mail: the address without the tag after `+` and, at Gmail, without the
    /// dots before the `@` and always with the domain `gmail.com`. Only rate limits use it. Everything else uses the
    /// address, because at some providers addresses with different tags or dots belong to different people.
    var mailbox: String {
        let domain = rawValue[rawValue.index(after: rawValue.lastIndex(of: "@")!)...]
        let untagged = localPart.prefix { $0 != "+" }
        // A local part that begins with `+` has no name before the tag, so the tag stays.
        let name = untagged.isEmpty ? localPart : untagged
        guard domain == "gmail.com" || domain == "googlemail.com" else { return "\(name)@\(domain)" }
        return "\(name.filter { $0 != "." })@gmail.com"
    }

    /// The subject of a rate limit of mails to an address. The addresses of the mailbox without a tag count together,
    /// and the addresses with a tag count together, separately from the others. Some mail servers do not support tags:
    /// mail to a tagged address then does not reach the owner of the mailbox, and must not use up the limit of the
    /// untagged address.
    var mailboxAndTag: [[UInt8]] {
        let isTagged = localPart.dropFirst().contains("+")
        return [Array(mailbox.utf8)] + (isTagged ? [Array("tagged".utf8)] : [])
    }
}
