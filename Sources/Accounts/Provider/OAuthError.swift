/// An error of OAuth: the body of a response to an application, or the parameters of a redirect.
package struct OAuthError: Error, Hashable, Sendable {
    /// An error code of RFC 6749 §4.1.2.1 or §5.2, of RFC 6750 §3.1, or of OpenID Connect Core §3.1.2.6.
    package let code: String
    /// The explanation for the developer of the application. It never repeats a value of the request.
    package let description: String
    /// Whether the application has not authenticated, so that the response has the status 401.
    package var isUnauthenticated: Bool { code == "invalid_client" }

    package init(_ code: String, _ description: String) {
        (self.code, self.description) = (code, description)
    }

    static func invalidRequest(_ description: String) -> OAuthError { OAuthError("invalid_request", description) }
    static func invalidGrant(_ description: String) -> OAuthError { OAuthError("invalid_grant", description) }
    package static let invalidClient = OAuthError(
        "invalid_client",
        "The application is unknown, or its secret is missing or wrong."
    )

    package var json: JSON { ["error": .string(code), "error_description": .string(description)] }
}

/// The reason why a request of an application fails.
package enum ProviderError: Error {
    case oauth(OAuthError)
    case signing(SigningError)
    case limited(LimitReached)
    case database(DatabaseError)
}
