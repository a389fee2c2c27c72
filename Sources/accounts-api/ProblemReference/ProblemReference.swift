import Accounts
import HTTPTypes

/// The reference for integrators: every problem type and every field code, with its meaning and remedy. It is the
/// source of the resources under `/problems`, the command `problems` and docs/problems.md.
enum ProblemReference {
    /// The response of `GET /problems`: all problem types and field codes.
    static let json: JSON = [
        "problems": .array(ProblemKind.allCases.map { .object(members(of: $0)) }), "codes": codes,
    ]

    /// The resource that the `type` of a problem resolves to. `validation-failed` also contains the field codes.
    static func json(of problem: ProblemKind) -> JSON {
        .object(members(of: problem) + (problem == .validationFailed ? [.init("codes", codes)] : []))
    }

    private static func members(of problem: ProblemKind) -> [JSON.Member] {
        [
            .init("slug", .string(problem.rawValue)), .init("href", .string("/problems/\(problem.rawValue)")),
            .init("status", .integer(problem.status.code)), .init("title", .string(title(of: problem))),
            .init("meaning", .string(problem.explanation.meaning)),
            .init("remedy", .string(problem.explanation.remedy)),
            .init("members", .array(problem.members.map(JSON.string))),
            .init("headers", .array(problem.headers.map(JSON.string))),
        ]
    }

    private static let codes = JSON.array(
        Refusal.Code.allCases.map { code in
            [
                "code": .string(code.rawValue), "meaning": .string(code.explanation.meaning),
                "remedy": .string(code.explanation.remedy), "params": .array(code.params.map(JSON.string)),
            ]
        }
    )

    static func title(of problem: ProblemKind) -> String { Language.english.messages.title(of: problem) }
}
