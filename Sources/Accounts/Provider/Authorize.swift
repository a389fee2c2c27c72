internal import Foundation

/// The next step for an authorization request.
package enum AuthorizationStep: Hashable, Sendable {
    /// The browser goes back to the application, to this URI.
    case redirect(String)
    /// First the person signs in.
    case signIn
    /// First the person signs in again, because the session belongs to another account than the application expects, or
    /// because the service cannot verify which account the application expects.
    case signInAnew
    /// First the person proves again who they are.
    case confirm
    /// First the person signs up.
    case signUp
    /// First the person chooses whether to go on with the account that is signed in.
    case choose
    /// First the person sets up the authenticator app, which the flow requires.
    case setUpAuthenticator
}

extension Provider {
    /// Reads an authorization request. If it has a `request_uri`, takes the pushed request of that name from the
    /// database (RFC 9126 §4).
    package func request(_ parameters: OAuthParameters) async throws(AuthorizationError) -> AuthorizationRequest {
        guard let id = parameters["client_id"], let application = application(id) else {
            throw .unanswerable(.init(detail: "The client_id is missing, or no application has it."))
        }
        guard let uri = parameters["request_uri"] else {
            return try await read(parameters, of: application)
        }
        guard let token = PushedRequest.token(uri) else {
            throw .unanswerable(.init(detail: "The request_uri does not come from this service."))
        }
        let pushed: AuthorizationRequest?
        do throws(ProviderError) { pushed = try await take(token, of: application) } catch { throw .provider(error) }
        guard let pushed, application.allows(redirectURI: pushed.redirectURI) else {
            throw .unanswerable(
                .init(
                    detail: "The request_uri is unknown, was used, has expired, or is of another application,"
                        + " or its redirect_uri is not registered any more."
                )
            )
        }
        return pushed
    }

    /// Returns a copy of the request whose ``AuthorizationRequest/madeAt`` is now, by the clock of the database. The
    /// same clock tells when a session began and when a person last proved who they are. If the clock of this server
    /// were used and were fast, the person would have to sign in again and again.
    package func dated(
        _ request: AuthorizationRequest,
        _ session: AccountSession?
    ) async throws(AuthorizationError) -> AuthorizationRequest {
        if let session { return request.made(at: session.now) }
        return try await converting(to: AuthorizationError.databaseFailed) { () throws(DatabaseError) in
            try await request.made(at: database.read("SELECT now()").only.decode(Date.self))
        }
    }

    /// Answers the request, or returns what the person has to do first.
    ///
    /// Throws `refused` if the person has to do something first but the request has `prompt=none`, or if the person has
    /// signed in for the request with another account than the expected one.
    ///
    /// - Parameter session: the session of the browser; nil if there is none.
    package func authorize(
        _ request: AuthorizationRequest,
        _ session: AccountSession?
    ) async throws(AuthorizationError) -> AuthorizationStep {
        let missing = try await step(before: request, session)
        if missing == .signInAnew, let session, session.createdAt >= request.madeAt {
            throw .refused(
                request.refusal(
                    "login_required",
                    "The person has signed in with another account than that of the id_token_hint."
                )
            )
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

    /// Returns what the person has to do before the request can be answered; nil for nothing.
    private func step(
        before request: AuthorizationRequest,
        _ session: AccountSession?
    ) async throws(AuthorizationError) -> AuthorizationStep? {
        guard let session else { return request.prompts.contains(.create) ? .signUp : .signIn }
        if let expected = request.expected, expected != session.account.id { return .signInAnew }
        if request.needsNewSession, session.createdAt < request.madeAt { return .signInAnew }
        if session.isIdle { return .confirm }
        let hasSignedUp = request.isAnsweredBySignUp && session.createdAt >= request.madeAt
        let hasChosen = hasSignedUp || request.chosen == session.id
        let asks = !request.prompts.isDisjoint(with: [.create, .selectAccount]) || isUnknownProgram(request)
        if asks, !hasChosen { return .choose }
        if needsProof(request, session) { return .confirm }
        let lacksAuthenticator = try await converting(to: AuthorizationError.databaseFailed) {
            () throws(DatabaseError) in try await sessions.lacksAuthenticator(session)
        }
        return lacksAuthenticator ? .setUpAuthenticator : nil
    }

    /// Whether the person must prove again who they are: the request has `prompt=login`, or the last proof is older
    /// than its `max_age`. False in both cases if the person has given the last proof for this request
    /// (``recentProofAge``).
    private func needsProof(_ request: AuthorizationRequest, _ session: AccountSession) -> Bool {
        let age = session.now.timeIntervalSince(session.authTime)
        // Also for a max_age of 0, which no proof could satisfy otherwise.
        if session.authTime >= request.madeAt, age < Self.recentProofAge { return false }
        let isOld = request.maxAge.map { age > Double($0) } ?? false
        return isOld || request.prompts.contains(.login)
    }

    /// Whether another program may have sent the request. If a public application has a redirect URI that is not an
    /// `https:` URL, every program on the device can use this URI (RFC 8252 §8.6).
    private func isUnknownProgram(_ request: AuthorizationRequest) -> Bool {
        application(request.application)?.isPublic == true && !request.redirectURI.hasPrefix("https:")
    }

    /// The maximum age in seconds of a proof of identity that counts as given for a request. The proof must also be
    /// newer than the request.
    private static let recentProofAge = 600.0

    /// Stores and returns a new code; nil if the session has ended or has a new token since it was read.
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

    /// Returns the statement that stores the grant and the code. The statement returns a row unless the session has
    /// ended or has a new token.
    private func insert(_ code: Token<Authorization>, for request: AuthorizationRequest, _ session: AccountSession)
        -> SQL
    {
        """
        WITH held AS (
            INSERT INTO grants (id, session, application, account)
            SELECT \(ID<Grant>()), id, \(request.application), account FROM sessions
             WHERE id = \(session.id) AND token_hash = \(session.tokenHash) AND now() < ends_at
               FOR KEY SHARE
            ON CONFLICT (session, application) DO UPDATE SET application = excluded.application
            RETURNING id)
        INSERT INTO authorizations (id, grant_id, code_digest, sealed, scope, nonce, code_expires_at)
        SELECT \(code.id), id, \(code.hash), \(keys.seal(request.json.bytes, for: .authorization(code.id))),
               \(request.scope), \(RefreshToken.newNonce()),
               now() + make_interval(secs => \(Authorization.codeLifetime.seconds)) FROM held
        RETURNING id
        """
    }

    /// Returns the statement that keeps the newest ``Authorization/maximumUnused`` authorizations of the grant with an
    /// unused code and the newest ``Authorization/maximum`` with a used code, and deletes the others. Otherwise an
    /// application that repeats its request again and again would fill the table.
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
        return refusal(code, "The person has to see a page before this request can be answered.")
    }

    fileprivate func refusal(_ code: String, _ description: String) -> RefusedRequest {
        RefusedRequest(redirectURI: redirectURI, state: state, error: OAuthError(code, description))
    }
}

extension AuthorizationError {
    static func databaseFailed(_ error: DatabaseError) -> AuthorizationError { .provider(.database(error)) }
}
