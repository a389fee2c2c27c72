/// An error in the words of OAuth: the body of an answer to an application, or the parameters of a redirect.
package struct OAuthError: Error, Hashable, Sendable {
    /// A code of RFC 6749 §4.1.2.1 and §5.2, or of OpenID Connect Core §3.1.2.6.
    package let code: String
    /// For the developer of the application. It never contains what the request contains.
    package let description: String
    /// The application must authenticate: 401.
    package var isUnauthenticated: Bool { code == "invalid_client" }

    package init(_ code: String, _ description: String) {
        (self.code, self.description) = (code, description)
    }

    static func invalidRequest(_ description: String) -> OAuthError { OAuthError("invalid_request", description) }
    static func invalidGrant(_ description: String) -> OAuthError { OAuthError("invalid_grant", description) }
    package static let invalidClient = OAuthError(
        "invalid_client",
        "The application is unknown, or its secret is wrong."
    )

    package var json: JSON { ["error": .string(code), "error_description": .string(description)] }
}

/// Why an application gets no answer to its request.
package enum ProviderError: Error {
    case oauth(OAuthError)
    case signing(SigningError)
    case limited(LimitReached)
    case database(DatabaseError)
}
