import Accounts
import ArgumentParser

extension FlowCommands {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Validates a flow file as the server does; exits with 1 if it is invalid.",
            discussion: """
                Lists the texts that a language of TEXTS_FILE lacks.

                EXAMPLE
                  accounts-api flow check signup.yaml
                """
        )

        @Argument(help: "The flow file.", completion: .file(extensions: ["yaml", "yml"])) var file: String
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let languages = try SettingSource().read(\.texts)
            do throws(FlowFileError) {
                let flow = try Flow(contentsOf: file, among: languages)
                let counts = "\(counted(flow.steps.count, "step")), \(counted(flow.fields.count, "field"))"
                if !json { for gap in flow.gaps { printError("\(gap)") } }
                print(json ? Self.verdict(on: flow).text : "\(file): \(flow.id) is valid: \(counts)")
            } catch {
                guard json else { throw error }
                print(Self.verdict(on: error).text)
                throw ExitCode(1)
            }
        }

        private static func verdict(on flow: Flow) -> JSON {
            ["valid": true, "flow": .string(flow.id), "warnings": .array(flow.gaps.map { .object(finding($0)) })]
        }

        private static func verdict(on error: FlowFileError) -> JSON {
            .object([.init("valid", false)] + finding(error))
        }

        private static func finding(_ error: FlowFileError) -> [JSON.Member] {
            [
                .init("file", .string(error.file)), .init("line", error.line.map(JSON.integer) ?? .null),
                .init("reason", .string(error.reason)),
            ]
        }
    }
}
