import Accounts
import ArgumentParser

extension BrandCommands {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Validates a brand file as the server does; exits with 1 if it is invalid.",
            discussion: """
                Prints all mistakes, or the colours and their contrast. Also reads the files that the brand file \
                names. Without FILE it validates the file in the setting BRAND_FILE.

                EXAMPLE
                  accounts-api brand check brand.yaml
                """
        )

        @Argument(help: "The brand file.", completion: .file(extensions: ["yaml", "yml"])) var file: String?
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let setting = SettingTable.shared.brand.name
            guard let file = try file ?? SettingSource().text(setting)?.value else {
                throw SettingMistakes(all: ["no brand file: pass FILE, or set \(setting)"])
            }
            do throws(BrandFileError) {
                let brand = try Brand(contentsOf: file)
                print(json ? Self.verdict(on: brand).text : "\(file) is valid\n\n\(Self.tables(of: brand))")
            } catch {
                guard json else { throw error }
                print(Self.verdict(on: error).text)
                throw ExitCode(1)
            }
        }

        private static func tables(of brand: Brand) -> String {
            let colours = ColourName.allCases.map { name -> [Table.Cell] in
                [.init(name.rawValue), .init("\(brand.light[name])"), .init("\(brand.dark[name])")]
            }
            let contrasts = ContrastPair.all.map { pair -> [Table.Cell] in
                [
                    .init("\(pair.foreground.rawValue) on \(pair.background.rawValue)"),
                    .init(ratio(brand.light.contrast(of: pair))), .init(ratio(brand.dark.contrast(of: pair))),
                    .init(ratio(pair.minimum)),
                ]
            }
            let palette = Table(["COLOR", "LIGHT", "DARK"], colours).text
            return "\(palette)\n\n\(Table(["CONTRAST", "LIGHT", "DARK", "NEEDED"], contrasts).text)"
        }

        private static func ratio(_ ratio: Double) -> String { "\(ratio.roundedDownToHundredths)" }

        private static func verdict(on brand: Brand) -> JSON {
            let colours = ColourName.allCases.map { name -> JSON in
                [
                    "name": .string(name.rawValue), "light": .string("\(brand.light[name])"),
                    "dark": .string("\(brand.dark[name])"),
                ]
            }
            let contrasts = ContrastPair.all.map { pair -> JSON in
                [
                    "foreground": .string(pair.foreground.rawValue), "background": .string(pair.background.rawValue),
                    "light": .number(brand.light.contrast(of: pair).roundedDownToHundredths),
                    "dark": .number(brand.dark.contrast(of: pair).roundedDownToHundredths),
                    "needed": .number(pair.minimum),
                ]
            }
            return [
                "valid": true, "name": brand.name.map(JSON.string) ?? .null, "colors": .array(colours),
                "contrasts": .array(contrasts),
            ]
        }

        private static func verdict(on error: BrandFileError) -> JSON {
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
