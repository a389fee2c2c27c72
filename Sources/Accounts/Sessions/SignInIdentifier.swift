/// The address or username that a person types to sign in, in the form in which `identifiers` stores it.
package struct SignInIdentifier: Sendable {
    /// The name of the kind of field, as `identifiers` stores it.
    let kind: String
    let value: String
    /// Nil for a username.
    let address: EmailAddress?

    /// Accepts any text. A text that no account can have finds no account.
    package init(_ text: String) {
        if let address = EmailAddress(text) {
            (kind, value, self.address) = (EmailField.name, address.rawValue, address)
        } else {
            // Only a text in ASCII is lowercased, as in ``UsernameField``.
            let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
            (kind, value, address) = (UsernameField.name, isASCII ? text.lowercased() : text, nil)
        }
    }

    /// The kind and the value as bytes, which are equal for equal identifiers.
    var bytes: [UInt8] { Array("\(kind) \(value)".utf8) }
}
