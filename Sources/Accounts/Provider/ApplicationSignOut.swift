internal import Foundation

/// A request of an application to sign the person out (OpenID Connect RP-Initiated Logout 1.0).
package struct SignOutRequest: Hashable, Sendable {
    /// The registered `post_logout_redirect_uri`, with the `state` of the request, to which the browser goes
    /// afterwards; nil if the request has none.
    package let target: String?
    /// The grant that the `id_token_hint` names; nil if the request has no hint, or a hint that the service cannot
    /// verify.
    let grant: ID<Grant>?
}

extension Provider {
    /// Reads the request. An expired `id_token_hint` is valid, because it only tells which session is meant. If the
    /// service cannot verify the hint, only the application in the hint is used, like `client_id`
    /// (``IDTokenHint/isVerified``).
    ///
    /// Throws `invalid_request` if the hint is not an ID token of this service for the `client_id`, or if the request
    /// has a `post_logout_redirect_uri` but names no application for which that is registered.
    package func signOutRequest(_ parameters: OAuthParameters) async throws(ProviderError) -> SignOutRequest {
        var (id, grant) = (parameters["client_id"], ID<Grant>?.none)
        if let hint = parameters["id_token_hint"] {
            guard let hint = try await self.hint(hint), id == nil || id == hint.audience else {
                throw .oauth(.invalidRequest("The id_token_hint is not an ID token of this service for the client_id."))
            }
            (id, grant) = (hint.audience, hint.grant)
        }
        let application = id.flatMap { self.application($0) }
        var target: String?
        if let uri = parameters["post_logout_redirect_uri"] {
            guard let application,
                application.allows(postLogoutRedirectURI: uri)
            else {
                throw .oauth(
                    .invalidRequest(
                        "The post_logout_redirect_uri is not registered for the application of the client_id or the"
                            + " id_token_hint."
                    )
                )
            }
            let state = parameters["state"].map { "state=\($0.formEncoded)" }
            target = state.map { uri + (uri.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + $0 } ?? uri
        }
        return SignOutRequest(target: target, grant: grant)
    }

    /// Whether the grant of the hint belongs to the browser's session. If so, the person is signed out without a
    /// question.
    package func concerns(_ request: SignOutRequest, _ session: AccountSession) async throws(ProviderError) -> Bool {
        guard let grant = request.grant else { return false }
        return try await converting(to: ProviderError.database) { () throws(DatabaseError) in
            try await !database.read("SELECT FROM grants WHERE id = \(grant) AND session = \(session.id)").isEmpty
        }
    }
}
