/// A text with placeholders, such as `Use at least {min} characters.`, in each of its plural forms. It is split at the
/// placeholders when the file of texts is read.
struct TextTemplate: Sendable {
    private let forms: [PluralForm: [Piece]]

    private enum Piece: Sendable {
        case text(String)
        case placeholder(String)
    }

    /// The reason why a text is not a valid template.
    enum Flaw: Error {
        /// A brace that does not belong to a placeholder.
        case brace
    }

    /// - Parameter texts: the texts of the plural forms. `other` must be among them.
    init(_ texts: [PluralForm: String]) throws(Flaw) {
        var forms: [PluralForm: [Piece]] = [:]
        for (form, text) in texts { forms[form] = try Self.pieces(of: text) }
        self.forms = forms
    }

    private static func pieces(of text: String) throws(Flaw) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            pieces.append(.text(String(rest[..<start])))
            rest = rest[start...].dropFirst()
            let name = rest.prefix { $0 == "_" || ("a"..."z").contains($0) }
            guard !name.isEmpty, rest.dropFirst(name.count).first == "}" else { throw .brace }
            pieces.append(.placeholder(String(name)))
            rest = rest.dropFirst(name.count + 1)
        }
        pieces.append(.text(String(rest)))
        for case .text(let text) in pieces where text.contains("}") { throw .brace }
        return pieces
    }

    /// The placeholders of each form.
    var placeholders: [PluralForm: Set<String>] {
        forms.mapValues { pieces in
            Set(pieces.compactMap { if case .placeholder(let name) = $0 { name } else { nil } })
        }
    }

    /// The text of `other`, with its placeholders.
    var source: String { filled([:]) }

    /// The text with values in place of the placeholders. A placeholder without a value stays.
    func filled(_ values: [String: String], as form: PluralForm = .other) -> String {
        var result = ""
        for piece in forms[form] ?? forms[.other] ?? [] {
            switch piece {
            case .text(let text): result += text
            case .placeholder(let name): result += values[name] ?? "{\(name)}"
            }
        }
        return result
    }
}
