import Accounts
import HTTPTypes
import Hummingbird

/// How the token is sent: in a cookie or as a bearer token, never in a URL.
struct Session: Sendable {
    /// True if `PUBLIC_URL` is https; then the cookie is bound to the host and to TLS.
    let isSecure: Bool

    var cookieName: String { isSecure ? "__Host-signup" : "signup" }

    struct Credentials {
        var token: Token?
        var hasCookie = false
        var hasBearer = false
    }

    /// The token of the request. A request with two different tokens is malformed.
    func credentials(of request: Request) throws -> Credentials {
        let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.trimmingWhitespace()
            return pair.hasPrefix("\(cookieName)=") ? String(pair.dropFirst(cookieName.count + 1)) : nil
        }
        let bearers = request.headers[values: .authorization].compactMap { field in
            field.lowercased().hasPrefix("bearer ") ? String(field.dropFirst(7).drop { $0 == " " }) : nil
        }
        guard Set(cookies + bearers).count <= 1 else {
            throw Problem(.malformedRequest, "The request has two different tokens. Send only one.")
        }
        return Credentials(
            token: (cookies.first ?? bearers.first).flatMap { Token($0) },
            hasCookie: !cookies.isEmpty,
            hasBearer: !bearers.isEmpty
        )
    }

    func setCookie(_ token: Token) -> String {
        "\(cookieName)=\(token.text); Path=/; \(attributes)"
    }

    /// The cookie after the commit. It lives long enough to read the last page and to repeat a commit whose answer was
    /// lost; then the next person at the same browser does not see the account.
    func setShortCookie(_ token: Token) -> String {
        "\(cookieName)=\(token.text); Path=/; Max-Age=\(Self.secondsAfterCommit); \(attributes)"
    }

    static let secondsAfterCommit = 900

    var clearCookie: String { "\(cookieName)=; Path=/; Max-Age=0; \(attributes)" }

    private var attributes: String { (isSecure ? "Secure; " : "") + "HttpOnly; SameSite=Lax" }
}
