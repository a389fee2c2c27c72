package import Foundation
internal import Yams

/// One mapping of a flow file, or of another YAML file of the operator, read key by key. ``unknownKeys`` reports the
/// keys that were not read, such as a misspelt rule.
package struct YAMLEntry {
    private let file: String
    private let line: Int?
    /// The languages in which each text of the mapping is needed (``texts(_:allowsLineBreaks:)``).
    private var languages: [Language]
    /// The languages that a text may have.
    private var known: [Language]
    /// The texts that are missing in a language that `TEXTS_FILE` adds, in all entries of this YAML file that were read
    /// so far.
    private(set) var gaps = TextGaps()
    private(set) var mistakes = YAMLMistakes()
    private let values: [String: Node]
    private let lines: [String: Int]
    private var unread: Set<String>
    /// The keys that were looked for, whether the mapping has them or not.
    private var sought: Set<String> = []
    /// For the entry of a field: whether the field needs a value. ``readRequired()`` sets it before the kind reads its
    /// rules.
    package private(set) var isRequired = true

    init(
        _ node: Node,
        file: String,
        requiring languages: [Language] = [],
        among known: [Language] = []
    ) throws(YAMLFileError) {
        self.file = file
        (self.languages, self.known) = (languages, known)
        line = node.mark?.line
        guard case .mapping(let mapping) = node else {
            throw YAMLFileError(file: file, line: node.mark?.line, reason: "expected a mapping")
        }
        var values: [String: Node] = [:]
        var lines: [String: Int] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                throw YAMLFileError(file: file, line: key.mark?.line, reason: "a key must be a string")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw YAMLFileError(file: file, line: key.mark?.line, reason: "\"\(name)\" appears twice")
            }
            lines[name] = key.mark?.line
        }
        (self.values, self.lines) = (values, lines)
        unread = Set(values.keys)
    }

    package func error(_ reason: String, at key: String? = nil) -> YAMLFileError {
        YAMLFileError(file: file, line: key.flatMap { lines[$0] } ?? line, reason: reason)
    }

    mutating func node(_ key: String) -> Node? {
        unread.remove(key)
        sought.insert(key)
        return values[key]
    }

    package mutating func optionalText(_ key: String) throws(YAMLFileError) -> String? {
        guard let node = node(key) else { return nil }
        guard let text = Self.text(node) else { throw error("\"\(key)\" must be a non-empty string", at: key) }
        guard text.unicodeScalars.allSatisfy(\.isAllowedInLine) else {
            throw error("\"\(key)\" must be one line without control characters", at: key)
        }
        return text
    }

    /// The text of a scalar; nil if the node is not a scalar, or is null or blank.
    static func text(_ node: Node) -> String? {
        guard let scalar = node.scalar, !scalar.string.allSatisfy(\.isWhitespace) else { return nil }
        let isNull = scalar.style == .plain && ["~", "null", "Null", "NULL"].contains(scalar.string)
        return isNull ? nil : scalar.string
    }

    package mutating func text(_ key: String) throws(YAMLFileError) -> String {
        guard let text = try optionalText(key) else { throw missing(key) }
        return text
    }

    /// Returns the error for a missing key: that it is missing or, if the mapping has an unread key with almost the
    /// same spelling, that this other key is unknown.
    mutating func missing(_ key: String) -> YAMLFileError {
        guard let similar = key.similar(among: unread) else { return error("\"\(key)\" is missing") }
        unread.remove(similar)
        return error("unknown key \"\(similar)\": did you mean \"\(key)\"?", at: similar)
    }

    package mutating func word(_ key: String, among words: [String]) throws(YAMLFileError) -> String? {
        guard let word = try optionalText(key) else { return nil }
        guard words.contains(word) else {
            throw error("\"\(key)\" must be one of \(words.joined(separator: ", ")), not \"\(word)\"", at: key)
        }
        return word
    }

    package mutating func flag(_ key: String, default standard: Bool) throws(YAMLFileError) -> Bool {
        try word(key, among: ["true", "false"]).map { $0 == "true" } ?? standard
    }

    package mutating func integer(_ key: String, in range: ClosedRange<Int>) throws(YAMLFileError) -> Int? {
        guard let text = try optionalText(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let bounds = "\(range.lowerBound) to \(range.upperBound)"
            throw error("\"\(key)\" must be a whole number from \(bounds), not \"\(text)\"", at: key)
        }
        return number
    }

    /// Reads a whole number with its unit: `45s`, `10m`, `24h`, `7d`. Nil if the key is missing.
    package mutating func duration(_ key: String, in range: ClosedRange<Duration>) throws(YAMLFileError) -> Duration? {
        guard let text = try optionalText(key) else { return nil }
        guard let duration = Duration(text), range.contains(duration) else {
            let bounds = "\(range.lowerBound.inLargestUnit) to \(range.upperBound.inLargestUnit)"
            throw error("\"\(key)\" must be a duration from \(bounds) (units: s, m, h, d), not \"\(text)\"", at: key)
        }
        return duration
    }

    /// Reads a count and a period, such as `5/1h`. Nil if the key is missing.
    mutating func limit(_ key: String, upTo maximum: Int) throws(YAMLFileError) -> Limit? {
        guard let text = try optionalText(key) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...maximum).contains(count),
            let period = Duration(parts[1]), (.seconds(1) ... .seconds(86_400)).contains(period)
        else {
            throw error(
                "\"\(key)\" must be a count from 1 to \(maximum) per 1s to 1d, such as 5/1h, not \"\(text)\"",
                at: key
            )
        }
        return Limit(count, per: period)
    }

    /// Reads the IANA name of a time zone. Nil if the key is missing.
    package mutating func zone(_ key: String) throws(YAMLFileError) -> TimeZone? {
        guard let name = try optionalText(key) else { return nil }
        guard let zone = TimeZone(identifier: name) else {
            throw error("unknown time zone \"\(name)\": use an IANA name such as Asia/Seoul", at: key)
        }
        return zone
    }

    /// Reads one text for each language of the flow. If the flow has one language, the value may be the text itself. If
    /// the text in a language is missing, `TEXTS_FILE` may translate the original: the English text or, if there is
    /// none, the text in the first language. If `TEXTS_FILE` has added the language but does not translate the
    /// original, pages show the original. Throws if a built-in language has neither a text nor a translation, or if
    /// there is no original.
    ///
    /// - Parameter allowsLineBreaks: whether a text may have several lines.
    package mutating func texts(
        _ key: String,
        allowsLineBreaks: Bool = false
    ) throws(YAMLFileError) -> [Language: String] {
        guard let texts = try optionalTexts(key, allowsLineBreaks: allowsLineBreaks) else {
            throw missing(key)
        }
        return texts
    }

    package mutating func optionalTexts(
        _ key: String,
        allowsLineBreaks: Bool = false
    ) throws(YAMLFileError) -> [Language: String]? {
        guard let node = node(key) else { return nil }
        var texts: [Language: String] = [:]
        if languages.count == 1, let text = Self.text(node) {
            texts[languages[0]] = text
        } else {
            guard case .mapping = node else {
                throw error("\"\(key)\" must map each language to a text, such as {en: Name}", at: key)
            }
            var entry = try YAMLEntry(node, file: file)
            for language in known {
                guard let node = entry.node(language.tag) else { continue }
                guard let text = Self.text(node) else {
                    throw entry.error("\"\(language.tag)\" must be a non-empty string", at: language.tag)
                }
                texts[language] = text
            }
            try entry.finish()
        }
        let isAllowed = { (text: String) in
            text.unicodeScalars.allSatisfy { allowsLineBreaks ? $0.isAllowedInLines : $0.isAllowedInLine }
        }
        guard texts.values.allSatisfy(isAllowed) else {
            throw error("\"\(key)\" contains characters that are not allowed, such as control characters", at: key)
        }
        let fallback = texts[.english] ?? languages.first.flatMap { texts[$0] }
        for language in languages where texts[language] == nil {
            if let translation = fallback.flatMap({ language.questions[$0] }) {
                texts[language] = translation
                continue
            }
            // A language that `TEXTS_FILE` has added may be incomplete.
            guard !Language.builtIn.contains(language), let fallback else {
                throw error("\"\(key)\" has no text for the language \"\(language.tag)\"", at: key)
            }
            let other = texts[.english] == nil ? languages[0].tag : Language.english.tag
            let reason = "\"\(key)\" has no text in \"\(language.tag)\": pages show the text in \"\(other)\""
            gaps.all.append(error(reason, at: key))
            texts[language] = fallback
        }
        return texts
    }

    package mutating func entry(_ key: String) throws(YAMLFileError) -> YAMLEntry? {
        guard let node = node(key) else { return nil }
        return try inner(node)
    }

    private func inner(_ node: Node) throws(YAMLFileError) -> YAMLEntry {
        var entry = try YAMLEntry(node, file: file, requiring: languages, among: known)
        (entry.gaps, entry.mistakes) = (gaps, mistakes)
        return entry
    }

    /// Returns a copy of the entry that needs every text in each of these languages.
    ///
    /// - Parameter known: the languages that a text may have.
    func requiring(_ languages: [Language], among known: [Language]) -> YAMLEntry {
        var entry = self
        (entry.languages, entry.known) = (languages, known)
        return entry
    }

    package mutating func entries(_ key: String) throws(YAMLFileError) -> [YAMLEntry] {
        let list = node(key)
        if list == nil, key.similar(among: unread) != nil { throw missing(key) }
        guard let nodes = list?.sequence, !nodes.isEmpty else {
            throw error("\"\(key)\" must be a list with at least one entry", at: key)
        }
        var entries: [YAMLEntry] = []
        for node in nodes { entries.append(try inner(node)) }
        return entries
    }

    /// Reads a list of texts, each in one line and none twice. Nil if the key is missing.
    mutating func items(_ key: String, upTo maximum: Int) throws(YAMLFileError) -> [YAMLItem]? {
        guard let node = node(key) else { return nil }
        guard let nodes = node.sequence, nodes.count <= maximum else {
            throw error("\"\(key)\" must be a list with at most \(maximum) entries", at: key)
        }
        var items: [YAMLItem] = []
        var texts: Set<String> = []
        for node in nodes {
            let item = YAMLItem(text: Self.text(node) ?? "", file: file, line: node.mark?.line)
            guard !item.text.isEmpty, item.text.unicodeScalars.allSatisfy(\.isAllowedInLine) else {
                throw item.error("an entry of \"\(key)\" must be a non-empty string in one line")
            }
            guard texts.insert(item.text).inserted else {
                throw item.error("\"\(item.text)\" appears twice in \"\(key)\"")
            }
            items.append(item)
        }
        return items
    }

    /// Reads the key `required` of a field into ``isRequired``.
    mutating func readRequired() throws(YAMLFileError) {
        isRequired = try flag("required", default: true)
    }

    /// Throws if the mapping has a key that was not read.
    func finish() throws(YAMLFileError) {
        if let error = unknownKeys.first { throw error }
    }

    /// An error for each key that was not read.
    package var unknownKeys: [YAMLFileError] {
        let absent = sought.subtracting(values.keys)
        return unread.sorted().map { key in
            let hint = key.similar(among: absent).map { ": did you mean \"\($0)\"?" } ?? ""
            return error("unknown key \"\(key)\"\(hint)", at: key)
        }
    }
}

extension String {
    /// Returns the most similar of the words; nil if none is similar. Two letters may differ, or one if either word has
    /// at most four letters.
    fileprivate func similar(among words: Set<String>) -> String? {
        words.sorted().map { (word: $0, distance: distance(to: $0)) }
            .filter { $0.distance <= (Swift.min(count, $0.word.count) > 4 ? 2 : 1) }
            .min { $0.distance < $1.distance }?.word
    }

    /// The least number of letters to insert, remove, replace or swap with a neighbour (optimal string alignment).
    private func distance(to other: String) -> Int {
        let (a, b) = (Array(self), Array(other))
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = Swift.min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = Swift.min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}

/// Collects the missing texts of one file. All copies of an entry, and the entries below it, share this object.
final class TextGaps {
    var all: [YAMLFileError] = []
}

extension Duration {
    /// The duration in the largest unit in which it is a whole number, such as `10m`, without the fraction of a second.
    package var inLargestUnit: String {
        let units = [(86_400, "d"), (3600, "h"), (60, "m")]
        guard let (size, unit) = units.first(where: { seconds % $0.0 == 0 }) else { return "\(seconds)s" }
        return "\(seconds / size)\(unit)"
    }

    /// Reads a whole number below a million with its unit, as operators write it: `45s`, `10m`, `24h`, `7d`. Nil for
    /// any other text.
    package init?(_ text: some StringProtocol) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
            (0..<1_000_000).contains(number)
        else { return nil }
        self = .seconds(number * unit)
    }
}
