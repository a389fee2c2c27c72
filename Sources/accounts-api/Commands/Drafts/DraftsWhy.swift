import Accounts
import ArgumentParser

extension DraftCommands {
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
                worker.warn(of: draft)
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
                let rows = obstacles.map { obstacle -> [Table.Cell] in
                    [
                        .init(obstacle.step.rawValue), .init(obstacle.field?.rawValue ?? ""),
                        .init(obstacle.reason.text, obstacle.reason.paint),
                    ]
                }
                print(Table(["STEP", "FIELD", "WHY"], rows).text)
            }
        }
    }
}

extension Obstacle.Reason {
    /// What only somebody else can help with stands out.
    fileprivate var paint: Paint {
        switch self {
        case .missing, .notAnswered, .noCode, .codeNotGiven: .plain
        case .refused, .codeExpired, .codeUsedUp: .yellow
        case .exhausted, .taken: .red
        }
    }

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
