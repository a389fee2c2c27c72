internal import Foundation

/// An access token of this service that has not expired and whose session can be used.
package struct ActiveToken: Sendable {
    package let claims: JSON
    package let account: Account
    let authorization: ID<Authorization>
    package let application: String
}

extension Provider {
    /// Reads an access token. Returns nil unless this service has signed it, it has not expired, its authorization
    /// still exists, its session has neither ended nor become idle, and its account is not disabled.
    package func active(_ text: String) async throws(ProviderError) -> ActiveToken? {
        guard let claims = try await accessClaims(of: text), let id = Self.authorization(in: claims),
            let application = claims["client_id"]?.string
        else { return nil }
        let live = try await converting(to: ProviderError.database) {
            () throws(DatabaseError) -> LiveAuthorization? in
            let row = try await database.read(
                """
                SELECT \(LiveAuthorization.columns) FROM authorizations, \(LiveAuthorization.tables)
                 WHERE authorizations.id = \(id) AND application = \(application) AND \(LiveAuthorization.isAlive)
                """
            ).first
            guard var columns = row?.columns else { return nil }
            return try LiveAuthorization(&columns)
        }
        return live.map {
            ActiveToken(claims: claims, account: $0.session.account, authorization: id, application: application)
        }
    }

    /// Returns the claims of an access token that this service has signed; nil for any other text and for an expired
    /// token.
    private func accessClaims(of text: String) async throws(ProviderError) -> JSON? {
        guard let verified = try await verified(text, .accessToken) else { return nil }
        return verified.isExpired ? nil : verified.claims
    }

    private static func authorization(in claims: JSON) -> ID<Authorization>? {
        claims["jti"]?.string.flatMap { ID($0.prefix { $0 != "." }.description) }
    }

    /// Returns the answer of `/oauth/userinfo` (OpenID Connect Core §5.3.2); nil if the token's application is not
    /// registered any more.
    package func userInfo(_ token: ActiveToken) -> JSON? {
        application(token.application).map { application in
            .object([.init("sub", .string("\(token.account.id)"))] + application.claims(of: token.account))
        }
    }

    /// Returns the answer of `/oauth/introspect` (RFC 7662 §2.2): the claims of an active access token of the
    /// application that asks; for any other text, such as a refresh token, only `"active": false`.
    package func introspect(_ text: String, by application: Application) async throws(ProviderError) -> JSON {
        guard let token = try await active(text), token.application == application.id,
            case .object(let claims) = token.claims
        else { return ["active": false] }
        return .object([.init("active", true), .init("token_type", "Bearer")] + claims)
    }

    /// Deletes the authorization of an access token or a refresh token, as ``end(_:)`` does (RFC 7009 §2.1). Does
    /// nothing if the token is unknown, is an expired access token, or belongs to another application.
    package func revoke(_ text: String, by application: Application) async throws(ProviderError) {
        let id: ID<Authorization>
        var proof: SQL = "true"
        if let refresh = RefreshToken(text) {
            guard let nonce = try await nonce(of: refresh.authorization), refresh.isGenuine(nonce: nonce, keys) else {
                return
            }
            id = refresh.authorization
            proof = "nonce = \(nonce)"
        } else {
            guard let claims = try await accessClaims(of: text), let found = Self.authorization(in: claims) else {
                return
            }
            id = found
        }
        _ = try await converting(to: ProviderError.database) { () throws(DatabaseError) in
            try await database.write(
                """
                DELETE FROM authorizations USING grants
                 WHERE authorizations.id = \(id) AND grants.id = grant_id AND application = \(application.id)
                   AND \(proof)
                """,
                to: id.rawValue
            )
        }
    }

    private func nonce(of id: ID<Authorization>) async throws(ProviderError) -> [UInt8]? {
        try await converting(to: ProviderError.database) { () throws(DatabaseError) -> [UInt8]? in
            let row = try await database.read("SELECT nonce FROM authorizations WHERE id = \(id)").first
            return try row?.decode([UInt8].self)
        }
    }
}
