internal import Foundation

extension Language {
    package static let english = Language(builtInTexts[0], fallback: nil)
    package static let korean = Language(builtInTexts[1], fallback: english.messages)

    /// The languages that the service has without a file of texts.
    package static let builtIn = [english, korean]

    /// The contents of the files with the built-in texts, English first.
    package static let builtInFiles = [PackageResources.en_yaml, PackageResources.ko_yaml].map {
        String(decoding: $0, as: UTF8.self)
    }

    static let builtInTexts = builtInFiles.flatMap { yaml -> [LanguageTexts] in
        var reader = TextsReader(file: "texts", builtIn: [])
        guard let texts = reader.read(yaml) else { preconditionFailure("\(reader.mistakes)") }
        return texts
    }
}
