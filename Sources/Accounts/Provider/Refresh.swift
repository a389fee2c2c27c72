internal import Foundation

extension Provider {
    /// Exchanges a refresh token for new tokens (RFC 6749 §6). If the token was exchanged before, and ``RefreshTokens``
    /// does not permit another exchange, ends its authorization.
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
        throw .database(.unavailable("too many requests exchanged refresh tokens of one authorization at once"))
    }

    /// Returns the scope of the new access token: the granted scope, or a part of it if the application asks for less.
    /// The refresh token keeps the granted scope (RFC 6749 §6).
    private static func scope(_ asked: [String], of live: LiveAuthorization) throws(ProviderError) -> String {
        let granted = live.scope.split(separator: " ").map(String.init)
        guard Set(asked).isSubset(of: granted) else {
            throw .oauth(OAuthError("invalid_scope", "The scope contains more than was granted."))
        }
        return asked.isEmpty ? live.scope : granted.filter(asked.contains).joined(separator: " ")
    }

    /// Ends the authorization, because somebody may have copied its tokens. If it has not ended before, writes an event
    /// for the applications, and mails a notice to the person.
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

    /// The maximum number of attempts to exchange a token. An attempt fails only if another request has exchanged a
    /// token of the same authorization, or has ended the authorization, in the meantime.
    private static let attempts = 20
    private static let uselessToken = OAuthError.invalidGrant(
        "The refresh token is invalid, was used before, or belongs to another application, or its session has ended."
            + " Ask the person to sign in."
    )

    /// Returns the authorization of the token, its refresh tokens, and the time of the database in milliseconds since
    /// 1970. Returns nil if the authorization belongs to another application, if it or its session has ended, if the
    /// session is idle, or if the account is disabled.
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

    /// Stores the refresh tokens. Also stores when the session was last used, at most once a minute. Returns false if
    /// another request has changed the refresh tokens or ended the authorization.
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
