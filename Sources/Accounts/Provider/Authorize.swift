internal import Foundation

/// How an authorization request goes on.
package enum AuthorizationStep: Hashable, Sendable {
    /// Back to the application.
    case redirect(String)
    /// The person signs in first.
    case signIn
    /// The session is not of the person whom the application expects, or nobody can tell: that person signs in first.
    case signInAnew
    /// The person proves again who they are first.
    case confirm
    /// The person signs up first.
    case signUp
    /// The person says whether to go on with the account that is signed in.
    case choose
    /// The person sets up the authenticator app that the flow requires first.
    case setUpAuthenticator
}

extension Provider {
    /// Reads an authorization request, or takes the pushed one that it names (RFC 9126 §4).
    package func request(_ parameters: OAuthParameters) async throws(AuthorizationError) -> AuthorizationRequest {
        guard let id = parameters["client_id"], let application = application(id) else {
            throw .unanswerable(.init(detail: "The client_id is missing, or is not the one of an application."))
        }
        guard let uri = parameters["request_uri"] else {
            return try await read(parameters, of: application)
        }
        guard let token = PushedRequest.token(uri) else {
            throw .unanswerable(.init(detail: "The request_uri is not one of this server."))
        }
        let pushed: AuthorizationRequest?
        do throws(ProviderError) { pushed = try await take(token, of: application) } catch { throw .provider(error) }
        guard let pushed, application.allows(redirectURI: pushed.redirectURI) else {
            throw .unanswerable(.init(detail: "The request_uri was used, has expired, or is another application's."))
        }
        return pushed
    }

    /// The request as made now, by the clock of the database. It also tells when a session began and when a person proved
    /// who they are; with the clock of a server that is fast, the person would be asked again and again.
    package func dated(
        _ request: AuthorizationRequest,
        _ session: AccountSession?
    ) async throws(AuthorizationError) -> AuthorizationRequest {
        if let session { return request.made(at: session.now) }
        return try await converting(to: AuthorizationError.databaseFailed) { () throws(DatabaseError) in
            try await request.made(at: database.read("SELECT now()").only.decode(Date.self))
        }
    }

    /// Answers the request, or says what the person has to do first.
    ///
    /// - Parameter session: that of the browser; nil if there is none.
    package func authorize(
        _ request: AuthorizationRequest,
        _ session: AccountSession?
    ) async throws(AuthorizationError) -> AuthorizationStep {
        let missing = try await step(before: request, session)
        if missing == .signInAnew, let session, session.createdAt >= request.madeAt {
            // Another person than the expected one has signed in for the request.
            throw .refused(request.refusal(instead: .signInAnew))
        }
        var code: String?
        if missing == nil, let session { code = try await self.code(for: request, session) }
        guard let code else {
            let missing = missing ?? .signIn
            if request.prompts.contains(.none) { throw .refused(request.refusal(instead: missing)) }
            return missing
        }
        return .redirect(redirect(to: request.redirectURI, [("code", code), ("state", request.state)]))
    }

    /// What the person has to do before the request can be answered; nil for nothing.
    private func step(
        before request: AuthorizationRequest,
        _ session: AccountSession?
    ) async throws(AuthorizationError) -> AuthorizationStep? {
        guard let session else { return request.prompts.contains(.create) ? .signUp : .signIn }
        if let expected = request.expected, expected != session.account.id { return .signInAnew }
        if request.needsNewSession, session.createdAt < request.madeAt { return .signInAnew }
        if session.isIdle { return .confirm }
        // Whoever has signed in or up for this request has chosen by that.
        let hasChosen = session.createdAt >= request.madeAt || request.chosen == session.id
        let asks = !request.prompts.isDisjoint(with: [.create, .selectAccount]) || isUnknownProgram(request)
        if asks, !hasChosen { return .choose }
        if needsProof(request, session) { return .confirm }
        let lacksAuthenticator = try await converting(to: AuthorizationError.databaseFailed) {
            () throws(DatabaseError) in try await sessions.lacksAuthenticator(session)
        }
        return lacksAuthenticator ? .setUpAuthenticator : nil
    }

    /// Whether the last proof is too old for the request.
    private func needsProof(_ request: AuthorizationRequest, _ session: AccountSession) -> Bool {
        let age = session.now.timeIntervalSince(session.authTime)
        // A proof that was given for this request is recent enough, even for a max_age of 0.
        if session.authTime >= request.madeAt, age < Self.recent { return false }
        let isOld = request.maxAge.map { age > Double($0) } ?? false
        return isOld || request.prompts.contains(.login)
    }

    /// Any program of the person's device can ask in the name of a public application there (RFC 8252 §8.6).
    private func isUnknownProgram(_ request: AuthorizationRequest) -> Bool {
        application(request.application)?.isPublic == true && !request.redirectURI.hasPrefix("https:")
    }

    /// The seconds for which a proof counts as given for the request before which it was asked.
    private static let recent = 600.0

    /// A new code; nil if the session has ended meanwhile.
    private func code(
        for request: AuthorizationRequest,
        _ session: AccountSession
    ) async throws(AuthorizationError) -> String? {
        let code = Token<Authorization>(for: ID())
        let rows = try await converting(to: AuthorizationError.databaseFailed) { () throws(DatabaseError) in
            try await database.transaction(insert(code, for: request, session), Self.endExcess(of: code.id))
        }
        return rows[0].isEmpty ? nil : code.text
    }

    /// Returns a row unless the session has ended.
    private func insert(_ code: Token<Authorization>, for request: AuthorizationRequest, _ session: AccountSession)
        -> SQL
    {
        """
        WITH held AS (
            INSERT INTO grants (id, session, application, account)
            SELECT \(ID<Grant>()), id, \(request.application), account FROM sessions
             WHERE id = \(session.id) AND token_hash = \(session.tokenHash) AND now() < ends_at
            ON CONFLICT (session, application) DO UPDATE SET application = excluded.application
            RETURNING id)
        INSERT INTO authorizations (id, grant_id, code_digest, sealed, scope, nonce, code_expires_at)
        SELECT \(code.id), id, \(code.hash), \(keys.seal(request.json.bytes, for: .authorization(code.id))),
               \(request.scope), \(RefreshToken.newNonce()),
               now() + make_interval(secs => \(Authorization.codeLifetime.seconds)) FROM held
        RETURNING id
        """
    }

    /// Ends the oldest authorizations of the grant beyond the maximum, so that a page that asks again and again does not
    /// fill the table.
    private static func endExcess(of id: ID<Authorization>) -> SQL {
        """
        WITH held AS (
            SELECT id, code_use IS NULL AS is_unused,
                   row_number() OVER (PARTITION BY code_use IS NULL ORDER BY id DESC) AS place
              FROM authorizations WHERE grant_id = (SELECT grant_id FROM authorizations WHERE id = \(id)))
        DELETE FROM authorizations WHERE id IN (
            SELECT id FROM held
             WHERE place > CASE WHEN is_unused THEN \(Authorization.maximumUnused) ELSE \(Authorization.maximum) END)
        """
    }
}

extension AuthorizationRequest {
    fileprivate func refusal(instead step: AuthorizationStep) -> RefusedRequest {
        let code =
            switch step {
            case .choose: "account_selection_required"
            case .setUpAuthenticator: "interaction_required"
            default: "login_required"
            }
        let error = OAuthError(code, "The person would have to do something first.")
        return RefusedRequest(redirectURI: redirectURI, state: state, error: error)
    }
}

extension AuthorizationError {
    static func databaseFailed(_ error: DatabaseError) -> AuthorizationError { .provider(.database(error)) }
}
