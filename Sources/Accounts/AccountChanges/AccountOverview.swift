package import Foundation

/// The sign-in factors of an account, and the person's answers to documents, such as the terms of use.
package struct AccountOverview: Sendable {
    package let hasPassword, hasAuthenticator: Bool
    /// The number of unused recovery codes.
    package let recoveryCodes: Int
    package let consents: [GivenConsent]
}

/// The person's answer to a document, such as the terms of use: accepted or declined.
package struct GivenConsent: Sendable {
    package let field: String
    package let isAccepted: Bool
    package let version: String
    package let givenAt: Date
}

extension AccountOverview {
    /// The statements whose rows ``init(_:_:)`` reads.
    ///
    /// - Parameter hasPassword: an SQL expression that is true if the account has a password. The caller's database
    ///   role must have the right to evaluate it.
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
    /// - Parameter columns: the field, whether the document is accepted, its version, and the time of the answer.
    init(_ columns: inout Columns) throws(DatabaseError) {
        field = try columns.next()
        isAccepted = try columns.next()
        version = try columns.next()
        givenAt = try columns.next()
    }
}

extension Sessions {
    /// An SQL expression that is true if the account has a password. It calls a function, because the database role of
    /// the server has no right to read the table of the passwords.
    static func hasPassword(_ account: ID<Account>) -> SQL { "password_hash(\(account)) IS NOT NULL" }

    /// Reads the factors of the account, and which documents the person has accepted or declined.
    package func overview(of account: ID<Account>) async throws(SignInError) -> AccountOverview {
        try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                AccountOverview.queries(of: account, hasPassword: Self.hasPassword(account))
            )
            return try AccountOverview(rows[0], rows[1])
        }
    }
}
