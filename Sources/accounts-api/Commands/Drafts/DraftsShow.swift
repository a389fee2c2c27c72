import Accounts
import ArgumentParser

extension DraftCommands {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows one draft with masked values, and what has happened to it.",
            discussion: """
                --reveal shows values unmasked, except secrets, and writes an audit record. A search for an address \
                or a username writes audit records, too. Without ACCOUNTS_KEYS, "sealed" stands in place of the \
                values, --reveal is refused, and only an id finds the draft.

                EXAMPLE
                  accounts-api drafts show 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: DraftReference.help) var draft: DraftReference
        @Flag(help: "Shows values unmasked; writes an audit record.") var reveal = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let writesAudit = reveal || draft.isSearch
            let report = try await flags.withOperator(writesAudit: writesAudit, showsSealed: !reveal) { admin in
                let draft = try await admin.existing(self.draft.find(by: admin))
                let admin = admin.following(draft)
                admin.warn(of: draft, asJSON: flags.json)
                if reveal { try await admin.note(.revealDraft, of: draft.id) }
                guard let history = try await admin.history(of: draft) else {
                    throw NotFound(description: "draft \(draft.id) has ended")
                }
                return DraftReport(
                    draft: draft,
                    history: history,
                    progress: draft.isSealed ? nil : admin.progress(of: draft),
                    flow: admin.flow,
                    reveals: reveal
                )
            }
            print(flags.json ? report.json.text : report.text)
        }
    }
}

/// What `drafts show` shows of one draft. The board adds the reasons of `drafts why`.
struct DraftReport {
    let draft: Draft
    /// Nil if the draft has ended since it was read.
    let history: DraftHistory?
    /// Nil if the values are encrypted and the command has no key to decrypt them.
    let progress: SignupProgress?
    let flow: Flow
    let reveals: Bool

    private func value(of field: Field) -> String? {
        field.kind.summary(of: field, in: draft, reveals: reveals)
    }

    /// The first step that is neither complete nor skipped, or `review`. If ``progress`` is nil, it is the next step at
    /// the time of the latest change.
    private var next: String { progress.map { $0.next?.name.rawValue ?? "review" } ?? draft.step }

    var text: String { text(within: Terminal.size?.columns, inColours: Terminal.hasColours) }

    /// - Parameter limit: the maximum width of a line in columns; nil for no limit.
    func text(within limit: Int?, inColours: Bool) -> String {
        var lines = [
            "draft     \(draft.id)", "flow      \(draft.flow)", "language  \(draft.language.tag)",
            "revision  \(draft.revision)", "expires   \(relative(draft.expiresAt, to: draft.now))",
        ]
        if let account = draft.account {
            lines.append("account   \(account)\(draft.isAccountErased ? ", deleted" : "")")
            return lines.joined(separator: "\n") + timeline(within: limit, inColours: inColours)
        }
        lines.append("next      \(next)")
        guard let progress else {
            lines.append("values    sealed")
            return lines.joined(separator: "\n") + timeline(within: limit, inColours: inColours)
        }
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
            + timeline(within: limit, inColours: inColours)
    }

    /// An empty line, and a table of the events of the draft in the order of time: its start and latest change, the
    /// sending of its codes, their entry or else their expiry, and its mails with their outcomes. Empty if there is no
    /// history.
    private func timeline(within limit: Int?, inColours: Bool) -> String {
        guard let history else { return "" }
        var events = [(history.createdAt, "started"), (history.updatedAt, "last change")]
        for code in history.codes {
            let guesses = "\(code.wrongGuesses) of \(code.maximum) guesses wrong"
            events.append((code.sentAt, "\(code.field): new code, \(guesses)"))
            if let provedAt = code.provedAt {
                events.append((provedAt, "\(code.field): entered"))
            } else {
                let isExpired = code.expiresAt <= draft.now
                events.append((code.expiresAt, "\(code.field): code \(isExpired ? "expired" : "expires")"))
            }
        }
        for mail in history.mails {
            events.append((mail.createdAt, "mail \(mail.id), \(mail.template): \(mail.outcome)"))
        }
        let sorted = events.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
        let rows = sorted.map { event -> [Table.Cell] in
            [.init(relative(event.element.0, to: draft.now)), .init(event.element.1)]
        }
        return "\n\n" + Table(["TIME", "EVENT"], rows).text(within: limit, inColours: inColours)
    }

    var json: JSON {
        let values = flow.fields.compactMap { field in
            value(of: field).map { JSON.Member(field.name.rawValue, .string($0)) }
        }
        var steps: [JSON] = []
        if let progress, draft.account == nil {
            steps = flow.steps.map { step -> JSON in
                ["name": .string(step.name.rawValue), "state": .string(progress.states[step.name]?.rawValue ?? "")]
            }
        }
        return [
            "id": .string("\(draft.id)"), "flow": .string(draft.flow), "language": .string(draft.language.tag),
            "revision": .integer(draft.revision), "expires_at": .string(draft.expiresAt.timestamp),
            "account": draft.account.map { .string("\($0)") } ?? .null,
            "account_deleted": .bool(draft.isAccountErased),
            "next": draft.account == nil ? .string(next) : .null,
            "steps": .array(steps), "values": draft.isSealed ? .null : .object(values),
            "created_at": history.map { .string($0.createdAt.timestamp) } ?? .null,
            "updated_at": history.map { .string($0.updatedAt.timestamp) } ?? .null,
            "codes": .array(history?.codes.map(\.json) ?? []), "mails": .array(history?.mails.map(\.json) ?? []),
        ]
    }
}

extension SentCode {
    fileprivate var json: JSON {
        [
            "field": .string(field.rawValue), "state": .string(state.rawValue), "sent_at": .string(sentAt.timestamp),
            "expires_at": .string(expiresAt.timestamp), "entered_at": provedAt.map { .string($0.timestamp) } ?? .null,
            "wrong_guesses": .integer(wrongGuesses), "maximum": .integer(maximum),
        ]
    }
}

extension OutboxRow {
    /// The outcome of the mail so far, with the latest reply of the mail server, or with the error that prevented a
    /// reply.
    fileprivate var outcome: String {
        switch state {
        case .delivered: "delivered \(relative(finishedAt ?? now, to: now))" + (reply.map { ", \($0)" } ?? "")
        case .dead: failure.map { "given up, \($0.text)" } ?? "given up"
        case .waiting:
            failure.map { failure in
                "postponed, next attempt \(dueAt > now ? relative(dueAt, to: now) : "now"), \(failure.text)"
            } ?? "waits to be sent"
        }
    }
}
