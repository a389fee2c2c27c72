internal import Foundation

/// An authorization request that the application sends to the service before it redirects the person's browser (RFC
/// 9126). The request can be used once, within a minute.
package enum PushedRequest {
    /// The time within which the request can be used, in seconds.
    package static let lifetime = 60
    private static let prefix = "urn:ietf:params:oauth:request_uri:"

    static func uri(_ token: Token<PushedRequest>) -> String { prefix + token.text }

    static func token(_ uri: String) -> Token<PushedRequest>? {
        uri.hasPrefix(prefix) ? Token(String(uri.dropFirst(prefix.count))) : nil
    }
}

extension Provider {
    /// Stores the request, and returns the `request_uri` that names it.
    package func push(
        _ parameters: OAuthParameters,
        by application: Application
    ) async throws(ProviderError) -> String {
        guard parameters["request_uri"] == nil else {
            throw .oauth(.invalidRequest("A pushed request must not have a request_uri."))
        }
        let request = try await readDirectly(parameters, of: application)
        let token = Token<PushedRequest>(for: ID())
        // An application with a secret sends the requests of all people from one network, so it has no limit per
        // network.
        let limits = application.isPublic ? sessions.signups.charges(.starts, of: sessions.signups.network) : []
        let insert: SQL = """
            INSERT INTO pushed_requests (id, token_hash, application, sealed, expires_at)
            SELECT \(token.id), \(token.hash), \(application.id),
                   \(keys.seal(request.json.bytes, for: .pushedRequest(token.id))),
                   now() + make_interval(secs => \(PushedRequest.lifetime))
             WHERE \(Signups.isWithinLimits)
            """
        let exceeded = try await converting(to: ProviderError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(sessions.signups.consume(limits), insert)
            return try sessions.signups.exceeded(limits, rows[0])
        }
        if let exceeded { throw .limited(exceeded) }
        return PushedRequest.uri(token)
    }

    /// Reads the request. The application itself sends it, and not a browser, so every error is a response to the
    /// application.
    private func readDirectly(
        _ parameters: OAuthParameters,
        of application: Application
    ) async throws(ProviderError) -> AuthorizationRequest {
        do throws(AuthorizationError) {
            return try await read(parameters, of: application)
        } catch {
            switch error {
            case .unanswerable(let unanswerable): throw .oauth(.invalidRequest(unanswerable.detail))
            case .refused(let refused): throw .oauth(refused.error)
            case .provider(let failure): throw failure
            }
        }
    }

    /// Deletes the request from the table and returns it; nil if it was used, has expired, belongs to another
    /// application, or cannot be decrypted.
    func take(
        _ token: Token<PushedRequest>,
        of application: Application
    ) async throws(ProviderError) -> AuthorizationRequest? {
        let row = try await converting(to: ProviderError.database) { () throws(DatabaseError) in
            try await database.write(
                """
                DELETE FROM pushed_requests
                 WHERE id = \(token.id) AND token_hash = \(token.hash) AND application = \(application.id)
                   AND now() < expires_at
                RETURNING sealed
                """,
                to: token.id.rawValue
            ).first?.decode([UInt8].self)
        }
        guard let row, let plaintext = try? keys.open(row, for: .pushedRequest(token.id)) else { return nil }
        return (try? JSON.read(plaintext)).flatMap { AuthorizationRequest(json: $0) }
    }
}
