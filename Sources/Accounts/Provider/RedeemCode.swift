internal import Crypto
internal import Foundation

extension Provider {
    /// Exchanges a code for tokens (RFC 6749 §4.1.3). If a code is used twice, or with a `redirect_uri` or
    /// `code_verifier` that does not belong to it, deletes its authorization. So the tokens of an earlier use also end
    /// (``end(_:)``).
    package func redeem(
        _ parameters: OAuthParameters,
        by application: Application
    ) async throws(ProviderError) -> IssuedTokens {
        guard let text = parameters["code"], let redirectURI = parameters["redirect_uri"] else {
            throw .oauth(.invalidRequest("The code and the redirect_uri are required."))
        }
        guard let verifier = parameters["code_verifier"], (43...128).contains(verifier.utf8.count),
            verifier.utf8.allSatisfy({ $0.isBase64URL || ".~".utf8.contains($0) })
        else { throw .oauth(.invalidRequest("The code_verifier of PKCE is missing or malformed.")) }
        guard let code = Token<Authorization>(text), let (live, request) = try await use(code, by: application) else {
            throw .oauth(Self.uselessCode)
        }
        let challenge = Array(SHA256.hash(data: Data(verifier.utf8))).base64URL
        guard request.redirectURI.hasSameBytes(as: redirectURI), request.challenge == challenge else {
            try await end(live.id)
            throw .oauth(Self.uselessCode)
        }
        return try await tokens(for: live, to: application, answering: request, scope: live.scope, refreshNumber: 0)
    }

    private static let uselessCode = OAuthError.invalidGrant(
        "The code is invalid, was used, has expired, or belongs to another application, redirect_uri or code_verifier,"
            + " or its session has ended."
    )

    /// Marks the code as used; returns nil if it cannot be used. If the code was used before, ends its authorization.
    private func use(
        _ code: Token<Authorization>,
        by application: Application
    ) async throws(ProviderError) -> (LiveAuthorization, AuthorizationRequest)? {
        let useID = ID<Void>()
        let endIfUsedBefore: SQL = """
            DELETE FROM authorizations WHERE id = \(code.id) AND code_digest = \(code.hash) AND code_use <> \(useID)
            """
        let used = try await converting(to: ProviderError.database) {
            () throws(DatabaseError) -> (LiveAuthorization, [UInt8])? in
            let rows = try await database.transaction(Self.markUsed(code, by: application, useID), endIfUsedBefore)
            guard var columns = rows[0].first?.columns else { return nil }
            let sealed = try columns.next([UInt8].self)
            return try (LiveAuthorization(&columns), sealed)
        }
        guard let (live, sealed) = used, let plaintext = try? keys.open(sealed, for: .authorization(code.id)),
            let request = (try? JSON.read(plaintext)).flatMap({ AuthorizationRequest(json: $0) })
        else { return nil }
        return (live, request)
    }

    private static func markUsed(
        _ code: Token<Authorization>,
        by application: Application,
        _ useID: ID<Void>
    ) -> SQL {
        """
        WITH code AS (
            SELECT id, sealed FROM authorizations
             WHERE id = \(code.id) AND code_digest = \(code.hash) AND code_use IS NULL AND now() < code_expires_at
               FOR UPDATE)
        UPDATE authorizations SET code_use = \(useID), sealed = '' FROM code, \(LiveAuthorization.tables)
         WHERE authorizations.id = code.id AND application = \(application.id) AND \(LiveAuthorization.isAlive)
        RETURNING code.sealed, \(LiveAuthorization.columns)
        """
    }

    /// Deletes an authorization. Then its refresh tokens have ended, and ``active(_:)`` does not accept its access
    /// tokens.
    func end(_ id: ID<Authorization>) async throws(ProviderError) {
        _ = try await converting(to: ProviderError.database) { () throws(DatabaseError) in
            try await database.write("DELETE FROM authorizations WHERE id = \(id)", to: id.rawValue)
        }
    }
}
