/// What a file of texts says about one language.
struct LanguageTexts: Sendable {
    let tag: String
    /// The name of the language in itself.
    var name: String?
    var isRightToLeft: Bool?
    /// The names of the twelve months; nil for none.
    var months: [String]?
    /// By their paths, such as `words.next`.
    var texts: [String: TextTemplate] = [:]
    /// Texts of questions, such as titles and labels, by the text that the flow file has in its first choice: English, or
    /// otherwise its first language.
    var questions: [String: String] = [:]

    /// These texts with others in their place.
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
