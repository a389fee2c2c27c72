import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// An error that a client sees as a problem. Handlers do not catch such errors; ``ProblemMiddleware`` converts them.
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

    /// The flow of the request.
    var flow: Flow { representations.signups.flow }

    /// The problem for any error. An unrecognised error is logged here, and answered without its cause.
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
            logger.error("unrecognised error", metadata: ["error": "\(error)", "type": "\(type(of: error))"])
            return Problem(.internal, "An unexpected error occurred. The log has its cause under this request_id.")
        }
    }

    /// The problem with the current draft, for a client that has an older revision.
    func stale(_ current: Draft) -> Problem {
        Problem(
            .staleRevision,
            "The sign-up is at another revision than the one in If-Match. \"draft\" has the current one.",
            [.init("draft", representations.draft(current))],
            headers: [.eTag: "\"\(current.revision)\""]
        )
    }
}
