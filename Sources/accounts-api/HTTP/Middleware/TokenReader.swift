import HTTPTypes
import Hummingbird

/// Reads the token of the request.
struct TokenReader: RouterMiddleware {
    let cookie: TokenCookie

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var context = context
        context.credentials = try cookie.credentials(in: request.headers)
        return try await next(request, context)
    }
}
