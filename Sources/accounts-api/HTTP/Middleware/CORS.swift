import HTTPTypes
import Hummingbird

/// Adds the CORS headers. Scripts of the origins in `ALLOWED_ORIGINS` may read all answers of the router, but of the
/// OpenID provider only what other scripts may read: scripts of public applications may read a few answers, and scripts
/// of all origins may read a few public documents (``ApplicationCORS``).
struct CORS: RouterMiddleware {
    let allowedOrigins: Set<String>
    let applications: ApplicationCORS

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var response = try await next(request, context)
        if let access = applications.access(of: request, at: context.endpointPath) {
            access.allowReading(in: &response.headers)
            return response
        }
        if !allowedOrigins.isEmpty, response.headers[.cacheControl] != "no-store" {
            // Without `Vary`, a cache would give a script of one origin the answer for another origin.
            response.headers[.vary] = response.headers[.vary].map { "\($0), Origin" } ?? "Origin"
        }
        guard let origin = request.headers[.origin], allowedOrigins.contains(origin),
            !ApplicationCORS.isOfProvider(context.endpointPath)
        else { return response }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowCredentials] = "true"
        response.headers[.accessControlExposeHeaders] =
            "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id"
        return response
    }
}
