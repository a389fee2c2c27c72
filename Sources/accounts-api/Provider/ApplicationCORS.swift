import Accounts
import HTTPTypes
import Hummingbird

/// Says which answers scripts of other sites may read because of applications (Fetch Standard, CORS). They may read
/// only those of the paths below: above all, not those of the authorization endpoint (RFC 9700 §2.6).
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

    /// The methods of the paths that scripts of public applications may use.
    private static let ofApplications = [
        "/oauth/token": "POST", "/oauth/userinfo": "GET, POST", "/oauth/revoke": "POST",
    ]

    /// The documents that scripts of all sites may read: they are the same for everybody, and caches keep them.
    private static let ofEverybody: Set<String> = [
        "/oauth/keys", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
    ]

    /// - Parameter path: the path of the route; nil if the request has no route.
    /// - Returns: nil if scripts may not read the answer.
    func access(of request: Request, at path: String?) -> Access? {
        guard let path else { return nil }
        if Self.ofEverybody.contains(path) { return Access(origin: "*", methods: "GET") }
        guard let methods = Self.ofApplications[path], let origin = request.headers[.origin],
            applications?.current.allows(origin: origin) == true
        else { return nil }
        return Access(origin: origin, methods: methods)
    }
}
