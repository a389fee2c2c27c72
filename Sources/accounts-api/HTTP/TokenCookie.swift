import Accounts
import HTTPTypes
import Hummingbird

/// A cookie with a token, with the language of ``LanguageChoice``, or with ``SessionCookies/recoveryCodes``. A client
/// that is not a browser can send the token as a bearer token instead, but never in a URL.
struct TokenCookie: Sendable {
    let name: String
    /// True if `PUBLIC_URL` is https; then the cookie is bound to the host and to TLS.
    private let isSecure: Bool

    init(_ name: String, isSecure: Bool) {
        self.name = isSecure ? "__Host-\(name)" : name
        self.isSecure = isSecure
    }

    struct Credentials {
        /// The token as the client sent it, valid or not; nil if it sent none.
        var text: String?
        var hasCookie = false
        var hasBearer = false

        /// Whether the client gets new tokens in the body of an answer. A client that sends its token both as a cookie
        /// and as a bearer token gets a new cookie, because it would otherwise keep the old one.
        var isBearerOnly: Bool { hasBearer && !hasCookie }

        /// The token; nil if the client sent none, or if it is malformed.
        func token<Owner>(of owner: Owner.Type) -> Token<Owner>? { text.flatMap { Token($0) } }
    }

    /// Reads the token of the request. Throws if the request has two different tokens.
    func credentials(in headers: HTTPFields) throws -> Credentials {
        let cookies = values(in: headers)
        let bearers = headers[values: .authorization].compactMap { field in
            field.lowercased().hasPrefix("bearer ") ? String(field.dropFirst(7).drop { $0 == " " }) : nil
        }
        let tokens = cookies + bearers
        guard tokens.allSatisfy({ $0 == tokens[0] }) else {
            throw Problem(.malformedRequest, "The request has two different tokens. Send only one.")
        }
        return Credentials(
            text: cookies.first ?? bearers.first,
            hasCookie: !cookies.isEmpty,
            hasBearer: !bearers.isEmpty
        )
    }

    /// The values of all cookies with this name. A browser sends only one if the name begins with `__Host-`; other
    /// clients may send several.
    func values(in headers: HTTPFields) -> [String] {
        let start = "\(name)=".utf8
        return headers[values: .cookie].flatMap { $0.headerParts(separatedBy: ";") }.compactMap { pair in
            guard pair.utf8.starts(with: start) else { return nil }
            return String(Substring(pair.utf8.dropFirst(start.count)).trimmingWhitespace())
        }
    }

    /// - Parameter lifetime: nil for a cookie that the browser deletes when it closes.
    func set(_ text: String, for lifetime: Duration? = nil) -> HTTPField {
        let age = lifetime.map { "; Max-Age=\($0.seconds)" } ?? ""
        return field("\(name)=\(text); Path=/\(age)")
    }

    var clear: HTTPField { field("\(name)=; Path=/; Max-Age=0") }

    private func field(_ value: String) -> HTTPField {
        HTTPField(name: .setCookie, value: "\(value); \(isSecure ? "Secure; " : "")HttpOnly; SameSite=Lax")
    }
}

extension TokenCookie {
    /// The lifetime of a draft's cookie after the commit. In this time the person can read the last page, and repeat a
    /// commit whose answer was lost. Later, another person at the same browser does not see the account.
    static let lifetimeAfterCommit = Duration.seconds(900)
}
