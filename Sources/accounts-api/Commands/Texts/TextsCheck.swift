import Accounts
import ArgumentParser

extension TextCommands {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Validates a file of texts as the server does; exits with 1 if it is invalid.",
            discussion: """
                Prints all mistakes. If there are none, prints, for each language that is not built in, the texts that \
                remain in English. For a language that translates some texts of the built-in flow, also prints the \
                texts of this flow that the language lacks. Without FILE, validates TEXTS_FILE.

                EXAMPLE
                  accounts-api texts check texts.yaml
                """
        )

        @Argument(help: "The file of texts.", completion: .file(extensions: ["yaml", "yml"])) var file: String?
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let setting = SettingTable.shared.texts.name
            guard let path = try file ?? SettingSource().text(setting)?.value else {
                throw SettingMistakes(all: ["no file of texts: pass FILE, or set \(setting)"])
            }
            do throws(TextsFileError) {
                let texts = try TextsFile(contentsOf: path)
                print(json ? Self.verdict(on: texts).text : Self.report(on: texts, path))
            } catch {
                guard json else { throw error }
                print(Self.verdict(on: error).text)
                throw ExitCode(1)
            }
        }

        private static func report(on texts: TextsFile, _ path: String) -> String {
            let notes = texts.missing.map { language, paths in
                paths.isEmpty
                    ? "\(language.tag) (\(language.nativeName)) is complete"
                    : "\(language.tag) (\(language.nativeName)) lacks \(counted(paths.count, "text")); English is shown instead:\n"
                        + paths.map { "  \($0)" }.joined(separator: "\n")
            }
            let gaps = untranslated(texts)
            let summary = "the file does not translate \(counted(gaps.count, "text")) of the built-in flow:"
            let gapNotes = gaps.isEmpty ? [] : [([summary] + gaps.map { "  \($0)" }).joined(separator: "\n")]
            return (["\(path) is valid: \(counted(texts.count, "text"))"] + notes + gapNotes).joined(separator: "\n")
        }

        /// The messages about texts of the built-in flow that a language of the file does not translate, although this
        /// language translates other texts of the flow.
        private static func untranslated(_ texts: TextsFile) -> [String] {
            guard let flow = try? Flow.standard(among: texts.languages) else { return [] }
            return flow.gaps.map(\.description)
        }

        private static func verdict(on texts: TextsFile) -> JSON {
            let added = texts.missing.map { language, paths -> JSON in
                [
                    "tag": .string(language.tag), "name": .string(language.nativeName),
                    "missing": .array(paths.map(JSON.string)),
                ]
            }
            return [
                "valid": true, "texts": .integer(texts.count), "added_languages": .array(added),
                "untranslated": .array(untranslated(texts).map(JSON.string)),
            ]
        }

        private static func verdict(on error: TextsFileError) -> JSON {
            let mistakes = error.mistakes.map { mistake -> JSON in
                [
                    "file": .string(mistake.file), "line": mistake.line.map(JSON.integer) ?? .null,
                    "reason": .string(mistake.reason),
                ]
            }
            return ["valid": false, "mistakes": .array(mistakes)]
        }
    }
}
