internal import Crypto
internal import Foundation

/// The response of the token endpoint to a code or a refresh token (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3).
package struct IssuedTokens: Sendable {
    package let json: JSON
}

/// An authorization whose session can be used, with the values from which its tokens are made.
struct LiveAuthorization: Sendable {
    let id: ID<Authorization>
    let grant: ID<Grant>
    let session: AccountSession
    let scope: String
    let nonce: [UInt8]

    /// The columns in the order of ``init(_:)``.
    static let columns: SQL = "authorizations.id, grants.id, scope, authorizations.nonce, \(AccountSession.columns)"

    static let tables: SQL = """
        grants JOIN sessions AS session ON session.id = grants.session
               JOIN accounts ON accounts.id = session.account
        """

    /// The condition that the row of ``tables`` is that of the authorization, and that its session has not ended, is
    /// not idle, and belongs to an account that is not disabled.
    static let isAlive: SQL = """
        grants.id = grant_id AND now() < ends_at AND now() < last_seen_at + idle_after AND disabled_at IS NULL
        """

    init(_ columns: inout Columns) throws(DatabaseError) {
        id = try columns.next()
        grant = try columns.next()
        scope = try columns.next()
        nonce = try columns.next()
        session = try AccountSession(&columns)
    }
}

extension Provider {
    /// Signs an access token and an ID token, and makes the refresh token with that number.
    ///
    /// - Parameters:
    ///   - request: the request that the code answers; nil when a token is refreshed.
    ///   - scope: the scope of the access token.
    ///   - refreshNumber: the number of the refresh token.
    func tokens(
        for live: LiveAuthorization,
        to application: Application,
        answering request: AuthorizationRequest? = nil,
        scope: String,
        refreshNumber: Int
    ) async throws(ProviderError) -> IssuedTokens {
        let access = try await sign(accessClaims(of: live, for: application, scope), .accessToken, for: application)
        let id = try await sign(identityClaims(of: live, for: application, access, request), .idToken, for: application)
        let refresh = RefreshToken(refreshNumber, of: live.id, nonce: live.nonce, keys)
        return IssuedTokens(json: [
            "access_token": .string(access), "token_type": "Bearer",
            "expires_in": .integer(Self.accessTokenLifetime), "refresh_token": .string(refresh.text),
            "id_token": .string(id), "scope": .string(scope),
        ])
    }

    private func sign(
        _ claims: [JSON.Member],
        _ type: JWTType,
        for application: Application
    ) async throws(ProviderError) -> String {
        do throws(SigningError) {
            return try await signingKeys.sign(claims, type: type, by: application.signingAlgorithm)
        } catch {
            throw .signing(error)
        }
    }

    /// Returns the claims that access tokens and ID tokens have in common. The lifetime is in seconds.
    private func claims(of live: LiveAuthorization, for audience: String, _ lifetime: Int) -> [JSON.Member] {
        let (session, now) = (live.session, live.session.now.seconds)
        return [
            .init("iss", .string(issuer)), .init("sub", .string("\(session.account.id)")),
            .init("aud", .string(audience)), .init("iat", .integer(now)), .init("exp", .integer(now + lifetime)),
            .init("auth_time", .integer(session.authTime.seconds)), .init("acr", .string(session.assurance.name)),
            .init("amr", .array(session.methods.words.map(JSON.string))), .init("sid", .string("\(live.grant)")),
        ]
    }

    /// Returns the claims of an access token (RFC 9068 §2.2). The `jti` begins with the id of the authorization, by
    /// which ``active(_:)`` checks whether the token is still valid.
    private func accessClaims(
        of live: LiveAuthorization,
        for application: Application,
        _ scope: String
    ) -> [JSON.Member] {
        let audience = registry.current.issuerAudience.first ?? issuer
        return claims(of: live, for: audience, Self.accessTokenLifetime) + [
            .init("client_id", .string(application.id)), .init("jti", .string("\(live.id).\(ID<IssuedTokens>())")),
            .init("scope", .string(scope)),
        ]
    }

    /// Returns the claims of an ID token (OpenID Connect Core §2).
    private func identityClaims(
        of live: LiveAuthorization,
        for application: Application,
        _ accessToken: String,
        _ request: AuthorizationRequest?
    ) -> [JSON.Member] {
        let digest = SHA256.hash(data: Data(accessToken.utf8))
        var claims = claims(of: live, for: application.id, Self.idTokenLifetime)
        if let nonce = request?.nonce { claims.append(.init("nonce", .string(nonce))) }
        claims.append(.init("at_hash", .string(Array(digest.prefix(16)).base64URL)))
        // A commit creates the account and its session in one transaction, so both have the same time of creation.
        if request?.isAnsweredBySignUp == true, live.session.createdAt == live.session.account.createdAt {
            claims.append(.init("account_created", true))
        }
        return claims + application.claims(of: live.session.account)
    }
}

extension Date {
    /// Whole seconds since 1970, as in JWTs (RFC 7519 §2).
    var seconds: Int { Int(timeIntervalSince1970.rounded(.down)) }
}
