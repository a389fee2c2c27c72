/// The data that ``Operator/erase(_:)`` would erase, without the tickets that were mailed to the address of the
/// account.
package struct ErasePreview: Sendable {
    /// The masked address and username; nil if the account has none.
    package let address, username: String?
    /// The number of rows of each kind, by the name of the kind in the plural, such as "recovery codes". The number is
    /// 0 if the account has none.
    package let rows: [(name: String, count: Int)]
}

extension Operator {
    /// Returns the data that ``erase(_:)`` would erase now; nil if the account does not exist. Changes nothing.
    package func erasePreview(of id: ID<Account>) async throws(DatabaseError) -> ErasePreview? {
        let belongings = Self.belongings(of: id)
        var columns: SQL = "email, username"
        for (_, rows) in belongings { columns = "\(columns), (SELECT count(*) FROM \(rows))" }
        guard let row = try await database.read("SELECT \(columns) FROM accounts WHERE id = \(id)").first else {
            return nil
        }
        var cells = row.columns
        let address = try cells.next(String?.self).map { EmailAddress($0)?.masked ?? "•••" }
        let username = try cells.next(String?.self).map { "\($0.prefix(1))•••" }
        var counts: [(name: String, count: Int)] = []
        for (name, _) in belongings { counts.append((name, try cells.next(Int.self))) }
        return ErasePreview(address: address, username: username, rows: counts)
    }

    /// The rows that the SQL function `erase_account` deletes with an account: the rows that refer to the account with
    /// a foreign key, directly or through its sessions, and the waiting mail about it. Each entry has the name of a
    /// kind of row in the plural, and the text after `FROM` in a query for these rows.
    static func belongings(of account: ID<Account>) -> [(name: String, rows: SQL)] {
        let owned = [
            "identifiers", "credentials", "authenticators", "recovery codes", "consents", "past consents", "photos",
            "address changes", "devices", "sessions",
        ]
        let grants: SQL = "grants WHERE session IN (SELECT id FROM sessions WHERE account = \(account))"
        let others: [(name: String, rows: SQL)] = [
            ("grants", grants), ("authorizations", "authorizations WHERE grant_id IN (SELECT id FROM \(grants))"),
            ("waiting mails", "outbox WHERE account = \(account) AND state = 'waiting'"),
        ]
        return owned.map { name -> (name: String, rows: SQL) in
            (name, "\(SQL(stringLiteral: name.replacing(" ", with: "_"))) WHERE account = \(account)")
        } + others
    }
}
