/// The contents of a file of texts for one language.
struct LanguageTexts: Sendable {
    let tag: String
    /// The name of the language in the language itself.
    var name: String?
    var isRightToLeft: Bool?
    /// The names of the twelve months; nil if the file does not name them.
    var months: [String]?
    /// The texts by their paths, such as `words.next`.
    var texts: [String: TextTemplate] = [:]
    /// Translations of texts of the flow, such as titles and labels. The key is the text that the flow file has in
    /// English, or in its first language if it has no English text.
    var questions: [String: String] = [:]

    /// A copy with the texts of `others`, and with these texts where `others` has none.
    func replaced(by others: LanguageTexts) -> LanguageTexts {
        LanguageTexts(
            tag: tag,
            name: others.name ?? name,
            isRightToLeft: others.isRightToLeft ?? isRightToLeft,
            months: others.months ?? months,
            texts: texts.merging(others.texts) { $1 },
            questions: questions.merging(others.questions) { $1 }
        )
    }
}
