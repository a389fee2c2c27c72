import Accounts
import Hummingbird

/// Sets the deadline of the request. A request that still waits for the database, a hash or an image at its deadline is
/// answered with 503.
struct RequestDeadline: RouterMiddleware {
    let patience: Patience

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        try await Deadline.$current.withValue(Deadline(in: patience.request)) { try await next(request, context) }
    }
}

/// The maximum times for the work on an answer. The values are chosen by judgement, so they can be changed.
struct Patience: Sendable {
    /// The time for any request. It begins at the end of the header, and does not count the time in which the body
    /// arrives.
    var request = Duration.seconds(8)
    /// The time for the answer of the database during the health check `/health/ready`.
    var readiness = Duration.milliseconds(900)
}
