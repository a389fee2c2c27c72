import Accounts
import ArgumentParser

extension DraftCommands {
    struct Why: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists what a draft still needs before it can be committed.",
            discussion: """
                A search by an address or a username writes audit records. Without ACCOUNTS_KEYS, the command knows \
                only the current step and the state of its codes, and finds a draft only by its id or the first \
                digits of the id.

                EXAMPLE
                  accounts-api drafts why 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: DraftReference.help) var draft: DraftReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let (draft, obstacles) = try await flags.withOperator(
                writesAudit: draft.isSearch,
                showsSealed: true
            ) { admin in
                let draft = try await admin.existing(self.draft.find(by: admin))
                let admin = admin.following(draft)
                admin.warn(of: draft, asJSON: flags.json)
                return (draft, draft.account == nil ? try await admin.obstacles(of: draft) : [])
            }
            let isCommitted = draft.account != nil
            if flags.json {
                let reasons = obstacles.map { obstacle -> JSON in
                    [
                        "step": .string(obstacle.step.rawValue),
                        "field": obstacle.field.map { .string($0.rawValue) } ?? .null,
                        "reason": .string(obstacle.reason.word), "message": .string(obstacle.reason.text),
                    ]
                }
                print(JSON.object([.init("committed", .bool(isCommitted)), .init("obstacles", .array(reasons))]).text)
            } else {
                print(draft.text(of: obstacles, within: Terminal.size?.columns, inColours: Terminal.hasColours))
            }
        }
    }
}

extension Draft {
    /// Returns a table of what the draft still needs, or a sentence if it needs nothing.
    ///
    /// - Parameter limit: the maximum width of a line in columns; nil for no limit.
    func text(of obstacles: [Obstacle], within limit: Int?, inColours: Bool) -> String {
        if isAccountErased { return "nothing is missing: the draft is committed, and its account was deleted" }
        if account != nil { return "nothing is missing: the draft is committed" }
        if obstacles.isEmpty { return "nothing is missing: only the commit is left" }
        let rows = obstacles.map { obstacle -> [Table.Cell] in
            [
                .init(obstacle.step.rawValue), .init(obstacle.field?.rawValue ?? ""),
                .init(obstacle.reason.text, obstacle.reason.paint),
            ]
        }
        return Table(["STEP", "FIELD", "REASON"], rows).text(within: limit, inColours: inColours)
    }
}

extension Obstacle.Reason {
    /// The colour of the reason: red if an account uses or reserves the value, or if only a new draft helps; yellow
    /// if the person must correct an answer or request a new code, or if the mail with the code was postponed.
    fileprivate var paint: Paint {
        switch self {
        case .missing, .notAnswered, .noCode, .codeNotGiven, .codeWaiting, .sealed: .plain
        case .refused, .codePostponed, .codeRefused, .codeExpired, .codeUsedUp: .yellow
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
        case .codeWaiting: "code_waiting"
        case .codePostponed: "code_postponed"
        case .codeRefused: "code_refused"
        case .codeExpired: "code_expired"
        case .codeUsedUp: "code_used_up"
        case .exhausted: "exhausted"
        case .taken: "taken"
        case .sealed: "sealed"
        }
    }

    fileprivate var text: String {
        switch self {
        case .missing: "missing"
        case .notAnswered: "step not submitted yet"
        case .refused(let refusals):
            refusals.isEmpty
                ? "not valid under the current flow"
                : refusals.map { $0.message(in: .english) }.joined(separator: " ")
        case .noCode: "no code was sent"
        case .codeNotGiven: "code sent, not entered yet"
        case .codeWaiting(let isExpired):
            isExpired
                ? "the code has expired, and its mail still waits to be sent"
                : "the mail with the code waits to be sent"
        case .codePostponed(let failure, let isReply, let isExpired, let nextAttempt, let now):
            Self.postponement(isReply: isReply, isExpired: isExpired) + ": " + failure.printable
                + ", next attempt \(nextAttempt > now ? relative(nextAttempt, to: now) : "now")"
        case .codeRefused(let failure, let isReply):
            (isReply ? "the mail server has refused the code" : "the code was not sent")
                + ", so the person must request a new one: " + failure.printable
        case .codeExpired: "the code has expired: the person must request a new one"
        case .codeUsedUp: "too many wrong attempts with this code: the person must request a new one"
        case .exhausted: "too many wrong codes: the person must start again"
        case .taken: "used by an account, or reserved for one"
        case .sealed: "sealed: what else is missing can only be seen with the keys"
        }
    }

    private static func postponement(isReply: Bool, isExpired: Bool) -> String {
        switch (isReply, isExpired) {
        case (true, false): "the mail server has postponed the code"
        case (false, false): "the code could not be sent yet"
        case (true, true): "the code has expired, and the mail server has postponed its mail"
        case (false, true): "the code has expired, and its mail could not be sent yet"
        }
    }
}
