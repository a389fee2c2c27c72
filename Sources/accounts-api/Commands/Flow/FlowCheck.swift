import Accounts
import ArgumentParser
import Foundation

extension FlowCommands {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Validates a flow file as the server does; exits with 1 if it is invalid.",
            discussion: """
                Lists all mistakes together, and the texts of the flow that a language of TEXTS_FILE lacks.

                EXAMPLES
                  accounts-api flow check signup.yaml
                  accounts-api flow check - <signup.yaml
                """
        )

        @Argument(help: "The flow file, or \"-\" for standard input.", completion: .file(extensions: ["yaml", "yml"]))
        var file: String
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let languages = try SettingSource().read(\.texts)
            do throws(YAMLFileError) {
                let flow =
                    file == "-"
                    ? try Flow(Self.standardInput, file: "standard input", among: languages)
                    : try Flow(contentsOf: file, among: languages)
                let counts = "\(counted(flow.steps.count, "step")), \(counted(flow.fields.count, "field"))"
                if !json { for gap in flow.gaps { printError("\(gap)") } }
                let name = file == "-" ? "standard input" : file
                print(json ? Self.verdict(on: flow).text : "\(name): \(flow.id) is valid: \(counts)")
            } catch {
                guard json else { throw error }
                print(Self.verdict(on: error).text)
                throw ExitCode(1)
            }
        }

        private static var standardInput: [UInt8] {
            Array((try? FileHandle.standardInput.readToEnd()) ?? Data())
        }

        private static func verdict(on flow: Flow) -> JSON {
            ["valid": true, "flow": .string(flow.id), "warnings": .array(flow.gaps.map(finding))]
        }

        private static func verdict(on error: YAMLFileError) -> JSON {
            ["valid": false, "mistakes": .array(error.all.map(finding))]
        }

        private static func finding(_ error: YAMLFileError) -> JSON {
            [
                "file": .string(error.file), "line": error.line.map(JSON.integer) ?? .null,
                "reason": .string(error.reason),
            ]
        }
    }
}
