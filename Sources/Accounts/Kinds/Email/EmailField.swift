/// An e-mail address.
package struct EmailField: FieldKind {
    package static let name = "email"
    package static var canIdentify: Bool { true }

    package init(rules: inout FlowEntry) throws(FlowFileError) {}

    package func canonical(_ answer: JSON, of field: FieldName, in situation: Situation) throws(Refusals) -> JSON {
        let text = try answer.text(of: field)
        guard text.unicodeScalars.allSatisfy(\.isAllowedInLine) else { throw Refusals(field, .badCharacters) }
        guard let address = EmailAddress(text) else {
            throw text.utf8.count > 254
                ? Refusals(field, .tooLong, ["max": 254, "actual": .integer(text.utf8.count)])
                : Refusals(field, .badFormat)
        }
        return .string(address.rawValue)
    }

    package func contextWords(of stored: JSON) -> [String] {
        // The stored text is canonical, so the first part needs no parser.
        guard let address = stored.string, let at = address.utf8.lastIndex(of: UInt8(ascii: "@")) else { return [] }
        return [address, String(address[..<at])]
    }

    package func masked(_ stored: JSON) -> String { Self.masked(stored.string ?? "") }

    /// Enough to recognise an address, too little to write to it: `kim@example.com` is `k•••@e•••.com`.
    package static func masked(_ address: String) -> String {
        let parts = address.split(separator: "@", maxSplits: 1)
        guard parts.count == 2, let dot = parts[1].lastIndex(of: ".") else { return "•••" }
        return "\(parts[0].prefix(1))•••@\(parts[1].prefix(1))•••\(parts[1][dot...])"
    }

    package func rules(in language: Language) -> [JSON.Member] { [.init("max", 254)] }

    package var control: Control { Control(type: "email", autocomplete: "email", inputMode: "email") }
    package var answerSchema: JSON { ["type": "string", "format": "idn-email"] }
}
