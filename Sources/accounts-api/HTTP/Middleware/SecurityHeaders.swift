import HTTPTypes
import Hummingbird

/// Adds the headers of every answer of the public listener: restrictions for browsers, and no caching by default.
struct SecurityHeaders: RouterMiddleware {
    /// The fields that every answer gets with the same values. ``ApplicationCORS`` replaces
    /// `Cross-Origin-Resource-Policy` in answers that scripts of applications or of all sites may read.
    private let constant: [HTTPField]

    init(publicURL: String) {
        var constant = [
            HTTPField(name: .xContentTypeOptions, value: "nosniff"),
            HTTPField(name: .crossOriginOpenerPolicy, value: "same-origin"),
            HTTPField(
                name: .permissionsPolicy,
                value: "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
            ),
            HTTPField(name: .crossOriginResourcePolicy, value: "same-origin"),
        ]
        if publicURL.hasPrefix("https://") {
            constant.append(.init(name: .strictTransportSecurity, value: "max-age=63072000; includeSubDomains"))
        }
        self.constant = constant
    }

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        var response = try await next(request, context)
        add(to: &response.headers)
        return response
    }

    func add(to headers: inout HTTPFields) {
        // The content of an answer that sets `Cache-Control` itself does not depend on the request headers in `vary`.
        if headers[.cacheControl] == nil {
            headers[.cacheControl] = "no-store"
            headers[.vary] = headers[.vary].map { "\($0), \(Self.vary)" } ?? Self.vary
        }
        for field in Self.defaults where !headers.contains(field.name) { headers.append(field) }
        headers.append(contentsOf: constant)
    }

    /// The default fields. An answer that has its own value for one of them keeps that value.
    private static let defaults = [
        HTTPField(name: .referrerPolicy, value: "no-referrer"),
        HTTPField(name: .contentSecurityPolicy, value: contentPolicy),
    ]

    /// The request headers that an answer may depend on, without `Authorization`, which `Vary` need not name (RFC 9110,
    /// §12.5.5).
    private static let vary = "Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Site"

    /// The policy of every answer that is not a page: the browser loads and runs nothing.
    private static let contentPolicy = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}
