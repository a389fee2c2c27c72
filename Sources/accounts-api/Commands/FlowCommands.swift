import Accounts
import ArgumentParser

struct FlowCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Checks and shows what a sign-up asks.",
        subcommands: [Check.self, Show.self]
    )

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reads a flow file as the server would; exits with 1 where it refuses it.",
            discussion: """
                EXAMPLE
                  accounts-api flow check signup.yaml
                """
        )

        @Argument(help: "The flow file.", completion: .file(extensions: ["yaml", "yml"])) var file: String
        @Flag(help: "Answers in JSON.") var json = false

        func run() async throws {
            do throws(FlowFileError) {
                let flow = try Flow(contentsOf: file)
                let counts = "\(flow.steps.count) steps, \(flow.fields.count) fields"
                print(json ? Self.verdict(on: flow).text : "\(file): \(flow.id) is good: \(counts)")
            } catch {
                guard json else { throw error }
                print(Self.verdict(on: error).text)
                throw ExitCode(1)
            }
        }

        private static func verdict(on flow: Flow) -> JSON { ["valid": true, "flow": .string(flow.id)] }

        private static func verdict(on error: FlowFileError) -> JSON {
            [
                "valid": false, "file": .string(error.file), "line": error.line.map(JSON.integer) ?? .null,
                "reason": .string(error.reason),
            ]
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the steps and fields of the flow as a table.",
            discussion: """
                Without FLOW_FILE it is the flow that ships with the service.

                EXAMPLE
                  accounts-api flow show --flow-file signup.yaml
                """
        )

        @Option(help: .of(.flowFile), completion: .file(extensions: ["yaml", "yml"])) var flowFile: String?
        @Option(help: "The language of the texts; the first of the flow where it is left out.")
        var language: String?
        @Flag(help: "Answers in JSON.") var json = false

        func run() async throws {
            let path = try SettingSource([.flowFile: flowFile]).text(.flowFile)
            let flow = try path.map { try Flow(contentsOf: $0) } ?? .standard()
            let language = try language.map { try spoken($0, in: flow) } ?? flow.languages[0]
            let description = FlowDescription(
                flow: flow,
                serviceName: flow.serviceName ?? "Accounts",
                language: language
            )
            print(json ? description.json.text : table(of: flow, in: language))
        }

        private func spoken(_ word: String, in flow: Flow) throws -> Language {
            guard let language = flow.languages.first(where: { $0.rawValue == word }) else {
                let known = flow.languages.map(\.rawValue).joined(separator: " or ")
                throw ValidationError("the language of this flow is \(known)")
            }
            return language
        }

        private func table(of flow: Flow, in language: Language) -> String {
            var rows = [["STEP", "FIELD", "LABEL", "KIND", "REQUIRED", "RULES"]]
            for step in flow.steps {
                for (index, field) in step.fields.enumerated() {
                    let name = index == 0 ? "\(step.name)\(step.isOptional ? " (optional)" : "")" : ""
                    rows.append([
                        name, field.name.rawValue, field.labels[language] ?? "", type(of: field.kind).name,
                        field.isRequired ? "yes" : "no", rules(of: field, in: language),
                    ])
                }
            }
            return "\(flow.id)\n\n\(Table(rows).text)"
        }

        private func rules(of field: Field, in language: Language) -> String {
            let told = field.kind.rules(in: language).filter { !["document", "sha256"].contains($0.name) }
            let words = told.map { "\($0.name) \($0.value.brief)" }
            return (field.isIdentifier ? ["identifier"] + words : words).joined(separator: ", ")
        }
    }
}

extension JSON {
    /// A rule in a few words.
    fileprivate var brief: String {
        switch self {
        case .string(let text): text
        case .array(let items): items.map { $0["value"]?.brief ?? $0.brief }.joined(separator: "|")
        default: text
        }
    }
}
