import Accounts
import ArgumentParser

extension TextCommands {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the built-in texts as a file of texts.",
            discussion: """
                Copy what you want to change from this output into the file that TEXTS_FILE names.

                EXAMPLE
                  accounts-api texts show en
                """
        )

        @Argument(help: "The tag of a built-in language; the default is all of them.") var language: String?

        func run() async throws {
            guard let language else {
                print(Self.joined(Language.builtInFiles))
                return
            }
            guard let index = Language.builtIn.firstIndex(where: { $0.tag == language }) else {
                let known = Language.builtIn.map(\.tag).joined(separator: " or ")
                throw ValidationError("unknown language \"\(language.printable)\": pass \(known)")
            }
            print(Self.joined([Language.builtInFiles[index]]))
        }

        /// Returns the text of one file with the languages of these files.
        private static func joined(_ files: [String]) -> String {
            let start = "\nlanguages:\n"
            let languages = files.map { file in
                file.firstRange(of: start).map { String(file[$0.upperBound...]) } ?? file
            }
            return "languages:\n" + languages.joined().dropLast(while: \.isNewline)
        }
    }
}

extension String {
    /// Returns the text without the characters at its end that meet the condition.
    fileprivate func dropLast(while condition: (Character) -> Bool) -> Substring {
        self[..<(lastIndex { !condition($0) }.map(index(after:)) ?? startIndex)]
    }
}
