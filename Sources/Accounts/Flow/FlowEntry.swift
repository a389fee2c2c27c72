package import Foundation
internal import Yams

/// Why a flow file is refused, and where.
package struct FlowFileError: Error, CustomStringConvertible {
    package let file: String
    /// Counted from one; nil where the whole file is meant.
    package let line: Int?
    package let reason: String

    package var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(reason)" }
}

/// One mapping of the flow file, read key by key. What nobody read is refused at the end, so a misspelt rule is found.
package struct FlowEntry {
    private let file: String
    private let line: Int?
    /// The languages in which every text has to be there.
    private var languages: [Language]
    private let values: [String: Node]
    private let lines: [String: Int]
    private var unread: Set<String>
    /// Whether the field must hold something; decided before its kind reads its rules.
    package private(set) var isRequired = true

    init(_ node: Node, file: String, speaking languages: [Language] = []) throws(FlowFileError) {
        self.file = file
        self.languages = languages
        line = node.mark?.line
        guard case .mapping(let mapping) = node else {
            throw FlowFileError(file: file, line: node.mark?.line, reason: "a mapping is expected here")
        }
        var values: [String: Node] = [:]
        var lines: [String: Int] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                throw FlowFileError(file: file, line: key.mark?.line, reason: "a key is a word")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw FlowFileError(file: file, line: key.mark?.line, reason: "\(name) stands here twice")
            }
            lines[name] = key.mark?.line
        }
        (self.values, self.lines) = (values, lines)
        unread = Set(values.keys)
    }

    package func error(_ reason: String, at key: String? = nil) -> FlowFileError {
        FlowFileError(file: file, line: key.flatMap { lines[$0] } ?? line, reason: reason)
    }

    mutating func node(_ key: String) -> Node? {
        unread.remove(key)
        return values[key]
    }

    package mutating func optionalText(_ key: String) throws(FlowFileError) -> String? {
        guard let node = node(key) else { return nil }
        guard let text = Self.text(node) else { throw error("\(key) is a text", at: key) }
        guard text.unicodeScalars.allSatisfy(\.isAllowedInLine) else {
            throw error("\(key) is one line, without control characters", at: key)
        }
        return text
    }

    /// Nil for what is no scalar, null, or blank.
    private static func text(_ node: Node) -> String? {
        guard let scalar = node.scalar, !scalar.string.allSatisfy(\.isWhitespace) else { return nil }
        let isNull = scalar.style == .plain && ["~", "null", "Null", "NULL"].contains(scalar.string)
        return isNull ? nil : scalar.string
    }

    package mutating func text(_ key: String) throws(FlowFileError) -> String {
        guard let text = try optionalText(key) else { throw error("\(key) is missing") }
        return text
    }

    package mutating func word(_ key: String, among words: [String]) throws(FlowFileError) -> String? {
        guard let word = try optionalText(key) else { return nil }
        guard words.contains(word) else { throw error("\(key) is one of \(words.joined(separator: ", "))", at: key) }
        return word
    }

    package mutating func flag(_ key: String, default standard: Bool) throws(FlowFileError) -> Bool {
        try word(key, among: ["true", "false"]).map { $0 == "true" } ?? standard
    }

    package mutating func integer(_ key: String, in range: ClosedRange<Int>) throws(FlowFileError) -> Int? {
        guard let text = try optionalText(key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw error("\(key) is a whole number from \(range.lowerBound) to \(range.upperBound)", at: key)
        }
        return number
    }

    /// A whole number with its unit: `45s`, `10m`, `24h`, `7d`.
    package mutating func duration(_ key: String, in range: ClosedRange<Duration>) throws(FlowFileError) -> Duration? {
        guard let text = try optionalText(key) else { return nil }
        guard let duration = Duration(text), range.contains(duration) else {
            throw error("\(key) is a time such as 45s, 10m, 24h or 7d within its bounds", at: key)
        }
        return duration
    }

    /// How often in which time: `5/1h`.
    mutating func limit(_ key: String) throws(FlowFileError) -> Limit? {
        guard let text = try optionalText(key) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...2000).contains(count),
            let period = Duration(parts[1]), (.seconds(1) ... .seconds(86_400)).contains(period)
        else { throw error("\(key) is a number up to 2000 and a time up to a day, such as 5/1h", at: key) }
        return Limit(count, per: period)
    }

    /// A time zone by its IANA name.
    package mutating func zone(_ key: String) throws(FlowFileError) -> TimeZone? {
        guard let name = try optionalText(key) else { return nil }
        guard let zone = TimeZone(identifier: name) else { throw error("\(name) is no time zone", at: key) }
        return zone
    }

    /// One text for each language of the flow; where it has only one, the text may stand by itself.
    ///
    /// - Parameter hasLines: whether a text may have several.
    package mutating func texts(
        _ key: String,
        hasLines: Bool = false
    ) throws(FlowFileError) -> [Language: String] {
        guard let texts = try optionalTexts(key, hasLines: hasLines) else { throw error("\(key) is missing") }
        return texts
    }

    package mutating func optionalTexts(
        _ key: String,
        hasLines: Bool = false
    ) throws(FlowFileError) -> [Language: String]? {
        guard let node = node(key) else { return nil }
        var texts: [Language: String] = [:]
        if languages.count == 1, let text = Self.text(node) {
            texts[languages[0]] = text
        } else {
            guard case .mapping = node else { throw error("\(key) is a text for each language", at: key) }
            var entry = try FlowEntry(node, file: file)
            for language in Language.allCases {
                guard let node = entry.node(language.rawValue) else { continue }
                guard let text = Self.text(node) else {
                    throw entry.error("\(language.rawValue) is a text", at: language.rawValue)
                }
                texts[language] = text
            }
            try entry.finish()
        }
        let isAllowed = { (text: String) in
            text.unicodeScalars.allSatisfy { hasLines ? $0.isAllowedInLines : $0.isAllowedInLine }
        }
        guard texts.values.allSatisfy(isAllowed) else {
            throw error("\(key) has characters that no text may have", at: key)
        }
        if let lacking = languages.first(where: { texts[$0] == nil }) {
            throw error("\(key) has no text in \(lacking.rawValue)", at: key)
        }
        return texts
    }

    mutating func entry(_ key: String) throws(FlowFileError) -> FlowEntry? {
        guard let node = node(key) else { return nil }
        return try FlowEntry(node, file: file, speaking: languages)
    }

    /// The same entry, in which every text has to be there in these languages.
    func speaking(_ languages: [Language]) -> FlowEntry {
        var entry = self
        entry.languages = languages
        return entry
    }

    mutating func entries(_ key: String) throws(FlowFileError) -> [FlowEntry] {
        guard let nodes = node(key)?.sequence, !nodes.isEmpty else {
            throw error("\(key) is a list of at least one", at: key)
        }
        var entries: [FlowEntry] = []
        for node in nodes { entries.append(try FlowEntry(node, file: file, speaking: languages)) }
        return entries
    }

    mutating func readRequired() throws(FlowFileError) {
        isRequired = try flag("required", default: true)
    }

    /// Refuses the keys that nobody asked for.
    func finish() throws(FlowFileError) {
        if let key = unread.min() { throw error("\(key) is no key here", at: key) }
    }
}

extension Duration {
    /// A whole number with its unit, as operators write it: `45s`, `10m`, `24h`, `7d`.
    package init?(_ text: some StringProtocol) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()), number < 1_000_000 else {
            return nil
        }
        self = .seconds(number * unit)
    }
}
