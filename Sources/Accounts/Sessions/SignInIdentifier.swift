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
            // Lowercases the text only if it is ASCII, because ``UsernameField`` accepts only ASCII. The Kelvin sign
            // (U+212A), for example, would become the letter k.
            let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
            (kind, value, address) = (UsernameField.name, isASCII ? text.lowercased() : text, nil)
        }
    }

    /// The kind and the value as bytes, which are equal for equal identifiers.
    var bytes: [UInt8] { Array("\(kind) \(value)".utf8) }
}
