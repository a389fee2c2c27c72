import HTTPTypes
import Hummingbird

/// Reads the token of the request, and determines the network of the client.
struct TokenReader: RouterMiddleware {
    let cookie: TokenCookie
    let proxies: Proxies

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var context = context
        context.credentials = try cookie.credentials(in: request.headers)
        context.network = proxies.network(of: context.peer, request.headers)
        return try await next(request, context)
    }
}
