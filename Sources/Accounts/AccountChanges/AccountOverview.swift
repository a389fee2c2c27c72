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

extension AccountOverview {
    /// The statements whose rows ``init(_:_:)`` reads.
    ///
    /// - Parameter hasPassword: whether the account has a password, as SQL that the role of the caller may evaluate.
    static func queries(of account: ID<Account>, hasPassword: SQL) -> [SQL] {
        [
            """
            SELECT \(hasPassword), EXISTS (SELECT FROM authenticators WHERE account = \(account)),
                   (SELECT count(*) FROM recovery_codes WHERE account = \(account))
            """,
            "SELECT field, accepted, version, given_at FROM consents WHERE account = \(account) ORDER BY field",
        ]
    }

    init(_ factors: Rows, _ consents: Rows) throws(DatabaseError) {
        (hasPassword, hasAuthenticator, recoveryCodes) = try factors.only.decode(Bool.self, Bool.self, Int.self)
        var given: [GivenConsent] = []
        for row in consents {
            var columns = row.columns
            given.append(try GivenConsent(&columns))
        }
        self.consents = given
    }
}

extension GivenConsent {
    /// - Parameter columns: the field, whether it is accepted, the version and the time.
    init(_ columns: inout Columns) throws(DatabaseError) {
        field = try columns.next()
        isAccepted = try columns.next()
        version = try columns.next()
        givenAt = try columns.next()
    }
}

extension Sessions {
    /// Whether the account has a password, as SQL for a server, which cannot read the table.
    static func hasPassword(_ account: ID<Account>) -> SQL { "password_hash(\(account)) IS NOT NULL" }

    /// How the person can sign in, and which documents they have accepted.
    package func overview(of account: ID<Account>) async throws(SignInError) -> AccountOverview {
        try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                AccountOverview.queries(of: account, hasPassword: Self.hasPassword(account))
            )
            return try AccountOverview(rows[0], rows[1])
        }
    }
}
