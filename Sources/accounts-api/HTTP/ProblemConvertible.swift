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

    /// The problem for any error. An unrecognised error is logged here, and answered without its cause.
    func problem(for error: any Error) -> Problem {
        if let problem = (error as? any ProblemConvertible)?.problem(in: self) { return problem }
        switch error {
        case let error as any HTTPResponseError where error.status == .notFound:
            return Problem(.notFound, "No resource has this path.")
        case let error as any HTTPResponseError where error.status == .contentTooLarge:
            return Problem(.tooLarge, "The body is longer than it may be.")
        case let error as any HTTPResponseError where error.status.kind == .clientError:
            return Problem(.malformedRequest, "The request could not be read.")
        case is CancellationError:
            return .cancelled
        default:
            logger.error("unrecognised error", metadata: ["error": "\(error)", "type": "\(type(of: error))"])
            return Problem(.internal, "The log has the cause, under the id of this request.")
        }
    }

    /// The problem with the current draft, for a client that has an older revision.
    func stale(_ current: Draft) -> Problem {
        Problem(
            .staleRevision,
            "It is at another revision than the one you named.",
            [.init("draft", representations.draft(current))],
            headers: [.eTag: "\"\(current.revision)\""]
        )
    }
}
