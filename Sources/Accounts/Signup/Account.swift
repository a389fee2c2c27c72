package import Foundation

/// What a committed draft became.
package struct Account: Sendable {
    package let id: ID<Account>
    package let email: String?
    package let username: String?
    /// The other answers, under the names of their fields.
    package let profile: JSON
    package let createdAt: Date
}

extension Signups {
    /// The account that a commit made.
    package func account(_ id: ID<Account>) async throws(DatabaseError) -> Account {
        let rows = try await database.read(
            "SELECT email, username, profile::text, created_at FROM accounts WHERE id = \(id)"
        )
        guard let row = rows.first else { throw .unexpectedAnswer("a committed draft without its account") }
        let (email, username, profile, createdAt) = try row.decode(
            String?.self,
            String?.self,
            String.self,
            Date.self
        )
        guard let json = try? JSON.read(Array(profile.utf8)) else {
            throw .unexpectedAnswer("a profile of no JSON")
        }
        return Account(id: id, email: email, username: username, profile: json, createdAt: createdAt)
    }
}
