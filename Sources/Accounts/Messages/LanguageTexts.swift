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
    /// Translations of texts of the flow, such as titles and labels. The key is the English text in the flow file or,
    /// if there is none, the text in the first language of the flow.
    var questions: [String: String] = [:]

    /// A copy with the texts of `others`. A text that `others` lacks stays.
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
