extension Provider {
    /// Reads a request, and the ID token with which the application says whom it expects (OpenID Connect Core §3.1.2.1).
    /// The token may have expired, but the service must have issued it for that application.
    func read(
        _ parameters: OAuthParameters,
        of application: Application
    ) async throws(AuthorizationError) -> AuthorizationRequest {
        let request = try AuthorizationRequest(parameters, of: application, among: sessions.flow.languages)
        guard let hint = parameters["id_token_hint"] else { return request }
        let claims: JSON?
        do throws(ProviderError) { claims = try await verified(hint, .idToken)?.claims } catch {
            throw .provider(error)
        }
        guard let claims, claims["aud"]?.string == application.id,
            let account = claims["sub"]?.string.flatMap({ ID<Account>($0) })
        else {
            let error = OAuthError.invalidRequest(
                "The id_token_hint is not an ID token of this service for the client_id."
            )
            throw .refused(RefusedRequest(redirectURI: request.redirectURI, state: request.state, error: error))
        }
        // Whoever signs up is nobody that the application knows.
        return request.prompts.contains(.create) ? request : request.expecting(account)
    }
}
