/// The ID token with which an application says which person it means (`id_token_hint`). It may have expired.
struct IDTokenHint: Sendable {
    /// The id of the application.
    let audience: String
    let account: ID<Account>
    /// The grant of the token (`sid`); nil if the token is not verified, because then anyone may have written it.
    let grant: ID<Grant>?
    /// False if the service does not have the key that the token names, for example because the key is deleted. Then
    /// the service cannot verify the token.
    let isVerified: Bool

    fileprivate init?(_ claims: JSON, isVerified: Bool) {
        guard let audience = claims["aud"]?.string, let account = claims["sub"]?.string.flatMap({ ID<Account>($0) })
        else { return nil }
        (self.audience, self.account, self.isVerified) = (audience, account, isVerified)
        grant = isVerified ? claims["sid"]?.string.flatMap { ID($0) } : nil
    }
}

extension Provider {
    /// Reads a hint. Returns nil for a text that is not an ID token of this service. If the token names an unknown key,
    /// ``IDTokenHint/isVerified`` of the result is false, and anyone may have written the token.
    func hint(_ text: String) async throws(ProviderError) -> IDTokenHint? {
        if let token = try await verified(text, .idToken) { return IDTokenHint(token.claims, isVerified: true) }
        let claims: JSON?
        do throws(SigningError) { claims = try await signingKeys.unverified(text, type: .idToken) } catch {
            throw .signing(error)
        }
        guard let claims, claims["iss"]?.string == issuer else { return nil }
        return IDTokenHint(claims, isVerified: false)
    }

    /// Reads a request and its `id_token_hint`, if it has one (OpenID Connect Core §3.1.2.1). Throws `refused` if the
    /// hint is not an ID token of this service for the application.
    func read(
        _ parameters: OAuthParameters,
        of application: Application
    ) async throws(AuthorizationError) -> AuthorizationRequest {
        let request = try AuthorizationRequest(parameters, of: application, among: sessions.flow.languages)
        guard let text = parameters["id_token_hint"] else { return request }
        let hint: IDTokenHint?
        do throws(ProviderError) { hint = try await self.hint(text) } catch { throw .provider(error) }
        guard let hint, hint.audience == application.id else {
            let error = OAuthError.invalidRequest(
                "The id_token_hint is not an ID token of this service for the client_id."
            )
            throw .refused(RefusedRequest(redirectURI: request.redirectURI, state: request.state, error: error))
        }
        // `prompt=create` asks for a new account, which cannot be the expected one, so the hint is ignored.
        return request.prompts.contains(.create) ? request : request.expecting(hint)
    }
}
