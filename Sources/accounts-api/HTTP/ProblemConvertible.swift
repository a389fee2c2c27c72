import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// An error that a client sees as a problem. ``ProblemMiddleware`` converts the errors that no handler catches. Pages
/// that show their form again convert their errors themselves.
protocol ProblemConvertible: Error {
    /// The problem, or nil for an internal error, whose cause is logged but not shown to the client.
    func problem(in context: ProblemContext) -> Problem?
}

extension Problem: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? { self }
}

/// The data about the request that the conversion of an error needs.
struct ProblemContext {
    let language: Language
    let logger: Logger
    let representations: Representations

    /// The flow to which the path of the request belongs; the sign-up if it belongs to no flow.
    var flow: Flow { representations.signups.flow }

    /// The problem for any error. An internal error is logged here, and the answer does not contain its cause.
    func problem(for error: any Error) -> Problem {
        if let problem = (error as? any ProblemConvertible)?.problem(in: self) { return problem }
        switch error {
        case let error as any HTTPResponseError where error.status == .notFound:
            return Problem(.notFound, "There is no resource at this path. GET /openapi.json lists the paths.")
        case let error as any HTTPResponseError where error.status == .contentTooLarge:
            return Problem(.tooLarge, "The body is too large.")
        case let error as any HTTPResponseError where error.status.kind == .clientError:
            return Problem(.malformedRequest, "The request is malformed.")
        case is CancellationError:
            return .cancelled
        default:
            logger.error("internal error", metadata: ["error": "\(error)", "type": "\(type(of: error))"])
            return Problem(.internal, "An unexpected error occurred. The log has its cause under this request_id.")
        }
    }

    /// The problem of a request whose `If-Match` requires another revision than that of the draft. It contains the
    /// current draft.
    func stale(_ current: Draft) -> Problem {
        Problem(
            .staleRevision,
            """
            The \(flow.purpose.noun) has another revision than If-Match requires. The member "draft" contains the \
            current state.
            """,
            [.init("draft", representations.draft(current))],
            headers: [.eTag: "\"\(current.revision)\""]
        )
    }
}
