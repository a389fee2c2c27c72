import Accounts
import HTTPTypes
import Hummingbird

/// Which sites may send unsafe requests with somebody's cookie (OWASP Cheat Sheet on CSRF: Fetch Metadata, then
/// the origin).
struct Origins: Sendable {
    /// The origin of `PUBLIC_URL`, and those of `ALLOWED_ORIGINS`.
    let own: String
    let allowed: Set<String>

    /// Whether a request that changes something may pass. A bearer alone is bound to no origin: no browser sends it by
    /// itself.
    func permits(_ headers: HTTPFields, _ credentials: Session.Credentials) -> Bool {
        if credentials.hasBearer, !credentials.hasCookie { return true }
        let origin = headers[.origin]
        if let origin, allowed.contains(origin) { return true }
        if let site = headers[.secFetchSite] { return site == "same-origin" || site == "none" }
        if let origin { return origin == own }
        return !Self.isForm(headers[.contentType])
    }

    /// Whether a browser asks, for one of those sites, if it may send a request (Fetch Standard, “CORS-preflight fetch”).
    func isPreflight(_ request: Request) -> Bool {
        request.method == .options && request.headers[.accessControlRequestMethod] != nil
            && request.headers[.origin].map(allowed.contains) == true
    }

    static let preflight = Response(
        status: .noContent,
        headers: [
            .accessControlAllowMethods: "GET, POST, PUT, DELETE",
            .accessControlAllowHeaders: "authorization, content-type, if-match, if-none-match, accept-language",
            .accessControlMaxAge: "600",
        ]
    )

    /// Lets scripts of those sites read the answer; others hear nothing about it.
    func share(_ headers: inout HTTPFields, with origin: String?) {
        guard !allowed.isEmpty else { return }
        guard let origin, allowed.contains(origin) else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlAllowCredentials] = "true"
        headers[.accessControlExposeHeaders] =
            "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id"
    }

    /// The types that an HTML form can send without script.
    private static func isForm(_ contentType: String?) -> Bool {
        guard let type = contentType?.split(separator: ";").first?.trimmingWhitespace().lowercased() else {
            return false
        }
        return ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].contains(type)
    }
}

/// Finds the token that came, and refuses unsafe requests that another site made somebody's browser send.
struct OriginGuard: RouterMiddleware {
    let origins: Origins
    let session: Session

    func handle(
        _ request: Request,
        context: RequestScope,
        next: Next
    ) async throws -> Response {
        let isSafe = [.get, .head, .options].contains(request.method)
        let credentials = try session.credentials(of: request)
        guard isSafe || origins.permits(request.headers, credentials) else {
            throw Problem(.forbiddenOrigin, "Send it from the site of the sign-up.")
        }
        var context = context
        context.credentials = credentials
        return try await next(request, context)
    }
}
