/// What a token is for. A token of one type is never accepted as one of another (RFC 8725 §3.11).
package enum JWTType: CaseIterable, Sendable {
    /// OpenID Connect Core §2.
    case idToken
    /// RFC 9068.
    case accessToken
    /// OpenID Connect Back-Channel Logout §2.4.
    case logoutToken
    /// The header with which a proxy tells an application who the person is.
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
