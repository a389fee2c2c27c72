package import Foundation

/// An account as an operator sees it.
package struct AccountDetail: Sendable {
    package let account: Account
    package let flow: String
    package let provedAt: Date?
    /// The kinds of its credentials, such as `password`.
    package let credentials: [String]
    package let hasAuthenticator: Bool
    package let recoveryCodes: Int
    package let consents: [Consent]
    /// The size of each photo in bytes, by field.
    package let photos: [(field: String, bytes: Int)]
    package let now: Date

    package struct Consent: Sendable {
        package let field, version: String
        package let isAccepted: Bool
        package let givenAt: Date
    }
}

extension Operator {
    /// Returns the account with that id, or nil if it does not exist.
    package func account(_ id: ID<Account>) async throws(DatabaseError) -> AccountDetail? {
        let rows = try await database.transaction(
            """
            SELECT flow, email_proved_at, now(), EXISTS (SELECT FROM authenticators WHERE account = \(id)),
                   (SELECT count(*) FROM recovery_codes WHERE account = \(id))
              FROM accounts WHERE id = \(id)
            """,
            "SELECT kind FROM credentials WHERE account = \(id) ORDER BY kind",
            "SELECT field, version, accepted, given_at FROM consents WHERE account = \(id) ORDER BY field",
            "SELECT field, length(image) FROM photos WHERE account = \(id) ORDER BY field"
        )
        return rows[0].isEmpty ? nil : try AccountDetail(await signups.account(id), rows)
    }

    /// Returns the id of the account with that e-mail address, in canonical form, or nil if there is none.
    package func account(named email: String) async throws(DatabaseError) -> ID<Account>? {
        try await database.read("SELECT account FROM identifiers WHERE kind = 'email' AND value = \(email)").first?
            .decode(ID<Account>.self)
    }
}

extension AccountDetail {
    /// - Parameter rows: the results for the account, its credentials, its consents and its photos, in this order.
    fileprivate init(_ account: Account, _ rows: [Rows]) throws(DatabaseError) {
        self.account = account
        (flow, provedAt, now, hasAuthenticator, recoveryCodes) = try rows[0].only.decode(
            String.self,
            Date?.self,
            Date.self,
            Bool.self,
            Int.self
        )
        var credentials: [String] = []
        for row in rows[1] { credentials.append(try row.decode(String.self)) }
        var consents: [Consent] = []
        for row in rows[2] {
            let (field, version, isAccepted, givenAt) = try row.decode(String.self, String.self, Bool.self, Date.self)
            consents.append(Consent(field: field, version: version, isAccepted: isAccepted, givenAt: givenAt))
        }
        var photos: [(field: String, bytes: Int)] = []
        for row in rows[3] { photos.append(try row.decode(String.self, Int.self)) }
        (self.credentials, self.consents, self.photos) = (credentials, consents, photos)
    }
}
