package import Foundation

/// An account at the time of the read, without its values in other tables, such as consents and photos.
package struct Account: Sendable {
    package let id: ID<Account>
    package let email: String?
    /// Whether the person has proved that they receive mail at ``email``. It is false for many imported accounts.
    package let isEmailProved: Bool
    package let username: String?
    /// A JSON object with the values of the fields that have no column or table of their own, by the name of the field.
    package let profile: JSON
    package let createdAt: Date
}

extension Signups {
    /// Returns the account that a commit created. Throws `ended` if the account was erased.
    package func account(_ id: ID<Account>) async throws(FindError) -> Account {
        let account = try await converting(to: FindError.database) { () throws(DatabaseError) -> Account? in
            let rows = try await database.read("SELECT \(Account.columns) FROM accounts WHERE id = \(id)")
            return try rows.first.map { row throws(DatabaseError) in try Account(id, row) }
        }
        guard let account else { throw .ended(.accountErased) }
        return account
    }
}

extension Account {
    static let columns: SQL = "email, email_proved_at IS NOT NULL, username, profile::text, created_at"

    /// - Parameter row: the values of ``columns``.
    init(_ id: ID<Account>, _ row: Row) throws(DatabaseError) {
        var columns = row.columns
        try self.init(id, &columns)
    }

    /// - Parameter columns: the columns of a row that are not read yet: the id, then the values of ``Account/columns``.
    init(_ columns: inout Columns) throws(DatabaseError) {
        try self.init(try columns.next(), &columns)
    }

    /// - Parameter columns: the columns of a row that are not read yet: the values of ``Account/columns``.
    init(_ id: ID<Account>, _ columns: inout Columns) throws(DatabaseError) {
        self.id = id
        email = try columns.next()
        isEmailProved = try columns.next()
        username = try columns.next()
        let profile: String = try columns.next()
        createdAt = try columns.next()
        guard let json = try? JSON.read(Array(profile.utf8)) else {
            throw .unexpectedAnswer("the profile of an account is not JSON")
        }
        self.profile = json
    }
}
