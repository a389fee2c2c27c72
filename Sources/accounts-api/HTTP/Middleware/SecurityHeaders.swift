import HTTPTypes
import Hummingbird

/// Adds the headers of every answer of the public listener: restrictions for browsers, and no caching by default.
struct SecurityHeaders: RouterMiddleware {
    let publicURL: String

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var response = try await next(request, context)
        add(to: &response.headers)
        return response
    }

    func add(to headers: inout HTTPFields) {
        // An answer with `Cache-Control` is the same for every client, so it needs no `Vary`.
        if headers[.cacheControl] == nil {
            headers[.cacheControl] = "no-store"
            headers[.vary] = headers[.vary].map { "\($0), \(Self.vary)" } ?? Self.vary
        }
        headers[.xContentTypeOptions] = "nosniff"
        headers[.referrerPolicy] = headers[.referrerPolicy] ?? "no-referrer"
        headers[.contentSecurityPolicy] = headers[.contentSecurityPolicy] ?? Self.contentPolicy
        headers[.crossOriginOpenerPolicy] = "same-origin"
        headers[.permissionsPolicy] = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
        headers[.crossOriginResourcePolicy] = "same-origin"
        if publicURL.hasPrefix("https://") {
            headers[.strictTransportSecurity] = "max-age=63072000; includeSubDomains"
        }
    }

    /// The request headers that an answer may depend on.
    private static let vary = "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site"

    /// The policy of every answer that is not a page: the browser loads and runs nothing.
    private static let contentPolicy = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}
