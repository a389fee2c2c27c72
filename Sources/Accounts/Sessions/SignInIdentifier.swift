/// What a person types to say who they are: an address or a username, in the form that accounts are found by.
package struct SignInIdentifier: Sendable {
    /// The kind of field, as `identifiers` stores it.
    let kind: String
    let value: String
    /// Nil for a username.
    let address: EmailAddress?

    /// Accepts any text: one that no account can have is simply not found.
    package init(_ text: String) {
        if let address = EmailAddress(text) {
            (kind, value, self.address) = (EmailField.name, address.rawValue, address)
        } else {
            // Only ASCII is lowercased, as in ``UsernameField``.
            let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
            (kind, value, address) = (UsernameField.name, isASCII ? text.lowercased() : text, nil)
        }
    }

    /// Equal for equal identifiers.
    var bytes: [UInt8] { Array("\(kind) \(value)".utf8) }
}
