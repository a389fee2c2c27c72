import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// An error that a client sees as a problem. Handlers let such errors pass; ``ProblemMiddleware`` converts them.
protocol ProblemConvertible: Error {
    /// The problem, or nil for an internal error: its cause goes to the log and not to the client.
    func problem(in context: ProblemContext) -> Problem?
}

extension Problem: ProblemConvertible {
    func problem(in context: ProblemContext) -> Problem? { self }
}

/// What the conversion of an error needs to know about the request.
struct ProblemContext {
    let language: Language
    let logger: Logger
    let representations: Representations

    /// The problem for any error. An error that no case recognises is logged here, and answered without its cause.
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

    /// The draft as it is now, for a client that has an older revision.
    func stale(_ current: Draft) -> Problem {
        Problem(
            .staleRevision,
            "It is at another revision than the one you named.",
            [.init("draft", representations.draft(current))],
            headers: [.eTag: "\"\(current.revision)\""]
        )
    }
}
