extension ApplicationsReader {
    private static let maximumURIs = 100

    mutating func redirectURIs(in entry: inout YAMLEntry, allowsAppScheme: Bool) -> [String] {
        let earlierMistakes = mistakes.count
        let uris = uris("redirect_uris", in: &entry, allowsAppScheme: allowsAppScheme)
        if uris.isEmpty, mistakes.count == earlierMistakes {
            collect(entry.error("\"redirect_uris\" must have at least one entry", at: "redirect_uris"))
        }
        return uris
    }

    /// Returns the valid URIs of a list, and collects the mistakes in the others. Returns an empty list if the key is
    /// missing. Also returns an empty list, and collects that mistake, if the value is not a list or has too many
    /// entries, or if an entry is repeated, empty, or not a string in one line.
    mutating func uris(_ key: String, in entry: inout YAMLEntry, allowsAppScheme: Bool) -> [String] {
        items(key, in: &entry, upTo: Self.maximumURIs).compactMap { item in
            guard let mistake = uriRules.mistake(in: item.text, allowsAppScheme: allowsAppScheme) else {
                return item.text
            }
            collect(item.error(mistake))
            return nil
        }
    }

    mutating func uri(_ key: String, in entry: inout YAMLEntry) -> String? {
        guard let uri = attempt({ () throws(YAMLFileError) in try entry.optionalText(key) }) ?? nil else { return nil }
        guard let mistake = uriRules.mistake(in: uri) else { return uri }
        collect(entry.error(mistake, at: key))
        return nil
    }
}
