package import Foundation

/// The account that a draft has become.
package struct Account: Sendable {
    package let id: ID<Account>
    package let email: String?
    package let username: String?
    /// The other values, under the names of their fields.
    package let profile: JSON
    package let createdAt: Date
}

extension Signups {
    /// Returns the account that a commit created.
    package func account(_ id: ID<Account>) async throws(DatabaseError) -> Account {
        let rows = try await database.read(
            "SELECT \(Account.columns) FROM accounts WHERE id = \(id)"
        )
        guard let row = rows.first else { throw .unexpectedAnswer("the account of a committed draft is missing") }
        return try Account(id, row)
    }
}

extension Account {
    static let columns: SQL = "email, username, profile::text, created_at"

    /// - Parameter row: the values of ``columns``.
    init(_ id: ID<Account>, _ row: Row) throws(DatabaseError) {
        let profile: String
        (email, username, profile, createdAt) = try row.decode(String?.self, String?.self, String.self, Date.self)
        guard let json = try? JSON.read(Array(profile.utf8)) else {
            throw .unexpectedAnswer("the profile of an account is not JSON")
        }
        self.profile = json
        self.id = id
    }
}
