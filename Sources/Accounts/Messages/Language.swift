/// A language of the texts for people. Two languages are equal if their tags are.
package struct Language: Hashable, Sendable {
    /// The language tag (BCP 47), such as `en`.
    package let tag: String
    /// The name of the language in the language itself.
    package let nativeName: String
    /// Whether the language is written from right to left.
    package let isRightToLeft: Bool
    package let messages: Messages
    /// Translations of the texts of a flow (``LanguageTexts/questions``).
    let questions: [String: String]

    package static func == (one: Language, other: Language) -> Bool { one.tag == other.tag }
    package func hash(into hasher: inout Hasher) { hasher.combine(tag) }

    init(_ texts: LanguageTexts, fallback: Messages?) {
        tag = texts.tag
        nativeName = texts.name ?? texts.tag
        isRightToLeft = texts.isRightToLeft ?? false
        messages = Messages(texts, fallback: fallback)
        questions = texts.questions
    }

    /// Returns the language that an `Accept-Language` field prefers (RFC 9110 §12.5.4): the language with the highest
    /// quality. If several languages have the highest quality, returns the one that comes first in the field. Returns
    /// the first of `languages` if the field names none of them.
    ///
    /// `q=0` excludes a language, `*` stands for all languages that the field does not name, and malformed parts are
    /// ignored. Parts after the 32nd, and a field longer than 8 KiB, are ignored, too.
    package static func negotiated(_ acceptLanguage: String?, among languages: [Language]) -> Language {
        let fallback = languages[0]
        guard let field = acceptLanguage, field.utf8.count <= 8192 else { return fallback }
        let ranges = field.headerParts(separatedBy: ",").prefix(32).compactMap { Range($0, among: languages) }
        let ranks = languages.compactMap { language in
            language.rank(among: ranges, fallback: fallback).map { (language, $0) }
        }
        return ranks.max { $0.1 < $1.1 }?.0 ?? fallback
    }

    /// The rank of the language, compared from left to right: its quality, its position in the field, and whether it is
    /// the fallback. Nil if the field excludes it.
    private func rank(among ranges: [Range], fallback: Language) -> (Int, Int, Int)? {
        let isFallback = self == fallback ? 1 : 0
        let matching = ranges.enumerated().filter { $0.element.language == self }
        let isExcluded = matching.contains { $0.element.quality == 0 && isNamed($0.element.tag) }
        guard !isExcluded else { return nil }

        let accepted = matching.filter { $0.element.quality > 0 }.map { ($0.element.quality, -$0.offset, isFallback) }
        if let best = accepted.max(by: <) { return best }

        switch ranges.last(where: { $0.tag == "*" })?.quality {
        case 0: return nil
        case let quality?: return (quality, -ranges.count, isFallback)
        case nil: return (0, -ranges.count, isFallback)
        }
    }

    /// One part of the field: a tag or `*`, with its quality in thousandths.
    private struct Range {
        let tag: String
        let quality: Int
        /// Nil if the tag names none of the languages.
        let language: Language?

        init?(_ part: Substring, among languages: [Language]) {
            let pieces = part.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingWhitespace() }
            let weight = pieces.count == 2 ? Self.quality(pieces[1]) : 1000
            guard let weight else { return nil }
            tag = String(pieces[0])
            quality = weight
            language = languages.language(for: tag)
        }

        /// Reads a quality such as `q=0.8`, a number from 0 to 1 with at most three decimals (RFC 9110 §12.4.2).
        /// Returns it in thousandths; nil if the text is malformed, or if the quality is above 1.
        private static func quality(_ text: Substring) -> Int? {
            let digits = text.utf8.dropFirst(2)
            guard text.lowercased().hasPrefix("q="), let first = digits.first, digits.count <= 5,
                first == UInt8(ascii: "0") || first == UInt8(ascii: "1"),
                digits.count == 1 || digits.dropFirst().first == UInt8(ascii: ".")
            else { return nil }
            let decimals = digits.dropFirst(2)
            guard decimals.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
            let padded = decimals + Array(repeating: UInt8(ascii: "0"), count: 3 - decimals.count)
            let thousandths = ([first] + padded).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return thousandths <= 1000 ? thousandths : nil
        }
    }

    /// Whether the tag is the tag of this language, ignoring case: for the language `en`, true for `EN`, and false for
    /// `en-GB`.
    fileprivate func isNamed(_ tag: String) -> Bool {
        self.tag.utf8.elementsEqual(tag.utf8) { $0 | 0x20 == $1 | 0x20 }
    }
}

extension [Language] {
    /// The language with exactly this tag; upper and lower case count. For tags from the database, which stores a tag as
    /// it is in ``Language/tag``.
    package subscript(tag: String) -> Language? { first { $0.tag == tag } }

    /// Finds the language for a tag such as `ko-KR`, by lookup (RFC 4647 §3.4), ignoring case. Nil if the tag is
    /// malformed, or if there is no such language.
    package func language(for tag: String) -> Language? {
        var subtags = tag.split(separator: "-", omittingEmptySubsequences: false)
        guard subtags.allSatisfy(Self.isSubtag) else { return nil }
        while !subtags.isEmpty {
            let range = subtags.joined(separator: "-")
            if let language = first(where: { $0.isNamed(range) }) { return language }
            subtags.removeLast()
            // A subtag of one character begins an extension, and has no meaning of its own.
            if subtags.last?.utf8.count == 1 { subtags.removeLast() }
        }
        return nil
    }

    /// One to eight ASCII letters or digits (RFC 4647 §2.1).
    private static func isSubtag(_ text: Substring) -> Bool {
        (1...8).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}

extension StringProtocol {
    /// Returns the parts of a header field without the spaces and tabs around them, and without empty parts.
    ///
    /// Splits bytes: a `Character` may be a separator together with the character before it, such as U+0600, so a
    /// client could hide a separator.
    package func headerParts(separatedBy separator: Unicode.Scalar) -> [Substring] {
        Substring(self).utf8.split(separator: UInt8(ascii: separator)).map { Substring($0).trimmingWhitespace() }
            .filter { !$0.isEmpty }
    }
}

extension Substring {
    /// The text without the spaces and tabs around it (RFC 9110 §5.6.3).
    package func trimmingWhitespace() -> Substring {
        let isWhitespace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let last = utf8.lastIndex(where: { !isWhitespace($0) }) else { return "" }
        return Substring(utf8[...last].drop(while: isWhitespace))
    }
}
