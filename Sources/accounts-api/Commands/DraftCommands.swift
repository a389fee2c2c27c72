import Accounts
import ArgumentParser
import Foundation

struct DraftCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drafts",
        abstract: "Shows, ends and extends unfinished sign-ups.",
        subcommands: [List.self, Show.self, Why.self, Expire.self, Purge.self, Extend.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One line a draft, newest first, masked.",
            discussion: """
                EXAMPLES
                  accounts-api drafts list --state open --older-than 2h
                  accounts-api drafts list --email kim@example.com --json
                """
        )

        @Option(help: "Only these: \(DraftState.allCases.map(\.rawValue).joined(separator: ", ")).")
        var state: DraftState?
        @Option(help: "Only those that stand at this step, or at review.") var step: String?
        @Option(help: "Only those begun longer ago, such as 2h.") var olderThan: Period?
        @Option(help: "Only those for this address.") var email: String?
        @Option(help: "How many at most.") var limit = 50
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let filter = try DraftFilter(state: state, step: step, olderThan: olderThan, email: email)
            guard (1...10_000).contains(limit) else { throw ValidationError("--limit is from 1 to 10000") }
            let drafts = try await flags.withOperator { try await $0.drafts(filter, limit: limit) }
            print(flags.json ? JSON.array(drafts.map(\.json)).text : Self.table(of: drafts))
        }

        private static func table(of drafts: [DraftSummary]) -> String {
            if drafts.isEmpty { return "no drafts" }
            let rows = drafts.map { draft in
                [
                    "\(draft.id)", draft.state.rawValue, draft.step, draft.address ?? "", "\(draft.failures)",
                    relative(draft.createdAt, to: draft.now), relative(draft.updatedAt, to: draft.now),
                    relative(draft.expiresAt, to: draft.now),
                ]
            }
            return Table([["ID", "STATE", "STEP", "ADDRESS", "WRONG", "BEGUN", "TOUCHED", "ENDS"]] + rows).text
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Everything about one draft, masked.",
            discussion: """
                --reveal shows what was typed, but no secrets, and leaves a row in the audit.

                EXAMPLE
                  accounts-api drafts show 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The draft's id.") var draft: Identity<Draft>
        @Flag(help: "Shows the values, and says so in the audit.") var reveal = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let report = try await flags.withOperator(leavesTrace: reveal) { worker in
                let draft = try await worker.existing(self.draft.id)
                if reveal { try await worker.note(.revealDraft, of: draft.id) }
                return DraftReport(
                    draft: draft,
                    standing: worker.standing(of: draft),
                    flow: worker.flow,
                    reveals: reveal
                )
            }
            print(flags.json ? report.json.text : report.text)
        }
    }

    struct Why: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "What keeps a draft from becoming an account.",
            discussion: """
                EXAMPLE
                  accounts-api drafts why 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The draft's id.") var draft: Identity<Draft>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let (isCommitted, obstacles) = try await flags.withOperator { worker in
                let draft = try await worker.existing(self.draft.id)
                return (draft.account != nil, draft.account == nil ? try await worker.obstacles(of: draft) : [])
            }
            if flags.json {
                let reasons = obstacles.map { obstacle -> JSON in
                    [
                        "step": .string(obstacle.step.rawValue),
                        "field": obstacle.field.map { .string($0.rawValue) } ?? .null,
                        "reason": .string(obstacle.reason.word), "message": .string(obstacle.reason.text),
                    ]
                }
                print(JSON.object([.init("committed", .bool(isCommitted)), .init("obstacles", .array(reasons))]).text)
            } else if isCommitted {
                print("nothing: it is an account already")
            } else if obstacles.isEmpty {
                print("nothing: a commit would be accepted now")
            } else {
                let rows = obstacles.map { [$0.step.rawValue, $0.field?.rawValue ?? "", $0.reason.text] }
                print(Table([["STEP", "FIELD", "WHY"]] + rows).text)
            }
        }
    }

    struct Expire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends one draft at once; its holder hears that it has expired.",
            discussion: """
                EXAMPLE
                  accounts-api drafts expire 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The draft's id.") var draft: Identity<Draft>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard try await flags.withOperator(leavesTrace: true, { try await $0.expire(draft.id) }) else {
                throw NotFound(description: "there is no open draft \(draft.id)")
            }
            print(flags.json ? JSON.object([.init("expired", .string("\(draft.id)"))]).text : "\(draft.id) is gone")
        }
    }

    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends all open drafts that are meant.",
            discussion: """
                EXAMPLES
                  accounts-api drafts purge --email kim@example.com --dry-run
                  accounts-api drafts purge --older-than 3d
                """
        )

        @Option(help: "Those begun longer ago, such as 2h.") var olderThan: Period?
        @Option(help: "Those for this address.") var email: String?
        @Flag(help: "Only says how many they are.") var dryRun = false
        @OptionGroup var flags: OperatorFlags

        func validate() throws {
            if olderThan == nil, email == nil { throw ValidationError("say which: --older-than or --email") }
        }

        func run() async throws {
            let filter = try DraftFilter(olderThan: olderThan, email: email)
            let count = try await flags.withOperator(leavesTrace: !dryRun) { worker in
                dryRun ? try await worker.count(filter) : try await worker.purge(filter)
            }
            if flags.json {
                print(JSON.object([.init("drafts", .integer(count)), .init("dry_run", .bool(dryRun))]).text)
            } else {
                print(dryRun ? "open drafts that would be gone: \(count)" : "drafts that are gone: \(count)")
            }
        }
    }

    struct Extend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Gives a draft its whole time anew.",
            discussion: """
                It ends as if it had begun now. One that has expired does not come back.

                EXAMPLE
                  accounts-api drafts extend 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The draft's id.") var draft: Identity<Draft>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard let end = try await flags.withOperator(leavesTrace: true, { try await $0.extend(draft.id) }) else {
                throw NotFound(description: "there is no open draft \(draft.id)")
            }
            if flags.json {
                print(
                    JSON.object([
                        .init("id", .string("\(draft.id)")), .init("expires_at", .string(end.expiresAt.timestamp)),
                    ]).text
                )
            } else {
                print("\(draft.id) ends \(relative(end.expiresAt, to: end.now))")
            }
        }
    }
}

extension DraftState: ExpressibleByArgument {}

extension DraftFilter {
    /// An address is looked for in its canonical form.
    fileprivate init(state: DraftState? = nil, step: String? = nil, olderThan: Period?, email: String?) throws {
        self.init(state: state, step: step, olderThan: olderThan?.duration, email: try email.map(canonicalAddress))
    }
}

/// The form in which an address is stored.
func canonicalAddress(_ text: String) throws -> String {
    guard let address = EmailAddress(text) else { throw ValidationError("\(text.printable) is no address") }
    return address.rawValue
}

extension Operator {
    /// The draft of that id, or a word on why there is none.
    fileprivate func existing(_ id: ID<Draft>) async throws -> Draft {
        do throws(FindError) {
            if let draft = try await draft(id) {
                if draft.account == nil, draft.flow != flow.id {
                    complain("the draft was judged by the flow \(draft.flow), and is by \(flow.id) here: see FLOW_FILE")
                }
                return draft
            }
        } catch {
            switch error {
            case .database(let error): throw error
            case .unreadable:
                throw NotFound(description: "draft \(id) is sealed with a key that is not in ACCOUNTS_KEYS")
            case .ended, .unknown: throw NotFound(description: "draft \(id) has ended")
            }
        }
        throw NotFound(description: "there is no draft \(id)")
    }
}

extension DraftSummary {
    fileprivate var json: JSON {
        [
            "id": .string("\(id)"), "state": .string(state.rawValue), "step": .string(step),
            "email": address.map(JSON.string) ?? .null, "revision": .integer(revision), "failures": .integer(failures),
            "created_at": .string(createdAt.timestamp), "updated_at": .string(updatedAt.timestamp),
            "expires_at": .string(expiresAt.timestamp),
        ]
    }
}

/// All that is told of one draft.
private struct DraftReport {
    let draft: Draft
    let standing: Standing
    let flow: Flow
    let reveals: Bool

    private func value(of field: Field) -> String? {
        if field.kind is CodeField { return draft.proofs[field.name].map { $0.isProved ? "proved" : "sent" } }
        return draft.values[field.name].map { reveals ? field.revealed($0) : field.masked($0) }
    }

    var text: String {
        var lines = [
            "draft     \(draft.id)", "flow      \(draft.flow)", "language  \(draft.language.rawValue)",
            "revision  \(draft.revision)", "ends      \(relative(draft.expiresAt, to: draft.now))",
        ]
        if let account = draft.account { return (lines + ["account   \(account)"]).joined(separator: "\n") }
        lines.append("next      \(standing.next?.name.rawValue ?? "review")")
        var rows = [["STEP", "STATE", "FIELD", "VALUE"]]
        for step in flow.steps {
            for (index, field) in step.fields.enumerated() where !(field.kind is ConfirmationField) {
                let state = index == 0 ? standing.states[step.name]?.rawValue ?? "" : ""
                rows.append([index == 0 ? step.name.rawValue : "", state, field.name.rawValue, value(of: field) ?? "–"])
            }
        }
        return lines.joined(separator: "\n") + "\n\n" + Table(rows).text
    }

    var json: JSON {
        let values = flow.fields.compactMap { field in
            value(of: field).map { JSON.Member(field.name.rawValue, .string($0)) }
        }
        let steps = flow.steps.map { step -> JSON in
            ["name": .string(step.name.rawValue), "state": .string(standing.states[step.name]?.rawValue ?? "")]
        }
        return [
            "id": .string("\(draft.id)"), "flow": .string(draft.flow), "language": .string(draft.language.rawValue),
            "revision": .integer(draft.revision), "expires_at": .string(draft.expiresAt.timestamp),
            "account": draft.account.map { .string("\($0)") } ?? .null,
            "next": draft.account == nil ? .string(standing.next?.name.rawValue ?? "review") : .null,
            "steps": .array(draft.account == nil ? steps : []), "values": .object(values),
        ]
    }
}

extension Obstacle.Reason {
    fileprivate var word: String {
        switch self {
        case .missing: "missing"
        case .notAnswered: "not_answered"
        case .refused: "refused"
        case .noCode: "no_code"
        case .codeNotGiven: "code_not_given"
        case .codeExpired: "code_expired"
        case .codeUsedUp: "code_used_up"
        case .exhausted: "exhausted"
        case .taken: "taken"
        }
    }

    fileprivate var text: String {
        switch self {
        case .missing: "not given yet"
        case .notAnswered: "not answered yet"
        case .refused(let refusals):
            refusals.isEmpty
                ? "does not hold under the flow as it is now"
                : refusals.map { Language.ofTerminal.messages.message(for: $0) }.joined(separator: " ")
        case .noCode: "no code was sent"
        case .codeNotGiven: "a code is on its way"
        case .codeExpired: "the code has expired; another has to be asked for"
        case .codeUsedUp: "every attempt on the code was wrong; another has to be asked for"
        case .exhausted: "too many wrong codes; the sign-up has to begin again"
        case .taken: "an account has it already"
        }
    }
}
