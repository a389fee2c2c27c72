/// The languages of a service with a file of texts. The file can replace built-in texts, and add languages.
package struct TextsFile: Sendable {
    /// The built-in languages, then those that the file adds, in the order of the file.
    package let languages: [Language]
    /// For each language that the file adds, the paths of the English texts that it lacks.
    package let missing: [(language: Language, paths: [String])]
    /// The number of texts in the file.
    package let count: Int

    package init(contentsOf path: String) throws(TextsFileError) {
        let yaml: String
        do throws(YAMLFileError) {
            yaml = try YAMLText.read(path)
        } catch {
            throw TextsFileError(mistakes: [error])
        }
        try self.init(yaml, file: path)
    }

    /// - Parameter file: the path of the file, for errors.
    package init(_ yaml: String, file: String) throws(TextsFileError) {
        let builtIn = Language.builtInTexts
        var reader = TextsReader(file: file, builtIn: builtIn)
        guard let read = reader.read(yaml) else {
            let mistakes = reader.mistakes.map { $0.within(yaml) }
            throw TextsFileError(mistakes: mistakes.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
        }
        let replaced = builtIn.map { texts in
            read.first { $0.tag == texts.tag }.map(texts.replaced) ?? texts
        }
        let added = read.filter { texts in !builtIn.contains { $0.tag == texts.tag } }
        let english = Language(replaced[0], fallback: nil)
        let others = (replaced.dropFirst() + added).map { Language($0, fallback: english.messages) }
        languages = [english] + others
        let paths = Set(builtIn[0].texts.keys)
        missing = added.map { texts in
            (Language(texts, fallback: english.messages), paths.subtracting(texts.texts.keys).sorted())
        }
        count = read.reduce(0) { $0 + $1.texts.count + $1.questions.count }
    }
}

/// All mistakes in a file of texts, at least one.
package struct TextsFileError: Error, CustomStringConvertible {
    package let mistakes: [YAMLFileError]

    package var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
