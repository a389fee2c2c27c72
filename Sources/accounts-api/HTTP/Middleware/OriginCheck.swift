import Accounts
import HTTPTypes
import Hummingbird

/// Refuses a state-changing request that another site has, or may have, made a browser send (OWASP Cheat Sheet on CSRF:
/// Fetch Metadata, then the origin). Exceptions are the sites in `ALLOWED_ORIGINS`, and requests with a bearer token
/// and no cookie. Needs the credentials that ``TokenReader`` reads.
struct OriginCheck: RouterMiddleware {
    /// The origin of `PUBLIC_URL`.
    let publicOrigin: String
    /// The origins of `ALLOWED_ORIGINS`.
    let allowedOrigins: Set<String>

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        let isSafe = [.get, .head, .options].contains(request.method)
        guard isSafe || permits(request.headers, context.credentials) else {
            throw Problem(
                .forbiddenOrigin,
                """
                The request comes from another site, or is a form from an unknown site. Send it from a page of this \
                service.
                """
            )
        }
        return try await next(request, context)
    }

    /// Whether a state-changing request may pass. A request with a bearer token and no cookie passes from any origin:
    /// no browser sends such a token by itself.
    func permits(_ headers: HTTPFields, _ credentials: TokenCookie.Credentials) -> Bool {
        if credentials.isBearerOnly { return true }
        let origin = headers[.origin]
        if let origin, allowedOrigins.contains(origin) { return true }
        if let site = headers[.secFetchSite] { return site == "same-origin" || site == "none" }
        if let origin { return origin == publicOrigin }
        return !Self.isForm(headers[.contentType])
    }

    /// Whether an HTML form can send a body of this type without script.
    private static func isForm(_ contentType: String?) -> Bool {
        guard let type = contentType?.headerParts(separatedBy: ";").first?.lowercased() else {
            return false
        }
        return ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].contains(type)
    }
}
