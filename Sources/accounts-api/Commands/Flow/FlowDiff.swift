import Accounts
import ArgumentParser
import Foundation

extension FlowCommands {
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compares two flow files; --database also says what the second one does to unfinished sign-ups.",
            discussion: """
                A line begins with "+" for a field that the second file adds, "-" for one that it lacks, and "~" for a \
                field, a rule or an order of the fields that it changes. Texts are not compared, except documents of \
                consents, by the first digits of a SHA-256. With --database, the command also counts the sign-ups that \
                would end as soon as a server starts with the second file. Among the newest 10,000 of the others, it \
                counts those with answers that are no longer valid and those that go back to a step. With --ids, it \
                prints the ids of these sign-ups, the newest 100 for each effect. The command changes nothing.

                EXAMPLES
                  accounts-api flow diff signup.yaml new.yaml
                  accounts-api flow diff signup.yaml new.yaml --database --ids
                """
        )

        @Argument(help: "The flow file of the servers.", completion: .file(extensions: ["yaml", "yml"])) var old: String
        @Argument(help: "The flow file that replaces it.", completion: .file(extensions: ["yaml", "yml"])) var new:
            String
        @Flag(help: "Also counts the unfinished sign-ups in the database.") var database = false
        @Flag(help: "Also prints the ids of the affected sign-ups, the newest 100 for each effect.")
        var ids = false
        @OptionGroup var flags: OperatorFlags

        func validate() throws {
            if ids, !database { throw ValidationError("--ids needs --database") }
        }

        func run() async throws {
            let languages = try SettingSource().read(\.texts)
            let (old, new) = try (Flow(contentsOf: old, among: languages), Flow(contentsOf: new, among: languages))
            let changes = FlowChange.all(from: old, to: new)
            let impact = database ? try await flags.withOperator { try await $0.impact(of: new, after: old) } : nil
            if flags.json {
                print(
                    JSON.object([
                        .init("old", .string(old.id)), .init("new", .string(new.id)),
                        .init("changes", .array(changes.map(\.json))),
                        .init("signups", impact?.json(withIDs: ids) ?? .null),
                    ]).text
                )
                return
            }
            print("\(old.id) → \(new.id)")
            print(
                changes.isEmpty ? "nothing differs, except perhaps texts" : changes.map(\.text).joined(separator: "\n")
            )
            if let impact { print("\n\(impact.text(withIDs: ids))") }
        }
    }
}

/// A difference between two flows: in a field, in a rule of the flow, or in the order of the fields.
struct FlowChange: Equatable {
    /// The name of a rule, such as `draft.idle` or `limits.starts`; the names of a step and a field, such as
    /// `contact.phone`; or `fields` for the order of the fields that both flows have.
    let name: String
    /// The rules in each of the two flows; nil for a field that the flow lacks.
    let old, new: String?

    static func all(from old: Flow, to new: Flow) -> [FlowChange] {
        let order = { (flow: Flow) in flow.fields.map(\.name.rawValue) }
        let shared = Set(order(old)).intersection(order(new))
        let (before, after) = (order(old).filter(shared.contains), order(new).filter(shared.contains))
        let reordering = FlowChange(
            name: "fields",
            old: before.joined(separator: " "),
            new: after.joined(separator: " ")
        )
        return (before != after ? [reordering] : []) + changes(from: rules(of: old), to: rules(of: new))
            + changes(from: fields(of: old), to: fields(of: new))
    }

    private typealias Entries = [(name: String, rules: String)]

    private static func changes(from before: Entries, to after: Entries) -> [FlowChange] {
        let names = before.map(\.name) + after.map(\.name).filter { name in !before.contains { $0.name == name } }
        return names.compactMap { name in
            let change = FlowChange(
                name: name,
                old: before.first { $0.name == name }?.rules,
                new: after.first { $0.name == name }?.rules
            )
            return change.old == change.new ? nil : change
        }
    }

    private static func rules(of flow: Flow) -> Entries {
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: " ") }
        let rules = [
            (name: "draft.idle", rules: flow.expiry.idle.inLargestUnit),
            (name: "draft.absolute", rules: flow.expiry.absolute.inLargestUnit),
            (name: "service", rules: flow.serviceName ?? "none"),
            (name: "languages", rules: list(flow.languages.map(\.tag))),
            (name: "zone", rules: flow.zone.identifier),
            (name: "steps", rules: list(flow.steps.map(\.name.rawValue))),
            (name: "optional", rules: list(flow.steps.filter(\.isOptional).map(\.name.rawValue))),
            (name: "editable", rules: list(flow.editableSteps.map(\.name.rawValue))),
            (name: "sign_in", rules: list(flow.signIn.methods.map(\.rawValue).sorted())),
            (name: "after_commit", rules: flow.signIn.startsSessionAtCommit ? "session" : "none"),
            (name: "limits.revisions", rules: "\(flow.limits.revisions)"),
        ]
        let limits = Limits.Name.allCases.map { name in
            let limit = flow.limits[name]
            return (name: "limits.\(name.rawValue)", rules: "\(limit.count) in \(limit.period.inLargestUnit)")
        }
        return rules + limits
    }

    /// A field may have the name of a rule: the step `draft` and its field `idle`, for example. So fields are compared
    /// only with fields.
    private static func fields(of flow: Flow) -> Entries {
        flow.steps.flatMap { step in
            step.fields.map { field in
                let words = [
                    type(of: field.kind).name, field.isRequired ? "required" : "optional",
                    FlowCommands.rules(of: field, in: flow.languages[0]),
                    FlowCommands.words(of: field.kind.serverRules),
                    field.control.autocomplete.map { "autocomplete \($0)" } ?? "",
                ]
                return (
                    name: "\(step.name).\(field.name)", rules: words.filter { !$0.isEmpty }.joined(separator: ", ")
                )
            }
        }
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
    /// - Parameter withIDs: whether the line of each effect is followed by the ids of its sign-ups.
    fileprivate func text(withIDs: Bool) -> String {
        func list(_ drafts: Affected) -> [String] { withIDs ? drafts.lines : [] }
        var lines = ["\(counted(drafts, "unfinished sign-up")), of which \(ended.count) end at once"] + list(ended)
        for (field, drafts) in refused {
            lines += ["the answer to \(field) no longer holds in \(drafts.count) of \(examined)"] + list(drafts)
        }
        for (step, drafts) in reopened {
            lines += ["\(drafts.count) of \(examined) go back to the step \(step)"] + list(drafts)
        }
        return lines.joined(separator: "\n")
    }

    /// - Parameter withIDs: whether `ids` has the ids of the sign-ups; otherwise it is null.
    fileprivate func json(withIDs: Bool) -> JSON {
        let ids: JSON = [
            "ended": ended.json, "refused": .object(refused.map { .init($0.field, $0.drafts.json) }),
            "reopened": .object(reopened.map { .init($0.step, $0.drafts.json) }),
        ]
        return [
            "drafts": .integer(drafts), "ended": .integer(ended.count), "examined": .integer(examined),
            "refused": .object(refused.map { .init($0.field, .integer($0.drafts.count)) }),
            "reopened": .object(reopened.map { .init($0.step, .integer($0.drafts.count)) }),
            "ids": withIDs ? ids : .null,
        ]
    }
}

extension FlowImpact.Affected {
    /// A line for each id. If there are more sign-ups than ids, the line at the end says how many others there are.
    fileprivate var lines: [String] {
        ids.map { "  \($0)" } + (count > ids.count ? ["  … and \(counted(count - ids.count, "other"))"] : [])
    }

    fileprivate var json: JSON { .array(ids.map { .string("\($0)") }) }
}
