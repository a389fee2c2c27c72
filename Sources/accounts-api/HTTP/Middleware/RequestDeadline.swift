import Accounts
import Hummingbird

/// Gives the request its deadline. What still waits for the database, a hash or an image then is answered with 503.
struct RequestDeadline: RouterMiddleware {
    let patience: Patience

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        try await Deadline.$current.withValue(Deadline(in: patience.request)) { try await next(request, context) }
    }
}

/// How long the server works on an answer (policy).
struct Patience: Sendable {
    /// From the end of a header, without the time in which the body arrives.
    var request = Duration.seconds(8)
    /// Of a request for `/health/ready`.
    var readiness = Duration.milliseconds(900)
}
