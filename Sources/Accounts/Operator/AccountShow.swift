package import Foundation

/// The data of an account that `accounts show` shows.
package struct AccountDetail: Sendable {
    package let account: Account
    package let flow: String
    /// The time when the address was proved; nil if it is not proved.
    package let provedAt: Date?
    /// The sections of the kinds of field in the order of ``KindList/all``, then the section of the sessions, and then
    /// the section of the changes of the address.
    package let sections: [AccountSection]
    package let now: Date
}

extension Operator {
    /// Returns the account with that id, or nil if it does not exist. Reads the tables of all kinds, even if the
    /// present flow has no field of a kind, because the account may have been created under another flow.
    package func account(_ id: ID<Account>) async throws(DatabaseError) -> AccountDetail? {
        let queries =
            KindList.all.compactMap { $0.accountQuery(of: id) } + [
                Sessions.accountQuery(of: id), AddressChange.accountQuery(of: id),
            ]
        let rows = try await database.transaction(
            [
                "SELECT \(Account.columns) FROM accounts WHERE id = \(id)",
                "SELECT flow, email_proved_at, now() FROM accounts WHERE id = \(id)",
            ] + queries.map(\.select)
        )
        guard let account = rows[0].first, let origin = rows[1].first else { return nil }
        let (flow, provedAt, now) = try origin.decode(String.self, Date?.self, Date.self)
        var sections: [AccountSection] = []
        for (query, rows) in zip(queries, rows.dropFirst(2)) { sections.append(try query.describe(rows)) }
        return AccountDetail(
            account: try Account(id, account),
            flow: flow,
            provedAt: provedAt,
            sections: sections,
            now: now
        )
    }
}
