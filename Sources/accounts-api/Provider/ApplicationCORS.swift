import Accounts
import HTTPTypes
import Hummingbird

/// What the script of an application that runs in a browser may use of the provider (Fetch Standard, CORS). Nothing else
/// can be read from there, above all not the authorization endpoint (RFC 9700 §2.6).
struct ApplicationCORS: Sendable {
    /// Nil if there are no applications.
    let applications: ApplicationRegistry?

    /// Credentials are never allowed: what a script needs are tokens, which it sends itself.
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

    /// - Parameter path: that of the route.
    /// - Returns: nil if scripts of applications have no access.
    func access(of request: Request, at path: String?) -> Access? {
        guard let path else { return nil }
        if Self.ofEverybody.contains(path) { return Access(origin: "*", methods: "GET") }
        guard let methods = Self.ofApplications[path], let origin = request.headers[.origin],
            applications?.current.allows(origin: origin) == true
        else { return nil }
        return Access(origin: origin, methods: methods)
    }
}
