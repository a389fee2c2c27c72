/// A field for a public name: 3 to 30 of the characters `a-z 0-9 . _ -`, of which the first is a letter and no two in a
/// row are marks (`. _ -`). Upper-case letters are converted to lower case.
package struct UsernameField: FieldKind {
    package typealias Value = Username
    package static let name = "username"
    package static var canIdentify: Bool { true }

    package init(rules: inout YAMLEntry) throws(YAMLFileError) {}

    package func parse(_ answer: FieldAnswer, of field: FieldName, in context: ValidationContext) throws(Refusals)
        -> Username
    {
        let typed = try answer.text(of: field)
        // Refuses letters outside ASCII before they are converted to lower case: U+212A (the Kelvin sign) would become
        // an ordinary k.
        guard typed.utf8.allSatisfy({ $0.isASCIIAlphanumeric || Self.marks.contains($0) }) else {
            throw Refusals(field, .badCharacters)
        }
        let name = typed.lowercased()
        let length = name.utf8.count
        if length < 3 { throw Refusals(field, .tooShort, ["min": 3, "actual": .integer(length)]) }
        if length > 30 { throw Refusals(field, .tooLong, ["max": 30, "actual": .integer(length)]) }
        guard (0x61...0x7A).contains(name.utf8.first!),
            !zip(name.utf8, name.utf8.dropFirst()).contains(where: {
                Self.marks.contains($0) && Self.marks.contains($1)
            })
        else { throw Refusals(field, .badFormat) }
        if Self.reserved.contains(Self.skeleton(of: name)) { throw Refusals(field, .reserved) }
        return Username(text: name)
    }

    /// The canonical form, so that a person who types capital letters sees that they are converted.
    package func written(_ value: Username) -> String? { value.text }

    package func contextWords(of value: Username) -> [String] { [value.text] }

    /// The standard claim `preferred_username` (OpenID Connect Core §5.1).
    package func claims(_ value: JSON, of field: Field, isProved: Bool) -> [JSON.Member] {
        [.init("preferred_username", value)]
    }

    package func rules(in language: Language) -> [JSON.Member] {
        [.init("min", 3), .init("max", 30), .init("pattern", .string(Self.pattern))]
    }

    package var control: Control { Control(type: "text", autocomplete: "username") }
    package var answerSchema: JSON {
        ["type": "string", "minLength": 3, "maxLength": 30, "pattern": .string("^\(Self.pattern)$")]
    }

    /// A regular expression for the whole name. It does not check the length. The hyphen is escaped, because browsers
    /// compile the attribute `pattern` with the flag `v`, which forbids it otherwise.
    private static let pattern = #"[A-Za-z](?:[._\-]?[A-Za-z0-9])*[._\-]?"#

    private static let marks = Set("._-".utf8)

    /// Returns the same text for names that look similar: without marks, and with some digits, the letter i and some
    /// pairs of letters replaced by the letters that they resemble. This follows the skeletons of Unicode Technical
    /// Standard 39.
    private static func skeleton(of name: String) -> String {
        var letters: [Unicode.Scalar] = []
        for scalar in name.unicodeScalars {
            let letter: Unicode.Scalar
            switch scalar {
            case ".", "_", "-": continue
            case "0": letter = "o"
            case "1", "i": letter = "l"
            case "3": letter = "e"
            case "4": letter = "a"
            case "5": letter = "s"
            case "7": letter = "t"
            case "8": letter = "b"
            default: letter = scalar
            }
            switch (letters.last, letter) {
            case ("r", "n"): letters[letters.count - 1] = "m"
            case ("v", "v"): letters[letters.count - 1] = "w"
            case ("c", "l"): letters[letters.count - 1] = "d"
            default: letters.append(letter)
            }
        }
        return String(String.UnicodeScalarView(letters))
    }

    private static let reserved = Set(reservedNames.map(skeleton))

    /// Names that people could mistake for the service, for a role such as `postmaster` (RFC 2142), or for a path of
    /// the service, and names that mean nobody in particular, such as `null`.
    private static let reservedNames = [
        "abuse", "account", "accounts", "admin", "administrator", "anonymous", "api", "assets", "auth", "billing",
        "blog",
        "contact", "daemon", "everyone", "ftp", "guest", "health", "help", "hostmaster", "info", "legal", "localhost",
        "login", "logout", "mail", "mailer-daemon", "me", "metrics", "moderator", "news", "no-reply", "nobody", "noc",
        "noreply", "null", "official", "operator", "owner", "password", "postmaster", "privacy", "register", "review",
        "root", "sales", "security", "self", "settings", "signin", "signup", "staff", "static", "status", "superuser",
        "support", "sysadmin", "system", "team", "terms", "undefined", "usenet", "user", "username", "webmaster", "www",
    ]
}

/// A public name in lower case.
package struct Username: StoredValue {
    package let text: String

    init(text: String) {
        self.text = text
    }

    package init?(json: JSON) {
        guard case .string(let text) = json else { return nil }
        self.text = text
    }

    package var json: JSON { .string(text) }
}
