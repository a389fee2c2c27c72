import Accounts
import Hummingbird

/// The resources under `/problems`, to which the `type` of a problem refers.
struct ProblemRoutes: Sendable {
    @Sendable func list(_ request: Request, _ context: RequestScope) async throws -> Answer {
        Answer(json: ProblemReference.json)
    }

    @Sendable func show(_ request: Request, _ context: RequestScope) async throws -> Answer {
        guard let problem = context.parameters.get("slug").flatMap(ProblemKind.init(rawValue:)) else {
            throw Problem(.notFound, "There is no problem type with this name. GET /problems lists all of them.")
        }
        return Answer(json: ProblemReference.json(of: problem))
    }
}

extension ProblemRoutes {
    var operations: [Operation] {
        [
            .init(.get, "problems", .listProblems, responses: [.ok: .problems], .open(list)),
            .init(.get, "problems/:slug", .showProblem, responses: [.ok: .problemType], .open(show)),
        ]
    }
}

extension Operation.Act {
    static let listProblems = Self(
        "listProblems",
        "Returns every problem type and field code, with its meaning and remedy"
    )

    static let showProblem = Self(
        "showProblem",
        "Returns the meaning and the remedy of one problem type",
        problems: [.notFound]
    )
}
