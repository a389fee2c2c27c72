internal import Foundation

extension Provider {
    /// Exchanges a refresh token (RFC 6749 §6). A token that was used before ends the authorization, unless it is asked
    /// for again as ``RefreshTokens`` allows.
    package func refresh(
        _ parameters: OAuthParameters,
        by application: Application
    ) async throws(ProviderError) -> IssuedTokens {
        guard let text = parameters["refresh_token"] else {
            throw .oauth(.invalidRequest("The refresh_token is required."))
        }
        guard let token = RefreshToken(text) else { throw .oauth(Self.uselessToken) }
        for _ in 0..<Self.attempts {
            guard let (live, tokens, now) = try await refreshable(token, by: application),
                token.isGenuine(nonce: live.nonce, keys)
            else { throw .oauth(Self.uselessToken) }
            let scope = try Self.scope(parameters.words("scope"), of: live)
            var next = tokens
            switch next.present(token.number, at: now) {
            case .reused:
                try await endReused(live)
                throw .oauth(Self.uselessToken)
            case .repeated(let number):
                return try await self.tokens(for: live, to: application, scope: scope, refreshNumber: number)
            case .exchanged(let number):
                if try await write(next, replacing: tokens, of: live) {
                    return try await self.tokens(for: live, to: application, scope: scope, refreshNumber: number)
                }
            }
        }
        throw .database(.unavailable("a refresh token was exchanged by too many requests at once"))
    }

    /// The scope of the new access token: what was granted, or less if the application asks for less. The refresh token keeps
    /// what was granted (RFC 6749 §6).
    private static func scope(_ asked: [String], of live: LiveAuthorization) throws(ProviderError) -> String {
        let granted = live.scope.split(separator: " ").map(String.init)
        guard Set(asked).isSubset(of: granted) else {
            throw .oauth(OAuthError("invalid_scope", "The scope has more than was granted."))
        }
        return asked.isEmpty ? live.scope : granted.filter(asked.contains).joined(separator: " ")
    }

    /// Ends the authorization, because somebody may have copied its tokens, and tells the person and the application.
    private func endReused(_ live: LiveAuthorization) async throws(ProviderError) {
        let (account, hasEnded) = (live.session.account, Signups.flag("reused"))
        try await converting(to: ProviderError.database) { () throws(DatabaseError) in
            let locale = try await database.read("SELECT locale FROM accounts WHERE id = \(account.id)").first?
                .decode(String.self)
            let languages = sessions.flow.languages
            let language = locale.flatMap { languages[$0] } ?? languages[0]
            _ = try await database.transaction(
                ["SELECT \(Signups.setFlag("reused", "end_reused_authorization(\(live.id))"))"]
                    + sessions.mail(about: .applicationSignedOut, to: account, in: language, when: hasEnded)
            )
        }
        sessions.signups.outbox.wakeSender()
    }

    /// Each failed attempt means that another request has succeeded.
    private static let attempts = 20
    private static let uselessToken = OAuthError.invalidGrant(
        "The refresh token was used, or its session has ended. Ask the person to sign in."
    )

    /// The authorization of the token with its refresh tokens, and the time of the database in milliseconds.
    private func refreshable(
        _ token: RefreshToken,
        by application: Application
    ) async throws(ProviderError) -> (LiveAuthorization, RefreshTokens, Int)? {
        try await converting(to: ProviderError.database) { () throws(DatabaseError) in
            let row = try await database.read(
                """
                SELECT refresh_tokens, (extract(epoch FROM now()) * 1000)::bigint, \(LiveAuthorization.columns)
                  FROM authorizations, \(LiveAuthorization.tables)
                 WHERE authorizations.id = \(token.authorization) AND code_use IS NOT NULL
                   AND application = \(application.id) AND \(LiveAuthorization.isAlive)
                """
            ).first
            guard var columns = row?.columns else { return nil }
            let (text, now) = (try columns.next(String.self), try columns.next(Int.self))
            guard let tokens = RefreshTokens(text) else {
                throw .unexpectedAnswer("the refresh tokens of an authorization cannot be read")
            }
            return (try LiveAuthorization(&columns), tokens, now)
        }
    }

    /// Returns false if another request has changed them. The session counts as used.
    private func write(
        _ next: RefreshTokens,
        replacing tokens: RefreshTokens,
        of live: LiveAuthorization
    ) async throws(ProviderError) -> Bool {
        try await converting(to: ProviderError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                """
                UPDATE authorizations SET refresh_tokens = \(next.text)
                 WHERE id = \(live.id) AND refresh_tokens = \(tokens.text) RETURNING 1
                """,
                """
                UPDATE sessions SET last_seen_at = now()
                 WHERE id = \(live.session.id) AND last_seen_at < now() - interval '1 minute'
                """
            )
            return !rows[0].isEmpty
        }
    }
}
