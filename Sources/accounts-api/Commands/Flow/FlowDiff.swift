import Accounts
import ArgumentParser
import Foundation

extension FlowCommands {
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compares two flow files, and says what the second one does to the unfinished sign-ups.",
            discussion: """
                A line begins with + for a field or a rule that the second file adds, - for one that it lacks, and ~ for \
                one that it changes. Texts are not compared. With --database, the command also counts the sign-ups that would end as soon as a server \
                starts with the second file, and, among the newest 10,000, those with answers that no longer hold and \
                those that go back to a step. It changes nothing.

                EXAMPLES
                  accounts-api flow diff signup.yaml new.yaml
                  accounts-api flow diff signup.yaml new.yaml --database
                """
        )

        @Argument(help: "The flow file of the servers.", completion: .file(extensions: ["yaml", "yml"])) var old: String
        @Argument(help: "The flow file that replaces it.", completion: .file(extensions: ["yaml", "yml"])) var new:
            String
        @Flag(help: "Also counts the unfinished sign-ups in the database.") var database = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let languages = try SettingSource().read(\.texts)
            let (old, new) = try (Flow(contentsOf: old, among: languages), Flow(contentsOf: new, among: languages))
            let changes = FlowChange.all(from: old, to: new)
            let impact = database ? try await flags.withOperator { try await $0.impact(of: new, after: old) } : nil
            if flags.json {
                print(
                    JSON.object([
                        .init("old", .string(old.id)), .init("new", .string(new.id)),
                        .init("changes", .array(changes.map(\.json))), .init("signups", impact?.json ?? .null),
                    ]).text
                )
                return
            }
            print("\(old.id) → \(new.id)")
            print(
                changes.isEmpty ? "nothing differs, except perhaps texts" : changes.map(\.text).joined(separator: "\n")
            )
            if let impact { print("\n\(impact.text)") }
        }
    }
}

/// A difference between two flows: a field with its rules, or a rule of the flow.
struct FlowChange: Equatable {
    /// Such as `draft.idle` or `limits.starts`, or the step and the field, as in `contact.phone`.
    let name: String
    /// The rules in each of the two flows; nil if the flow lacks the field.
    let old, new: String?

    static func all(from old: Flow, to new: Flow) -> [FlowChange] {
        let (before, after) = (entries(of: old), entries(of: new))
        let names = before.map(\.name) + after.map(\.name).filter { name in !before.contains { $0.name == name } }
        let order = { (flow: Flow) in flow.fields.map(\.name.rawValue) }
        let isReordered = order(old) != order(new) && order(old).sorted() == order(new).sorted()
        let reordering = FlowChange(
            name: "fields",
            old: order(old).joined(separator: " "),
            new: order(new).joined(separator: " ")
        )
        return (isReordered ? [reordering] : [])
            + names.compactMap { name in
                let change = FlowChange(
                    name: name,
                    old: before.first { $0.name == name }?.rules,
                    new: after.first { $0.name == name }?.rules
                )
                return change.old == change.new ? nil : change
            }
    }

    private static func entries(of flow: Flow) -> [(name: String, rules: String)] {
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: " ") }
        let rules = [
            (name: "draft.idle", rules: span(of: flow.expiry.idle.seconds)),
            (name: "draft.absolute", rules: span(of: flow.expiry.absolute.seconds)),
            (name: "service", rules: flow.serviceName ?? "none"),
            (name: "languages", rules: list(flow.languages.map(\.tag))),
            (name: "zone", rules: flow.zone.identifier),
            (name: "steps", rules: list(flow.steps.map(\.name.rawValue))),
            (name: "editable", rules: list(flow.editableSteps.map(\.name.rawValue))),
            (name: "sign_in", rules: list(flow.signIn.methods.map(\.rawValue).sorted())),
            (name: "after_commit", rules: flow.signIn.startsSessionAtCommit ? "session" : "none"),
            (name: "limits.revisions", rules: "\(flow.limits.revisions)"),
        ]
        let limits = Limits.Name.allCases.map { name in
            let limit = flow.limits[name]
            return (name: "limits.\(name.rawValue)", rules: "\(limit.count) in \(span(of: limit.period.seconds))")
        }
        let fields = flow.steps.flatMap { step in
            step.fields.map { field in
                let words = [
                    type(of: field.kind).name, field.isRequired && !step.isOptional ? "required" : "optional",
                    FlowCommands.rules(of: field, in: flow.languages[0]),
                    FlowCommands.words(of: field.kind.serverRules),
                    field.control.autocomplete.map { "autocomplete \($0)" } ?? "",
                ]
                return (
                    name: "\(step.name).\(field.name)", rules: words.filter { !$0.isEmpty }.joined(separator: ", ")
                )
            }
        }
        return rules + limits + fields
    }

    var text: String {
        switch (old, new) {
        case (let old?, let new?): "~ \(name): \(old) → \(new)"
        case (let old?, nil): "- \(name): \(old)"
        case (nil, let new): "+ \(name): \(new ?? "")"
        }
    }

    var json: JSON {
        [
            "name": .string(name), "old": old.map(JSON.string) ?? .null, "new": new.map(JSON.string) ?? .null,
        ]
    }
}

extension FlowImpact {
    fileprivate var text: String {
        let lines =
            ["\(counted(drafts, "unfinished sign-up")), of which \(ended) end at once"]
            + refused.map { "the answer to \($0.field) no longer holds in \($0.drafts) of \(examined)" }
            + reopened.map { "\($0.drafts) of \(examined) go back to the step \($0.step)" }
        return lines.joined(separator: "\n")
    }

    fileprivate var json: JSON {
        [
            "drafts": .integer(drafts), "ended": .integer(ended), "examined": .integer(examined),
            "refused": .object(refused.map { .init($0.field, .integer($0.drafts)) }),
            "reopened": .object(reopened.map { .init($0.step, .integer($0.drafts)) }),
        ]
    }
}
