import Accounts
import HTTPTypes
import Hummingbird

/// Decides whether a script of another origin, such as that of an application, may read an answer (Fetch Standard,
/// CORS). Only a few paths have such answers. The authorization endpoint must not be one of these paths (RFC 9700
/// §2.6). ``CORS`` itself permits scripts of the origins in `ALLOWED_ORIGINS`.
struct ApplicationCORS: Sendable {
    /// The applications; nil if the service has none.
    let applications: ApplicationRegistry?

    /// The permission for scripts of an origin to read the answer of a path. It never includes cookies (CORS
    /// credentials), because a script sends its tokens itself.
    struct Access {
        /// The origin that may read the answer, or `*`.
        let origin: String
        let methods: String

        func allowReading(in headers: inout HTTPFields) {
            headers[.accessControlAllowOrigin] = origin
            headers[.accessControlExposeHeaders] = "Retry-After, WWW-Authenticate, X-Request-Id"
            headers[.crossOriginResourcePolicy] = "cross-origin"
        }

        var preflight: HTTPFields {
            [
                .accessControlAllowMethods: methods, .accessControlAllowHeaders: "authorization, content-type",
                .accessControlMaxAge: "600",
            ]
        }
    }

    /// The paths whose answers a script may read if its origin is that of a public application, with the methods that
    /// the script may use.
    private static let applicationPaths = [
        "/oauth/token": "POST", "/oauth/userinfo": "GET, POST", "/oauth/revoke": "POST",
    ]

    /// The paths of documents that scripts of all origins may read. The documents are the same for everybody, and
    /// caches keep them.
    private static let publicPaths: Set<String> = [
        "/oauth/keys", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
    ]

    /// Whether the path of a route belongs to the OpenID provider. `ALLOWED_ORIGINS` gives no permission there, because
    /// the authorization endpoint must not have CORS (RFC 9700 §2.6).
    static func isOfProvider(_ path: String?) -> Bool { path?.hasPrefix("/oauth/") == true }

    /// - Parameter path: the path of the route; nil if the request has no route.
    /// - Returns: nil if no script may read the answer, apart from those that ``CORS`` itself permits.
    func access(of request: Request, at path: String?) -> Access? {
        guard let path else { return nil }
        if Self.publicPaths.contains(path) { return Access(origin: "*", methods: "GET") }
        guard let methods = Self.applicationPaths[path], let origin = request.headers[.origin],
            applications?.current.allows(origin: origin) == true
        else { return nil }
        return Access(origin: origin, methods: methods)
    }
}
