/// A field for an e-mail address.
package struct EmailField: FieldKind {
    package typealias Value = EmailAddress
    package static let name = "email"
    package static var canIdentify: Bool { true }

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {}

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> EmailAddress
    {
        let text = try answer.text(of: field)
        guard text.unicodeScalars.allSatisfy(\.isAllowedInLine) else { throw Refusals(field, .badCharacters) }
        guard let address = EmailAddress(text) else {
            throw text.utf8.count > 254
                ? Refusals(field, .tooLong, ["max": 254, "actual": .integer(text.utf8.count)])
                : Refusals(field, .badFormat)
        }
        return address
    }

    package func contextWords(of value: EmailAddress) -> [String] { [value.rawValue, String(value.localPart)] }

    /// The standard claims `email` and `email_verified` (OpenID Connect Core §5.1). `email_verified` is true only for
    /// the address that identifies the account, and only if it is proved.
    package func claims(_ value: JSON, of field: Field, isProved: Bool) -> [JSON.Member] {
        [.init("email", value), .init("email_verified", .bool(field.isIdentifier && isProved))]
    }

    package func masked(_ value: EmailAddress) -> String { value.masked }

    package func rules(in language: Language) -> [JSON.Member] { [.init("max", 254)] }

    package var control: Control { Control(type: "email", autocomplete: "email", inputMode: "email") }
    package var answerSchema: JSON { ["type": "string", "format": "idn-email"] }
}
