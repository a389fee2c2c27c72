import Accounts
import ArgumentParser

extension FlowCommands {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the steps and fields of the flow as a table.",
            discussion: """
                Without FLOW_FILE it shows the built-in flow.

                EXAMPLES
                  accounts-api flow show --flow-file signup.yaml
                  accounts-api flow show --yaml > signup.yaml
                """
        )

        @Option(\.flow) var flowFile: String?
        @Option(help: "The language of the texts; the default is the first language of the flow.")
        var language: String?
        @Flag(help: "Prints JSON.") var json = false
        @Flag(help: "Prints the file of the built-in flow, a beginning for your own. Ignores FLOW_FILE.")
        var yaml = false

        func validate() throws {
            if yaml, json || flowFile != nil || language != nil { throw ValidationError("pass --yaml alone") }
        }

        func run() async throws {
            let source = SettingSource([\.flow: flowFile])
            if yaml { return print(Flow.standardYAML(among: try source.read(\.texts)), terminator: "") }
            let flow = try source.read(\.flow)
            let language = try language.map { try supportedLanguage(named: $0, in: flow) } ?? flow.languages[0]
            let description = FlowDescription(
                flow: flow,
                serviceName: flow.serviceName ?? "Accounts",
                language: language
            )
            print(json ? description.json.text : table(of: flow, in: language))
        }

        private func supportedLanguage(named tag: String, in flow: Flow) throws -> Language {
            guard let language = flow.languages[tag] else {
                let known = flow.languages.map(\.tag).joined(separator: " or ")
                throw ValidationError("unknown language \"\(tag.printable)\": pass \(known)")
            }
            return language
        }

        private func table(of flow: Flow, in language: Language) -> String {
            var rows: [[Table.Cell]] = []
            for step in flow.steps {
                for (index, field) in step.fields.enumerated() {
                    let name = index == 0 ? "\(step.name)\(step.isOptional ? " (optional)" : "")" : ""
                    rows.append([
                        .init(name), .init(field.name.rawValue), .init(field.labels[language] ?? ""),
                        .init(type(of: field.kind).name), .init(field.isRequired ? "yes" : "no"),
                        .init(FlowCommands.rules(of: field, in: language)),
                    ])
                }
            }
            return "\(flow.id)\n\n" + Table(["STEP", "FIELD", "LABEL", "KIND", "REQUIRED", "RULES"], rows).text
        }
    }

    /// The rules of a field in one line, such as `identifier, max 254`.
    static func rules(of field: Field, in language: Language) -> String {
        let rules = field.kind.rules(in: language).filter { !["document", "sha256"].contains($0.name) }
        let words = [field.isIdentifier ? "identifier" : "", words(of: rules)]
        return words.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    static func words(of rules: [JSON.Member]) -> String {
        rules.map { "\($0.name) \($0.value.brief)" }.joined(separator: ", ")
    }
}

extension JSON {
    /// The value of a rule as short text.
    fileprivate var brief: String {
        switch self {
        case .string(let text): text
        case .array(let items): items.map { $0["value"]?.brief ?? $0.brief }.joined(separator: "|")
        default: text
        }
    }
}
