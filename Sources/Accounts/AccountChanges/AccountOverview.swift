package import Foundation

/// What an account consists of, as its person sees it.
package struct AccountOverview: Sendable {
    package let hasPassword, hasAuthenticator: Bool
    package let recoveryCodes: Int
    package let consents: [GivenConsent]
}

/// A document that the person has accepted or declined.
package struct GivenConsent: Sendable {
    package let field: String
    package let isAccepted: Bool
    package let version: String
    package let givenAt: Date
}

extension Sessions {
    /// How the person can sign in, and which documents they have accepted.
    package func overview(of account: ID<Account>) async throws(SignInError) -> AccountOverview {
        let factors: SQL = """
            SELECT password_hash(\(account)) IS NOT NULL, EXISTS (SELECT FROM authenticators WHERE account = \(account)),
                   (SELECT count(*) FROM recovery_codes WHERE account = \(account))
            """
        let consents: SQL = """
            SELECT field, accepted, version, given_at FROM consents WHERE account = \(account) ORDER BY field
            """
        return try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(factors, consents)
            let (hasPassword, hasAuthenticator, codes) = try rows[0].only.decode(Bool.self, Bool.self, Int.self)
            var given: [GivenConsent] = []
            for row in rows[1] {
                let (field, isAccepted, version, givenAt) = try row.decode(
                    String.self,
                    Bool.self,
                    String.self,
                    Date.self
                )
                given.append(
                    GivenConsent(field: field, isAccepted: isAccepted, version: version, givenAt: givenAt)
                )
            }
            return AccountOverview(
                hasPassword: hasPassword,
                hasAuthenticator: hasAuthenticator,
                recoveryCodes: codes,
                consents: given
            )
        }
    }
}
