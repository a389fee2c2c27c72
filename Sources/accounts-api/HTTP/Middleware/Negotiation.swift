import Accounts
import HTTPTypes
import Hummingbird

/// Refuses a request whose `Accept` matches no representation of the route. If the route has no pages, a request that
/// prefers a page but also accepts JSON gets JSON. If that request fails, its problem is JSON, too.
struct Negotiation: RouterMiddleware {
    /// Whether a browser may get a page or a redirect instead of JSON.
    let hasPages: Bool

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        let preferred = Representation(accept: request.headers[.accept])
        guard
            preferred == .json || preferred == .page && (hasPages || Representation.takesJSON(request.headers[.accept]))
        else {
            throw Problem(
                .notAcceptable,
                """
                No representation of this resource matches Accept. Use application/json\(hasPages ? " or text/html" : "").
                """
            )
        }
        var context = context
        if preferred == .page, !hasPages {
            context.representation = .json
            context.subject.setNoPage()
        }
        return try await next(request, context)
    }
}
