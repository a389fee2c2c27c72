import HTTPTypes
import Hummingbird

/// Answers the CORS preflight requests that browsers send before the requests of scripts that ``CORS`` permits (Fetch
/// Standard, “CORS-preflight fetch”). ``CORS`` and ``SecurityHeaders`` run outside this middleware, so they add their
/// headers to its answers too.
struct CORSPreflight: RouterMiddleware {
    let allowedOrigins: Set<String>
    let applications: ApplicationCORS

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        guard request.method == .options, request.headers[.accessControlRequestMethod] != nil,
            let origin = request.headers[.origin],
            // Below this path, a proxy repeats a request to ask whether it may pass it on to an application. If the
            // request is a preflight request, the proxy would take an answer of this middleware as permission.
            !request.uri.path.hasPrefix(ForwardAuthRoutes.prefix)
        else { return try await next(request, context) }
        if let access = applications.access(of: request, at: context.endpointPath) {
            return Response(status: .noContent, headers: access.preflight)
        }
        guard allowedOrigins.contains(origin), !ApplicationCORS.isOfProvider(context.endpointPath) else {
            return try await next(request, context)
        }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, POST, PUT, DELETE",
                .accessControlAllowHeaders: "authorization, content-type, if-match, if-none-match, accept-language",
                .accessControlMaxAge: "600",
            ]
        )
    }
}
