import Accounts
import ArgumentParser

extension DraftCommands {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows one draft with masked values.",
            discussion: """
                --reveal shows values unmasked, except secrets, and writes an audit record.

                EXAMPLE
                  accounts-api drafts show 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The draft's id.") var draft: Identity<Draft>
        @Flag(help: "Shows values unmasked; writes an audit record.") var reveal = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let report = try await flags.withOperator(writesAudit: reveal) { worker in
                let draft = try await worker.existing(self.draft.id)
                let worker = worker.following(draft)
                worker.warn(of: draft)
                if reveal { try await worker.note(.revealDraft, of: draft.id) }
                return DraftReport(
                    draft: draft,
                    progress: worker.progress(of: draft),
                    flow: worker.flow,
                    reveals: reveal
                )
            }
            print(flags.json ? report.json.text : report.text)
        }
    }
}

/// Everything that the command shows of one draft.
struct DraftReport {
    let draft: Draft
    let progress: SignupProgress
    let flow: Flow
    let reveals: Bool

    private func value(of field: Field) -> String? {
        field.kind.summary(of: field, in: draft, reveals: reveals)
    }

    var text: String { text(within: Terminal.size?.columns, inColours: Terminal.hasColours) }

    /// - Parameter limit: the maximum width of a line in columns; nil for no limit.
    func text(within limit: Int?, inColours: Bool) -> String {
        var lines = [
            "draft     \(draft.id)", "flow      \(draft.flow)", "language  \(draft.language.tag)",
            "revision  \(draft.revision)", "expires   \(relative(draft.expiresAt, to: draft.now))",
        ]
        if let account = draft.account {
            return (lines + ["account   \(account)\(draft.isAccountErased ? ", deleted" : "")"]).joined(separator: "\n")
        }
        lines.append("next      \(progress.next?.name.rawValue ?? "review")")
        var rows: [[Table.Cell]] = []
        for step in flow.steps {
            for (index, field) in step.fields.enumerated() where field.kind.repeatedField == nil {
                let state = index == 0 ? progress.states[step.name]?.rawValue ?? "" : ""
                rows.append([
                    .init(index == 0 ? step.name.rawValue : ""), .init(state), .init(field.name.rawValue),
                    .init(value(of: field) ?? "–"),
                ])
            }
        }
        return lines.joined(separator: "\n") + "\n\n"
            + Table(["STEP", "STATE", "FIELD", "VALUE"], rows).text(within: limit, inColours: inColours)
    }

    var json: JSON {
        let values = flow.fields.compactMap { field in
            value(of: field).map { JSON.Member(field.name.rawValue, .string($0)) }
        }
        let steps = flow.steps.map { step -> JSON in
            ["name": .string(step.name.rawValue), "state": .string(progress.states[step.name]?.rawValue ?? "")]
        }
        return [
            "id": .string("\(draft.id)"), "flow": .string(draft.flow), "language": .string(draft.language.tag),
            "revision": .integer(draft.revision), "expires_at": .string(draft.expiresAt.timestamp),
            "account": draft.account.map { .string("\($0)") } ?? .null,
            "account_deleted": .bool(draft.isAccountErased),
            "next": draft.account == nil ? .string(progress.next?.name.rawValue ?? "review") : .null,
            "steps": .array(draft.account == nil ? steps : []), "values": .object(values),
        ]
    }
}
