/// The purpose of a token. A token of one type is never accepted as one of another (RFC 8725 §3.11).
package enum JWTType: CaseIterable, Sendable {
    /// Tells an application who has signed in (OpenID Connect Core §2).
    case idToken
    /// Gives access to an API (RFC 9068).
    case accessToken
    /// Tells an application that a session has ended (OpenID Connect Back-Channel Logout 1.0 §2.4).
    case logoutToken
    /// Tells an application behind a reverse proxy who the person is, in a header of the request.
    case identity

    /// The header parameter `typ`.
    var headerType: String {
        switch self {
        case .idToken, .identity: "JWT"
        case .accessToken: "at+jwt"
        case .logoutToken: "logout+jwt"
        }
    }

    /// The claim `token_use`, which tells types with the same `typ` apart; nil if the type has no such claim.
    var use: JSON? { self == .identity ? "identity" : nil }
}
